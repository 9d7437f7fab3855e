/** Where everything of a user is kept. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** PARLEY_HOME, or `~/.parley`. */
export function homeOf(env: Readonly<Record<string, string | undefined>>, cwd: string): string {
  if (env["PARLEY_HOME"]) return resolve(cwd, env["PARLEY_HOME"]);
  return join(env["HOME"] || homedir(), ".parley");
}
