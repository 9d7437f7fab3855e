/** A file of the user's that cannot be used as it is: every problem with its place, a line each, in one fault. */
import { ParleyError } from "../../core/errors.js";

export function brokenFile(problems: readonly string[]): ParleyError {
  return new ParleyError({ code: "config", message: problems.join("\n"), retryable: false });
}
