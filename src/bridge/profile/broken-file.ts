/** The fault of a user's file that cannot be used: one line for each problem, with its place. */
import { ParleyError } from "../../core/errors.js";

export function brokenFile(problems: readonly string[]): ParleyError {
  return new ParleyError({ code: "config", message: problems.join("\n"), retryable: false });
}
