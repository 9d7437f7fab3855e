/** Walks valibot schemas: which words a vocabulary has, which of them a value uses, and arbitrary values of a schema. */
import fc from "fast-check";
import type * as v from "valibot";

type Schema = v.GenericSchema;

/** The parts of a schema that we walk; valibot keeps them as plain fields. */
interface Shape {
  type: string;
  entries?: Record<string, Schema>;
  options?: readonly unknown[];
  item?: Schema;
  items?: readonly Schema[];
  wrapped?: Schema;
  key?: string | Schema;
  value?: Schema;
  literal?: unknown;
}

function shapeOf(schema: Schema): Shape {
  return schema;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "schema";
}

/** "path: word" for every type and every enum value that the schema knows. */
export function wordsOf(schema: Schema): Set<string> {
  const words = new Set<string>();
  const named = new Map<Schema, string>();
  visit(schema, "", (node, path) => {
    if (named.has(node)) return false;
    named.set(node, path);
    for (const word of ownWords(node)) words.add(`${path}: ${word}`);
    return true;
  });
  return words;
}

/** Those of them that a value uses. */
export function wordsIn(schema: Schema, value: unknown): Set<string> {
  const paths = new Map<Schema, string>();
  visit(schema, "", (node, path) => {
    if (paths.has(node)) return false;
    paths.set(node, path);
    return true;
  });
  const words = new Set<string>();
  use(schema, value, (node, word) => words.add(`${paths.get(node) ?? ""}: ${word}`));
  return words;
}

function ownWords(schema: Schema): string[] {
  const shape = shapeOf(schema);
  if (shape.type === "picklist") return (shape.options ?? []).map(String);
  if (shape.type === "variant") return (shape.options ?? []).filter(isSchema).flatMap((option) => tagsOf(option, shape.key));
  return [];
}

/** By what an option of a variant is told apart: the literal of its key, or several; those of a variant within it. */
function tagsOf(option: Schema, key: Shape["key"]): string[] {
  const shape = shapeOf(option);
  if (shape.type === "variant") return [...new Set((shape.options ?? []).filter(isSchema).flatMap((inner) => tagsOf(inner, key)))];
  const tag = typeof key === "string" ? shape.entries?.[key] : undefined;
  if (tag === undefined) return [""];
  const { type, options, literal } = shapeOf(tag);
  return type === "picklist" ? (options ?? []).map(String) : [String(literal)];
}

function visit(schema: Schema, path: string, enter: (node: Schema, path: string) => boolean): void {
  if (!enter(schema, path)) return;
  const shape = shapeOf(schema);
  for (const [key, entry] of Object.entries(shape.entries ?? {})) visit(entry, `${path}.${key}`, enter);
  for (const option of shape.options ?? [])
    if (isSchema(option)) visit(option, shape.type === "variant" ? `${path}<${tagsOf(option, shape.key).join("|")}>` : path, enter);
  for (const inner of [shape.item, ...(shape.items ?? []), shape.wrapped, shape.type === "record" ? shape.value : undefined])
    if (inner !== undefined) visit(inner, path, enter);
}

function use(schema: Schema, value: unknown, found: (node: Schema, word: string) => void): void {
  const shape = shapeOf(schema);
  if (value === undefined || value === null) return;
  switch (shape.type) {
    case "picklist":
      return typeof value === "string" ? found(schema, value) : undefined;
    case "variant": {
      const tag = String(field(value, typeof shape.key === "string" ? shape.key : ""));
      const option = (shape.options ?? []).filter(isSchema).find((each) => tagsOf(each, shape.key).includes(tag));
      found(schema, tag);
      return option === undefined ? undefined : use(option, value, found);
    }
    case "union":
      for (const option of (shape.options ?? []).filter(isSchema)) use(option, value, found);
      return;
    default:
  }
  for (const [key, entry] of Object.entries(shape.entries ?? {})) use(entry, field(value, key), found);
  if (shape.item !== undefined && Array.isArray(value)) for (const item of value) use(shape.item, item, found);
  if (Array.isArray(value)) for (const [at, item] of (shape.items ?? []).entries()) use(item, value[at], found);
  if (shape.wrapped !== undefined) use(shape.wrapped, value, found);
  if (shape.type === "record" && shape.value !== undefined) for (const item of Object.values(value)) use(shape.value, item, found);
}

function field(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Object.entries(value).find(([name]) => name === key)?.[1] : undefined;
}

// --- arbitrary values ---

const UNICODE = fc.string({
  unit: fc.oneof(fc.constantFrom("a", "€", "😀", "\n", "\u2028", "\0", '"', "\\"), fc.string({ minLength: 1, maxLength: 1 })),
  maxLength: 12,
});

/** Any value that the schema takes, unknown fields included, as it comes out of JSON. */
export function arbitrary(schema: Schema): fc.Arbitrary<unknown> {
  return build(schema).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
}

function build(schema: Schema): fc.Arbitrary<unknown> {
  const shape = shapeOf(schema);
  switch (shape.type) {
    case "string":
      return UNICODE;
    case "number":
      return fc.oneof(
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number)),
      );
    case "boolean":
      return fc.boolean();
    case "unknown":
      return fc.jsonValue({ maxDepth: 2 });
    case "literal":
      return fc.constant(shape.literal);
    case "picklist":
      return fc.constantFrom(...(shape.options ?? []));
    case "array":
      return fc.array(inner(shape.item), { maxLength: 3 });
    case "strict_tuple":
      return fc.tuple(...(shape.items ?? []).map(build));
    case "null":
      return fc.constant(null);
    case "record":
      return fc.dictionary(UNICODE.filter(isPlainKey), inner(shape.value), { maxKeys: 3 });
    case "variant":
    case "union":
      return fc.oneof(...(shape.options ?? []).filter(isSchema).map(build));
    case "optional":
      return fc.option(inner(shape.wrapped), { nil: undefined });
    case "nullish":
      return fc.oneof(inner(shape.wrapped), fc.constant(null), fc.constant(undefined));
    case "nullable":
      return fc.option(inner(shape.wrapped), { nil: null });
    case "loose_object":
      return fc
        .tuple(fc.dictionary(fc.constantFrom("x_new", "x-other"), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 1 }), entries(shape))
        .map(([extra, known]) => ({ ...extra, ...known }));
    case "strict_object":
    case "object":
      return entries(shape);
    default:
      throw new Error(`the walker does not know schemas of type ${shape.type}`);
  }
}

function inner(schema: Schema | undefined): fc.Arbitrary<unknown> {
  if (schema === undefined) throw new Error("a schema without its inner one");
  return build(schema);
}

function entries(shape: Shape): fc.Arbitrary<object> {
  return fc.record(Object.fromEntries(Object.entries(shape.entries ?? {}).map(([key, entry]) => [key, build(entry)])));
}

/** Schemas leave out keys that could reach a prototype. */
function isPlainKey(key: string): boolean {
  return !["__proto__", "prototype", "constructor"].includes(key);
}
