/**
 * Fits a tool's schema to Gemini. The package converts JSON Schema to Google's own form, and drops or passes on the rest:
 * the model lacks dropped parts, and Google refuses a request with passed ones. So parts without a field at Google are
 * written into the description.
 */
import * as v from "valibot";
import { withoutReferences } from "./references.js";

const KINDS = ["string", "number", "integer", "boolean", "object", "array", "null"] as const;
type Kind = (typeof KINDS)[number];

/** JSON Schema, as far as it is read here. Values of the wrong kind are ignored. */
const Schema = v.looseObject({
  type: orNothing(v.union([v.picklist(KINDS), v.array(v.picklist(KINDS))])),
  title: orNothing(v.string()),
  description: orNothing(v.string()),
  enum: orNothing(v.array(v.unknown())),
  format: orNothing(v.string()),
  minLength: orNothing(v.number()),
  properties: orNothing(v.record(v.string(), v.unknown())),
  required: orNothing(v.array(v.string())),
  anyOf: orNothing(v.array(v.unknown())),
  oneOf: orNothing(v.array(v.unknown())),
  allOf: orNothing(v.array(v.unknown())),
});
type Schema = v.InferOutput<typeof Schema>;

/** Google's form. */
interface Fitted {
  type?: Kind | [Kind, "null"];
  description?: string;
  enum?: string[];
  format?: string;
  minLength?: number;
  items?: Fitted;
  properties?: Record<string, Fitted>;
  required?: string[];
  anyOf?: Fitted[];
}

/** A value that is no schema becomes an object of any shape. */
export function geminiSchema(given: Record<string, unknown>): Fitted {
  const { anyOf, ...fitted } = fit(withoutReferences(given));
  if (anyOf === undefined) return { ...fitted, type: "object" };
  // Arguments are always an object, with the properties of all choices.
  return { ...fitted, type: "object", properties: Object.assign({}, ...anyOf.map(({ properties }) => properties)) };
}

/** For a place where any value is allowed: every schema must have a type. */
const ANYTHING: Fitted = {
  anyOf: [{ type: "string" }, { type: "number" }, { type: "boolean" }, { type: "object" }],
};

function fit(given: unknown): Fitted {
  const read = schemaOf(given);
  if (read === undefined) return ANYTHING;
  const schema = read.allOf === undefined ? read : merged(read, read.allOf);
  const described = descriptionOf(schema);
  const choices = choicesOf(schema);
  if (choices !== undefined) return choiceOf(described, choices);
  const type = typeOf(schema);
  if (type === undefined) return { ...ANYTHING, ...described };
  const values = type === "string" ? textsOf(schema) : undefined;
  return {
    ...described,
    type: isNullable(schema) && type !== "null" ? [type, "null"] : type,
    ...(values !== undefined && { enum: values }),
    ...(type === "string" && schema.minLength !== undefined && { minLength: schema.minLength }),
    ...(schema.format !== undefined && isFormat(type, schema.format) && { format: schema.format }),
    ...(type === "array" && { items: itemsOf(schema["items"]) }),
    ...(type === "object" && schema.properties !== undefined && objectOf(schema, schema.properties)),
  };
}

function schemaOf(given: unknown): Schema | undefined {
  const read = Array.isArray(given) ? undefined : v.safeParse(Schema, given);
  return read?.success === true ? read.output : undefined;
}

function orNothing<T extends v.GenericSchema>(schema: T) {
  return v.fallback(v.optional(schema), undefined);
}

/** Beside a choice Google takes only a description; a choice of one schema is that schema, and null becomes a mark on it. */
function choiceOf(described: { description?: string }, choices: readonly unknown[]): Fitted {
  const [only, ...more] = choices.filter((choice) => schemaOf(choice)?.type !== "null").map(fit);
  if (only === undefined) return { ...described, type: "null" };
  if (more.length > 0) return { ...described, anyOf: choices.map(fit) };
  const words = [described.description, only.description].filter((text) => text !== undefined);
  const whole = words.length === 0 ? only : { ...only, description: words.join(" ") };
  return choices.length === 1 ? whole : { anyOf: [whole, { type: "null" }] };
}

/** Google refuses a required property without a schema. */
function objectOf({ required }: Schema, described: Readonly<Record<string, unknown>>): Fitted {
  const properties = Object.fromEntries(Object.entries(described).map(([name, part]) => [name, fit(part)]));
  const known = required?.filter((name) => Object.hasOwn(described, name)) ?? [];
  return { properties, ...(known.length > 0 && { required: known }) };
}

