/** The reason behind fetch's "fetch failed". */
import { messageOf, systemCode } from "../../core/errors.js";

const NEVER_LEFT: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

/** fetch hides the reason in the error's cause. */
export function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? messageOf(error.cause) || messageOf(error) : messageOf(error);
}

/** Whether the other side was never reached. */
export function neverLeft(error: unknown): boolean {
  return error instanceof Error && NEVER_LEFT.has(systemCode(error.cause) ?? "");
}
