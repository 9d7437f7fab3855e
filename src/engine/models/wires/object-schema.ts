/**
 * Fits the top of a tool's schema to Anthropic, OpenAI and servers of their wires: an object with properties. A choice or a reference
 * at the top would get the whole request refused; further down they are allowed.
 */
import type { JSONSchema7 } from "@ai-sdk/provider";
import * as v from "valibot";
import { isRecord } from "../../../core/values/json-object.js";
import { withoutReferences } from "./references.js";

const REFUSED = ["$ref", "anyOf", "oneOf", "allOf", "enum", "not"];
const REPLACED = new Set([...REFUSED, "required"]);

type Properties = NonNullable<JSONSchema7["properties"]>;

const choices = v.fallback(v.optional(v.array(v.unknown()), []), []);
const Part = v.looseObject({
  properties: v.fallback(v.optional(v.custom<Properties>(isRecord), {}), {}),
  required: v.fallback(v.optional(v.array(v.string()), []), []),
  anyOf: choices,
  oneOf: choices,
  allOf: choices,
});

export function objectSchema(schema: Record<string, unknown>): JSONSchema7 {
  const rest = Object.fromEntries(Object.entries(schema).filter(([key]) => !REPLACED.has(key)));
  const isPlain = REFUSED.every((key) => schema[key] === undefined);
  const { properties, required } = argumentsIn(isPlain ? schema : withoutReferences(schema));
  const choice = schema["anyOf"] ?? schema["oneOf"];
  const words = [rest["description"], choice === undefined ? undefined : `(any of ${JSON.stringify(choice)})`].filter(Boolean);
  return {
    ...rest,
    type: "object",
    properties,
    ...(required.length > 0 && { required }),
    ...(words.length > 0 && { description: words.join(" ") }),
  };
}

/** All properties of any choice; only those that every choice requires are required. */
function argumentsIn(schema: unknown): { properties: Properties; required: string[] } {
  const part = v.safeParse(Part, schema);
  if (!part.success) return { properties: {}, required: [] };
  const all = part.output.allOf.map(argumentsIn);
  const any = [...part.output.anyOf, ...part.output.oneOf].map(argumentsIn);
  return {
    properties: Object.assign({}, ...[...any, ...all, part.output].map(({ properties }) => properties)),
    required: [...new Set([part.output, ...all].flatMap(({ required }) => required))],
  };
}
