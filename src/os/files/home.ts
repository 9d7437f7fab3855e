/** The folder for all files of a user. */
import { homedir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { ParleyError } from "../../core/errors.js";

type Env = Readonly<Record<string, string | undefined>>;

/** PARLEY_HOME, or `~/.parley`. */
export function homeOf(env: Env, cwd: string): string {
  return env["PARLEY_HOME"] ? resolve(cwd, env["PARLEY_HOME"]) : join(userHomeOf(env), ".parley");
}

/** Node accepts an empty HOME, and throws for a user whom the system does not know. */
export function userHomeOf(env: Env): string {
  try {
    return env["HOME"] || homedir() || userInfo().homedir;
  } catch (cause) {
    const message = "There is no home folder: HOME is not set, and the system knows none for this user. Set HOME";
    throw new ParleyError({ code: "config", message, retryable: false }, { cause });
  }
}
