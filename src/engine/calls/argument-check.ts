/** Checks arguments against a JSON Schema of another program. The validator is heavy, so it is loaded with the first schema. */
import type { JsonSchemaType } from "@modelcontextprotocol/client";
import { messageOf, ParleyError } from "../../core/errors.js";

/** A sentence about the problem; undefined for valid arguments. */
export type ArgumentCheck = (args: Record<string, unknown>) => string | undefined;

/** Throws a `config` fault for an invalid schema: an unknown type or dialect, or a reference that leads nowhere. */
export async function argumentCheck(schema: Record<string, unknown>): Promise<ArgumentCheck> {
  const { AjvJsonSchemaValidator } = await import("@modelcontextprotocol/client/validators/ajv");
  try {
    const check = new AjvJsonSchemaValidator().getValidator(schema satisfies JsonSchemaType);
    return (args) => check(args).errorMessage;
  } catch (error) {
    throw new ParleyError({ code: "config", message: `This is no JSON Schema: ${messageOf(error)}`, retryable: false });
  }
}
