/** Halves of characters, which JSON can say and no vendor takes: one of them, from a host or a tool, would fail every request from then on. */

/** A copy without them. */
export function wellFormedValue(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormedValue);
  return typeof value === "object" && value !== null ? wellFormedObject(value) : value;
}

function wellFormedObject(value: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), wellFormedValue(inner)]));
}
