/**
 * A tool's schema as Gemini takes it. The package turns JSON Schema into Google's own kind and leaves out, or lets pass, what is none of
 * it: the one loses words that the model should know, the other has the whole request refused. So what Google has no field for is said
 * in the description.
 */
import * as v from "valibot";

type Kind = "string" | "number" | "integer" | "boolean" | "object" | "array" | "null";
type Definition = Schema | boolean;
type Definitions = Readonly<Record<string, Definition>>;

/** JSON Schema, as far as it is looked at here. */
interface Schema {
  type?: Kind | Kind[] | undefined;
  title?: string | undefined;
  description?: string | undefined;
  enum?: unknown[] | undefined;
  const?: unknown;
  format?: string | undefined;
  minLength?: number | undefined;
  items?: Definition | Definition[] | undefined;
  properties?: Record<string, Definition> | undefined;
  required?: string[] | undefined;
  additionalProperties?: unknown;
  anyOf?: Definition[] | undefined;
  oneOf?: Definition[] | undefined;
  allOf?: Definition[] | undefined;
  $ref?: string | undefined;
  $defs?: Record<string, Definition> | undefined;
  definitions?: Record<string, Definition> | undefined;
  [further: string]: unknown;
}

const Kind = v.picklist(["string", "number", "integer", "boolean", "object", "array", "null"]);
const Definition: v.GenericSchema<Definition> = v.union([v.boolean(), v.lazy(() => Schema)]);
const definitions = v.optional(v.record(v.string(), Definition));
const choices = v.optional(v.array(Definition));
const Schema: v.GenericSchema<Schema> = v.looseObject({
  type: v.optional(v.union([Kind, v.array(Kind)])),
  title: v.optional(v.string()),
  description: v.optional(v.string()),
  enum: v.optional(v.array(v.unknown())),
  format: v.optional(v.string()),
  minLength: v.optional(v.number()),
  items: v.optional(v.union([Definition, v.array(Definition)])),
  properties: definitions,
  required: v.optional(v.array(v.string())),
  anyOf: choices,
  oneOf: choices,
  allOf: choices,
  $ref: v.optional(v.string()),
  $defs: definitions,
  definitions,
});

/** What is no schema at all says no more than that there are arguments. */
export function geminiSchema(given: unknown): Schema {
  if (!v.is(Schema, given)) return { type: "object" };
  const { anyOf, ...fitted } = fit(given, { ...given.definitions, ...given.$defs }, []);
  if (anyOf === undefined) return { ...fitted, type: "object" };
  // Arguments are always an object: one that has the properties of each choice.
  return { ...fitted, type: "object", properties: Object.assign({}, ...anyOf.filter(isObject).map(({ properties }) => properties)) };
}

/** Where every schema must have a type: what may be anything. */
const ANYTHING: Schema = {
  anyOf: [{ type: "string" }, { type: "number" }, { type: "boolean" }, { type: "object" }],
};

/** `above`: the references that this schema stands in. One that stands in itself becomes an object of any shape. */
function fit(given: Definition, definitions: Definitions, above: readonly string[]): Schema {
  if (typeof given === "boolean") return ANYTHING;
  if (given.$ref !== undefined) return referred(given, given.$ref, definitions, above);
  const schema = given.allOf === undefined ? given : merged(given, given.allOf);
  const inner = (part: Definition): Schema => fit(part, definitions, above);
  const described = descriptionOf(schema);
  const choices = choicesOf(schema);
  if (choices !== undefined) return choiceOf(described, choices, inner);
  const type = typeOf(schema);
  if (type === undefined) return { ...ANYTHING, ...described };
  const values = type === "string" ? textsOf(schema) : undefined;
  return {
    ...described,
    type: isNullable(schema) && type !== "null" ? [type, "null"] : type,
    ...(values !== undefined && { enum: values }),
    ...(type === "string" && schema.minLength !== undefined && { minLength: schema.minLength }),
    ...(isFormat(type, schema.format) && { format: schema.format }),
    ...(type === "array" && { items: itemsOf(schema, inner) }),
    ...(type === "object" && schema.properties !== undefined && objectOf(schema, schema.properties, inner)),
  };
}

