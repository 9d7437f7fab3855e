/** The arguments of a call as a person reads them: one row a value, and what belongs together indented. */

export function argumentRows(args: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(args).flatMap(([key, value]) => (value === undefined ? [] : namedRows(key, value)));
}

function namedRows(key: string, value: unknown): string[] {
  const rows = rowsOf(value);
  const isOne = rows.length === 1 && (typeof value !== "object" || value === null || Object.keys(value).length === 0);
  return isOne ? [`${key}: ${rows[0] ?? ""}`] : [`${key}:`, ...rows.map((row) => `  ${row}`)];
}

function rowsOf(value: unknown): string[] {
  if (typeof value === "string") return value.split("\n");
  if (Array.isArray(value) && value.length > 0)
    return value.flatMap((item: unknown) => rowsOf(item).map((row, at) => `${at === 0 ? "- " : "  "}${row}`));
  if (typeof value === "object" && value !== null && Object.keys(value).length > 0) return argumentRows({ ...value });
  return [JSON.stringify(value)];
}
