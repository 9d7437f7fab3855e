/** Checks arguments against a JSON Schema of another program. The validator is heavy, so it is loaded with the first schema. */
import type { JsonSchemaType } from "@modelcontextprotocol/client";
import { messageOf, ParleyError } from "../../core/errors.js";

/** A sentence saying what is wrong, or undefined. */
export type ArgumentCheck = (args: Record<string, unknown>) => string | undefined;

/** Throws a `config` fault for a schema that is none: an unknown type or dialect, a reference to nothing. */
export async function argumentCheck(schema: Record<string, unknown>): Promise<ArgumentCheck> {
  const { AjvJsonSchemaValidator } = await import("@modelcontextprotocol/client/validators/ajv");
  try {
    const check = new AjvJsonSchemaValidator().getValidator(schema satisfies JsonSchemaType);
    return (args) => check(args).errorMessage;
  } catch (error) {
    throw new ParleyError({ code: "config", message: `This is no JSON Schema: ${messageOf(error)}`, retryable: false });
  }
}