/** Beside a choice Google takes nothing but words; one of a single schema is that schema, and null at most a mark on it. */
function choiceOf(described: { description?: string }, choices: readonly Definition[], inner: (part: Definition) => Schema): Schema {
  const [only, ...more] = choices.filter((choice) => !isObject(choice) || choice.type !== "null").map(inner);
  if (only === undefined) return { ...described, type: "null" };
  if (more.length > 0) return { ...described, anyOf: choices.map(inner) };
  const words = [described.description, only.description].filter((text) => text !== undefined);
  const whole = words.length === 0 ? only : { ...only, description: words.join(" ") };
  return choices.length === 1 ? whole : { anyOf: [whole, { type: "null" }] };
}

function isObject(definition: Definition): definition is Schema {
  return typeof definition !== "boolean";
}

/** Google refuses a required property that is not described. */
function objectOf({ required }: Schema, described: Definitions, inner: (part: Definition) => Schema): Schema {
  const properties = Object.fromEntries(Object.entries(described).map(([name, part]) => [name, inner(part)]));
  const known = required?.filter((name) => Object.hasOwn(described, name)) ?? [];
  return { properties, ...(known.length > 0 && { required: known }) };
}

function itemsOf({ items }: Schema, inner: (part: Definition) => Schema): Schema {
  if (!Array.isArray(items)) return items === undefined ? ANYTHING : inner(items);
  const [first, ...rest] = items.map(inner);
  return rest.length === 0 ? (first ?? ANYTHING) : { anyOf: [first ?? ANYTHING, ...rest] };
}

// --- kinds of values ---

/** The type, alone but for null; what is not said is guessed from what else is. */
function typeOf({ type, properties, items, ...schema }: Schema): Kind | undefined {
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

/** A choice between schemas, or between several types. Of an object's own properties it says no more than which go together. */
function choicesOf(schema: Schema): Definition[] | undefined {
  const { anyOf, oneOf, type, items, minLength, properties } = schema;
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
  return schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
}

/** The values that there are, where Google takes them as such: texts, none of them empty. Others are told in words. */
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

// --- references and parts ---

function referred(schema: Schema, reference: string, definitions: Definitions, above: readonly string[]): Schema {
  const { $ref: _reference, ...beside } = schema;
  const [, , name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
  const key = name.replaceAll("~1", "/").replaceAll("~0", "~");
  const found = above.includes(reference) || !Object.hasOwn(definitions, key) ? undefined : definitions[key];
  if (found === undefined) return { ...descriptionOf(beside), type: "object" };
  return fit(isObject(found) ? { ...found, ...beside } : found, definitions, [...above, reference]);
}

/** All of them at once. What two of them say of the same thing, the later one says. */
function merged({ allOf: _parts, ...base }: Schema, parts: readonly Definition[]): Schema {
  return parts.filter(isObject).reduce((whole: Schema, part): Schema => {
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

/** What the package would leave out. */
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
  const { format, additionalProperties: more, properties, anyOf, oneOf } = schema;
  const type = typeOf(schema);
  const said = SAID.flatMap((key) => (schema[key] === undefined ? [] : [`${key}: ${JSON.stringify(schema[key])}`]));
  if (format !== undefined && (type === undefined || !isFormat(type, format))) said.push(`format: ${format}`);
  if (typeof more === "object") said.push(`additionalProperties: ${JSON.stringify(more)}`);
  const values = valuesOf(schema);
  if (values.length > 0 && (type !== "string" || textsOf(schema) === undefined)) said.push(`one of ${JSON.stringify(values)}`);
  if (properties !== undefined && (anyOf ?? oneOf) !== undefined) said.push(`any of ${JSON.stringify(anyOf ?? oneOf)}`);
  const words = [schema.description ?? schema.title ?? "", said.length === 0 ? "" : `(${said.join("; ")})`].filter((text) => text !== "");
  return words.length === 0 ? {} : { description: words.join(" ") };
}
