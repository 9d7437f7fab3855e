/** Turns with an output schema: the model hands over its result by a tool, and the client gets it as the last message. */
import type { HostTool } from "../../../core/config.js";
import { isRecord } from "../../../core/values/json-object.js";
import { withSchema } from "../../kit/host-tools.js";

export const STRUCTURED = "structured_output";

/** The schema for the tool's arguments; undefined if it is not a schema of an object, as arguments are one. */
export function schemaOf(schema: unknown): Record<string, unknown> | undefined {
  if (!isRecord(schema)) return undefined;
  const { type = "object" } = schema;
  return type === "object" ? { ...schema, type } : undefined;
}

export function structuredTools(schema: Record<string, unknown>): HostTool[] {
  return withSchema(STRUCTURED, schema).hostTools ?? [];
}
