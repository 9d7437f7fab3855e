/** Removes lone surrogates, which JSON can express and no vendor takes: one of them would make every later request fail. */

/** A copy without them. */
export function wellFormedValue(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormedValue);
  return typeof value === "object" && value !== null ? wellFormedObject(value) : value;
}

function wellFormedObject(value: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), wellFormedValue(inner)]));
}
