/** Describes each problem of a value that a person wrote, as a sentence. */
import * as v from "valibot";
import { nearest } from "../text/nearest-word.js";

export type Keys = readonly (string | number)[];

/** `keys` is the path to the place; `on` tells whether the key or its value is wrong. */
export interface Problem {
  keys: Keys;
  on: "key" | "value";
  text: string;
}

export function checkValue<S extends v.GenericSchema>(schema: S, value: unknown): { output: v.InferOutput<S> } | { problems: Problem[] } {
  const problems = structureProblems(schema, value, []);
  const result = v.safeParse(schema, value);
  if (result.success && problems.length === 0) return { output: result.output };
  const taken = new Set(problems.map(({ keys }) => nameOf(keys)));
  for (const issue of result.issues ?? []) {
    const problem = issueProblem(issue);
    if (problem === undefined || isCovered(problem.keys, taken)) continue;
    taken.add(nameOf(problem.keys));
    problems.push(problem);
  }
  return { problems };
}

/** One problem for each place, and none for values inside one of the wrong kind. */
function isCovered(keys: Keys, taken: ReadonlySet<string>): boolean {
  return taken.has(nameOf([])) || keys.some((_, depth) => taken.has(nameOf(keys.slice(0, depth + 1))));
}

/**
 * Unknown keys: valibot reports only the first. It also accepts lists in place of mappings, and drops some names; both are reported here.
 */
function structureProblems(schema: v.GenericSchema, value: unknown, keys: Keys): Problem[] {
  if (isOptional(schema)) return structureProblems(schema.wrapped, value, keys);
  if (isArray(schema)) {
    return Array.isArray(value) ? value.flatMap((item, index) => structureProblems(schema.item, item, [...keys, index])) : [];
  }
  if (!isObject(schema) && !isRecord(schema)) return [];
  if (Array.isArray(value)) return [{ keys, on: "value", text: wrong(keys, String(schema.message), value) }];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]): Problem[] => {
    const path = [...keys, key];
    if (isRecord(schema)) {
      if (!DROPPED.has(key)) return structureProblems(schema.value, inner, path);
      return [{ keys: path, on: "key", text: `'${key}' cannot be a name in ${nameOf(keys)}` }];
    }
    const entry = Object.hasOwn(schema.entries, key) ? schema.entries[key] : undefined;
    if (entry !== undefined) return structureProblems(entry, inner, path);
    return [{ keys: path, on: "key", text: unknownKey(key, keys, Object.keys(schema.entries)) }];
  });
}

/** valibot drops these keys from records without an issue. */
const DROPPED: ReadonlySet<string> = new Set(["__proto__", "prototype", "constructor"]);

function unknownKey(key: string, keys: Keys, known: string[]): string {
  const what = `unknown key '${key}'${keys.length === 0 ? "" : ` in ${nameOf(keys)}`}`;
  if (/^api[-_]?key$/i.test(key)) return `${what}: keys are not kept in config files; set the provider's environment variable`;
  const meant = nearest(key, known);
  return meant === undefined ? `${what}; known here: ${known.join(", ")}` : `${what}; did you mean '${meant}'?`;
}

function issueProblem(issue: v.BaseIssue<unknown>): Problem | undefined {
  const keys = (issue.path ?? []).map(({ key }) => (typeof key === "number" ? key : String(key)));
  if (issue.type === "strict_object" && issue.expected === "never") return undefined;
  const last = issue.path?.at(-1);
  if (last === undefined || last.origin !== "key") {
    return { keys, on: "value", text: wrong(keys, issue.message, issue.input, issue.kind === "schema") };
  }
  const parent = keys.slice(0, -1);
  if (issue.kind === "schema") return { keys, on: "value", text: `${nameOf(parent)} must have '${String(last.key)}'` };
  return { keys, on: "key", text: `a name in ${nameOf(parent)} must ${issue.message}` };
}

function wrong(keys: Keys, must: string, value: unknown, always = true): string {
  if (value === null) return `${nameOf(keys)} is empty; it must ${must}`;
  const shown = always || typeof value !== "object" ? `, not ${shownValue(value)}` : "";
  return `${nameOf(keys)} must ${must}${shown}`;
}

/** Longer keys are not repeated: they may be a secret in the wrong place. */
const MAX_SHOWN = 24;

function shownValue(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  const isLong = typeof value === "string" && value.length > MAX_SHOWN;
  return isLong ? `a text of ${value.length} characters` : JSON.stringify(value);
}

/** The path as people write it: `rules[0].deny`. */
export function nameOf(keys: Keys): string {
  if (keys.length === 0) return "the file";
  return keys.map((key, index) => (typeof key === "number" ? `[${key}]` : index === 0 ? key : `.${key}`)).join("");
}

type Message = v.ErrorMessage<v.BaseIssue<unknown>> | undefined;

function isOptional(schema: v.GenericSchema): schema is v.OptionalSchema<v.GenericSchema, undefined> {
  return schema.type === "optional";
}

function isArray(schema: v.GenericSchema): schema is v.ArraySchema<v.GenericSchema, Message> {
  return schema.type === "array";
}

function isObject(schema: v.GenericSchema): schema is v.StrictObjectSchema<Record<string, v.GenericSchema>, Message> {
  return schema.type === "strict_object";
}

function isRecord(schema: v.GenericSchema): schema is v.RecordSchema<v.GenericSchema<string, string>, v.GenericSchema, Message> {
  return schema.type === "record";
}
