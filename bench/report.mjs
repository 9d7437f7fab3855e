/** The figures as a table for people. */

const HEAD = ["figure", "", "floor", "Parley", "ratio", "aim"];
/** Numbers stand to the right. */
const RIGHT = new Set([2, 3, 4]);

export function tableOf(lines) {
  const rows = [HEAD, ...lines.map(rowOf)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const aligned = (cell, column) => (RIGHT.has(column) ? cell.padStart(widths[column]) : cell.padEnd(widths[column]));
  return rows.map((row) => row.map(aligned).join("  ").trimEnd()).join("\n");
}

function rowOf({ title, unit, floor, parley, ratio, aim, met }) {
  const verdict = met === undefined ? "" : `aim ${aim}x: ${met ? "met" : "missed"}`;
  return [title, unit, shown(floor), shown(parley), ratio === undefined ? "-" : `${ratio.toFixed(2)}x`, verdict];
}

/** Median (best). */
export function shown(spread) {
  return spread === undefined ? "-" : `${digits(spread.median)} (${digits(spread.best)})`;
}

/** Three digits that count. */
function digits(value) {
  if (value >= 1000) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}
