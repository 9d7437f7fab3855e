/** Parses JSON in foreign text. */

/** Deeper values would overflow the stack of code that walks them. */
const DEPTH = 500;

/** The value; undefined if the text is no JSON or is nested too deeply. */
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
