/** Text in columns, for people who read it in a fixed font. */

const LONGEST_CELL = 40;

/** The last column has no width; a cell that is too long pushes only its own row. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.slice(0, -1).entries()) {
      widths[at] = Math.max(widths[at] ?? 0, Math.min(cell.length, LONGEST_CELL));
    }
  }
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(at < row.length - 1 ? (widths[at] ?? 0) : 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** The first line, so that a list stays a list. */
export function firstLine(text: string | undefined): string {
  return text?.trim().split("\n", 1)[0]?.trim() ?? "";
}
