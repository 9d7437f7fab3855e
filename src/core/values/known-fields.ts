/** A value without the fields that its schema does not name: unknown fields may hold anything, also a key, and are neither kept nor told. */
import * as v from "valibot";

/** A value whose schema is `unknown` is kept whole. */
export function knownFields<S extends v.GenericSchema>(schema: S, value: v.InferOutput<S>): v.InferOutput<S>;
export function knownFields(schema: v.GenericSchema, value: unknown): unknown {
  if (isWrapped(schema)) return knownFields(schema.wrapped, value);
  if (Array.isArray(value)) return isArray(schema) ? value.map((item: unknown) => knownFields(schema.item, item)) : value;
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value);
  if (isRecord(schema)) return Object.fromEntries(fields.map(([name, field]) => [name, knownFields(schema.value, field)]));
  if (!isObject(schema)) return value;
  const { entries } = schema;
  return Object.fromEntries(
    fields.flatMap(([name, field]) => {
      const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
      return entry === undefined ? [] : [[name, knownFields(entry, field)]];
    }),
  );
}

function isWrapped(schema: v.GenericSchema): schema is v.OptionalSchema<v.GenericSchema, undefined> {
  return schema.type === "optional";
}

function isArray(schema: v.GenericSchema): schema is v.ArraySchema<v.GenericSchema, undefined> {
  return schema.type === "array";
}

function isRecord(schema: v.GenericSchema): schema is v.RecordSchema<v.GenericSchema<string, string>, v.GenericSchema, undefined> {
  return schema.type === "record";
}

function isObject(schema: v.GenericSchema): schema is v.LooseObjectSchema<Record<string, v.GenericSchema>, undefined> {
  return schema.type === "loose_object";
}