function itemsOf(items: unknown): Fitted {
  if (!Array.isArray(items)) return fit(items);
  const [first, ...rest] = items.map(fit);
  return rest.length === 0 ? (first ?? ANYTHING) : { anyOf: [first ?? ANYTHING, ...rest] };
}

// --- kinds of values ---

/** The type without null; a missing type is guessed from the other keys. */
function typeOf({ type, properties, ["items"]: items, ...schema }: Schema): Kind | undefined {
  if (properties !== undefined) return "object";
  if (Array.isArray(type)) return type.find((one) => one !== "null") ?? "null";
  return type ?? (items === undefined ? kindOf(valuesOf(schema).find((value) => value !== null)) : "array");
}

function kindOf(value: unknown): Kind | undefined {
  const kind = typeof value;
  return kind === "string" || kind === "number" || kind === "boolean" ? kind : undefined;
}

function isNullable(schema: Schema): boolean {
  return Array.isArray(schema.type) ? schema.type.includes("null") : schema.type === undefined && valuesOf(schema).includes(null);
}

/** A choice between schemas or several types. Of an object's own properties it only tells which go together. */
function choicesOf(schema: Schema): unknown[] | undefined {
  const { anyOf, oneOf, type, ["items"]: items, minLength, properties } = schema;
  if (properties !== undefined) return undefined;
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return choices.length === 0 ? undefined : choices;
  if (!Array.isArray(type) || type.filter((one) => one !== "null").length < 2) return undefined;
  return type.map((one) => ({
    type: one,
    ...(items !== undefined && one === "array" && { items }),
    ...(one === "string" && { minLength }),
  }));
}

function valuesOf(schema: Schema): readonly unknown[] {
  return schema.enum ?? (schema["const"] === undefined ? [] : [schema["const"]]);
}

/** The enum in Google's form: non-empty texts. Other values go into the description. */
function textsOf(schema: Schema): string[] | undefined {
  const values = valuesOf(schema).filter((value) => value !== null);
  const texts = values.filter((value) => typeof value === "string" && value !== "");
  return texts.length === 0 || texts.length < values.length ? undefined : texts.map(String);
}

const FORMATS: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  string: ["date-time"],
  number: ["float", "double"],
  integer: ["int32", "int64"],
};

function isFormat(type: Kind, format: string | undefined): boolean {
  return format !== undefined && FORMATS[type]?.includes(format) === true;
}

// --- parts ---

/** All of them together; a later one wins. */
function merged({ allOf: _parts, ...base }: Schema, parts: readonly unknown[]): Schema {
  return parts.map(schemaOf).reduce<Schema>((whole, read) => {
    if (read === undefined) return whole;
    const part = read.allOf === undefined ? read : merged(read, read.allOf);
    const properties = { ...whole.properties, ...part.properties };
    const required = [...(whole.required ?? []), ...(part.required ?? [])];
    return {
      ...whole,
      ...part,
      ...(Object.keys(properties).length > 0 && { properties }),
      ...(required.length > 0 && { required }),
    };
  }, base);
}

// --- words ---

/** Keys that the package would drop. */
const SAID = [
  "default",
  "examples",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
] as const;

function descriptionOf(schema: Schema): { description?: string } {
  const { format, ["additionalProperties"]: more, properties, anyOf, oneOf } = schema;
  const type = typeOf(schema);
  const said = SAID.flatMap((key) => (schema[key] === undefined ? [] : [`${key}: ${JSON.stringify(schema[key])}`]));
  if (format !== undefined && (type === undefined || !isFormat(type, format))) said.push(`format: ${format}`);
  if (typeof more === "object" && more !== null) said.push(`additionalProperties: ${JSON.stringify(more)}`);
  const values = valuesOf(schema);
  if (values.length > 0 && (type !== "string" || textsOf(schema) === undefined)) said.push(`one of ${JSON.stringify(values)}`);
  if (properties !== undefined && (anyOf ?? oneOf) !== undefined) said.push(`any of ${JSON.stringify(anyOf ?? oneOf)}`);
  const words = [schema.description ?? schema.title ?? "", said.length === 0 ? "" : `(${said.join("; ")})`].filter((text) => text !== "");
  return words.length === 0 ? {} : { description: words.join(" ") };
}
