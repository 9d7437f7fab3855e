/** A turn whose answer has a schema: the model hands its result over by a tool, and the client hears it as the last message. */
import type { HostTool } from "../../../core/config.js";
import { isRecord } from "../../../core/values/json-object.js";
import { withSchema } from "../../kit/stream-json/host-tools.js";

export const STRUCTURED = "structured_output";

/** Undefined where it is no schema of an object: a model hands its result over as named values. */
export function schemaOf(schema: unknown): Record<string, unknown> | undefined {
  if (!isRecord(schema)) return undefined;
  const { type = "object" } = schema;
  return type === "object" ? { ...schema, type } : undefined;
}

export function structuredTools(schema: Record<string, unknown>): HostTool[] {
  return withSchema(STRUCTURED, schema).hostTools ?? [];
}
