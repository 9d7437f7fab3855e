/**
 * Whether a value fits a JSON Schema, in words that a model can act on. What is checked is what such schemas say most: types, required and
 * further members, items, and the values that are allowed. A keyword that is not known here forbids nothing.
 */
import { isRecord } from "../kit/record.js";

/** What is wrong, with the place; undefined when it fits. */
export function misfit(value: unknown, schema: unknown, at = ""): string | undefined {
  if (schema === false) return `${placeOf(at)} must not be there`;
  if (!isRecord(schema)) return undefined;
  const types = [schema["type"]].flat().filter((type) => typeof type === "string");
  if (types.length > 0 && !types.some((type) => isOfType(value, type)))
    return `${placeOf(at)} must be ${types.join(" or ")}, not ${typeOf(value)}`;
  const allowed = "const" in schema ? [schema["const"]] : schema["enum"];
  if (Array.isArray(allowed) && !allowed.some((one) => JSON.stringify(one) === JSON.stringify(value)))
    return `${placeOf(at)} must be one of ${JSON.stringify(allowed)}`;
  if (Array.isArray(value)) return first(value.map((item, index) => misfit(item, schema["items"], `${at}[${index}]`)));
  return isRecord(value) ? misfitOfMembers(value, schema, at) : undefined;
}

function misfitOfMembers(value: Record<string, unknown>, schema: Record<string, unknown>, at: string): string | undefined {
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const missing = required.find((name) => typeof name === "string" && !Object.hasOwn(value, name));
  if (missing !== undefined) return `${placeOf(at)} must have ${JSON.stringify(missing)}`;
  const known = isRecord(schema["properties"]) ? schema["properties"] : {};
  const further = "patternProperties" in schema ? undefined : schema["additionalProperties"];
  return first(
    Object.entries(value).map(([name, member]) => misfit(member, Object.hasOwn(known, name) ? known[name] : further, `${at}.${name}`)),
  );
}

function first(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}

function placeOf(at: string): string {
  return at === "" ? "the result" : at.replace(/^\./, "");
}

function isOfType(value: unknown, type: string): boolean {
  return type === typeOf(value) || (type === "integer" && Number.isInteger(value));
}

function typeOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}
