/** An object that is no list: what a field of unknown shape must be before its own fields are looked at. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
