/** The folder in which the process was started. */
import { ParleyError } from "../../core/errors.js";

/** Throws when the folder is gone: a shell may stand in a removed folder. */
export function workingFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    const message = "The folder that this was started in is gone; change to one that exists (cd) and try again";
    throw new ParleyError({ code: "config", message, retryable: false }, { cause });
  }
}
