/** What Google's own kind of schema may hold, and what it is refused for. */
import * as v from "valibot";

interface Schema {
  type?: string | undefined;
  format?: string | undefined;
  enum?: string[] | undefined;
  items?: Schema | undefined;
  properties?: Record<string, Schema> | undefined;
  required?: string[] | undefined;
  anyOf?: Schema[] | undefined;
}

const Schema: v.GenericSchema<Schema> = v.strictObject({
  type: v.optional(v.picklist(["string", "number", "integer", "boolean", "array", "object", "null"])),
  format: v.optional(v.string()),
  description: v.optional(v.string()),
  nullable: v.optional(v.boolean()),
  enum: v.optional(v.array(v.pipe(v.string(), v.nonEmpty()))),
  items: v.optional(v.lazy(() => Schema)),
  properties: v.optional(
    v.record(
      v.string(),
      v.lazy(() => Schema),
    ),
  ),
  required: v.optional(v.array(v.string())),
  minLength: v.optional(v.number()),
  anyOf: v.optional(v.array(v.lazy(() => Schema))),
});

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  string: ["enum", "date-time"],
  number: ["float", "double"],
  integer: ["int32", "int64"],
};

export function schemaProblem(schema: unknown, at: string): string | undefined {
  if (schema === undefined) return undefined;
  const parsed = v.safeParse(Schema, schema);
  if (!parsed.success) return `Invalid JSON payload received. ${at}.${v.getDotPath(parsed.issues[0])}: ${parsed.issues[0].message}`;
  return refused(parsed.output, at);
}

function refused(schema: Schema, at: string): string | undefined {
  const { type, format, items, properties, required, anyOf } = schema;
  if (anyOf !== undefined && anyOf.length > 0) {
    if (type !== undefined || properties !== undefined || items !== undefined) return `${at}: any_of must be the only field set`;
    return first(anyOf.map((one, index) => refused(one, `${at}.any_of[${index}]`)));
  }
  if (type === undefined) return `${at}.type: must be specified`;
  if (type === "array" && items === undefined) return `${at}.items: missing field`;
  if (schema.enum !== undefined && type !== "string") return `${at}.enum: only allowed for STRING type`;
  if (format !== undefined && FORMATS[type]?.includes(format) !== true) return `${at}.format: not supported for ${type} type`;
  const missing = required?.find((name) => properties === undefined || !Object.hasOwn(properties, name));
  if (missing !== undefined) return `${at}.required: property is not defined: ${missing}`;
  const inner = Object.entries(properties ?? {}).map(([name, one]) => refused(one, `${at}.properties[${name}]`));
  return first([...inner, items === undefined ? undefined : refused(items, `${at}.items`)]);
}

function first(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}
