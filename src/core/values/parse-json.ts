/** JSON in somebody else's text. */

/** Deeper values would overflow the stack of whoever walks them. */
const DEPTH = 500;

/** Undefined where it is none, or nested beyond measure. */
export function parseJson(text: string): { json: unknown } | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return isDeep(json, DEPTH) ? undefined : { json };
  } catch {
    return undefined;
  }
}

function isDeep(value: unknown, left: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return left === 0 || Object.values(value).some((inner) => isDeep(inner, left - 1));
}
