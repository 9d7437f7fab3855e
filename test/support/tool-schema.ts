/** What vendors of JSON Schema want of a tool's schema: at its top an object with properties, and nothing that could be something else. */
import * as v from "valibot";

const never = v.optional(v.never("schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level"));

export const ToolSchema = v.looseObject({
  type: v.literal("object"),
  properties: v.record(v.string(), v.unknown(), "object schema missing properties"),
  required: v.optional(v.array(v.string())),
  $ref: never,
  anyOf: never,
  oneOf: never,
  allOf: never,
  enum: never,
  not: never,
});
