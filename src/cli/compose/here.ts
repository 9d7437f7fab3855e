/** The folder that we were started in. */
import { ParleyError } from "../../core/errors.js";

/** Throws when it is gone meanwhile: a shell may stand in a folder that somebody removed. */
export function here(): string {
  try {
    return process.cwd();
  } catch (cause) {
    const message = "The folder that this was started in is gone; change to one that exists (cd) and try again";
    throw new ParleyError({ code: "config", message, retryable: false }, { cause });
  }
}
