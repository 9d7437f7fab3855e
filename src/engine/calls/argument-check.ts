/** Whether arguments fit a JSON Schema of somebody else's. Reading one is heavy, so what does that is loaded with the first. */
import type { JsonSchemaType } from "@modelcontextprotocol/client";
import { messageOf, ParleyError } from "../../core/errors.js";

/** A sentence saying what is wrong, or undefined. */
export type ArgumentCheck = (args: Record<string, unknown>) => string | undefined;

/** Throws a `config` fault for what is no JSON Schema: a type that there is not, a reference to nothing, a dialect that nobody knows. */
export async function argumentCheck(schema: Record<string, unknown>): Promise<ArgumentCheck> {
  const { AjvJsonSchemaValidator } = await import("@modelcontextprotocol/client/validators/ajv");
  try {
    const check = new AjvJsonSchemaValidator().getValidator(schema satisfies JsonSchemaType);
    return (args) => check(args).errorMessage;
  } catch (error) {
    throw new ParleyError({ code: "config", message: `This is no JSON Schema: ${messageOf(error)}`, retryable: false });
  }
}
