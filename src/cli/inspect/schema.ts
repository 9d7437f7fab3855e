/** A dialect's wire as JSON Schema. */
import { toJsonSchema } from "@valibot/to-json-schema";
import { loadDialect, VOCABULARY } from "../../dialects/index.js";

/** Checks that only code can do are left out of the schema. */
export const LENIENT = { ignoreActions: ["check"] };

const LINES = {
  json: "One JSON object a line.",
  text: "A string is a line of text, an object a line of JSON; AGENT_* are variables of the agent's environment.",
} as const;

export async function schemaOf(id: string): Promise<Record<string, unknown>> {
  const { version, wire, framing } = await loadDialect(id);
  const strip = ({ $schema: _, ...schema }: Record<string, unknown>): Record<string, unknown> => schema;
  const plain = (): Record<string, unknown> => ({
    definitions: { op: strip({ ...toJsonSchema(wire.op, LENIENT) }), event: strip({ ...toJsonSchema(wire.event, LENIENT) }) },
  });
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: `${id} ${version}`,
    description: `Host to agent: definitions/op. Agent to host: definitions/event. ${LINES[framing]}`,
    ...(id === VOCABULARY ? (await import("./vocabulary-schema.js")).vocabularySchema() : plain()),
    anyOf: [{ $ref: "#/definitions/op" }, { $ref: "#/definitions/event" }],
  };
}
