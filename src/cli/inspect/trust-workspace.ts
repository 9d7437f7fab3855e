/** `parley trust`: the user decides that a folder's own configuration counts. */
import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { messageOf, ParleyError, systemCode, systemReason } from "../../core/errors.js";
import { systemTrouble } from "../../core/remedies.js";
import type { Env } from "../../settings/settings.js";
import { homeOf } from "../../os/files/home.js";
import { addTrust } from "../../settings/trust.js";

export async function trustWorkspace(dir: string, env: Env, cwd: string): Promise<string> {
  const home = homeOf(env, cwd);
  const folder = await realFolder(resolve(cwd, dir));
  try {
    await addTrust(home, folder);
  } catch (error) {
    const why = systemCode(error) === undefined || !(error instanceof Error) ? messageOf(error) : systemTrouble(error, home);
    throw refused(`${folder} could not be marked as trusted: ${why}`, error);
  }
  return `${folder} is trusted (kept in ${home})\n`;
}

async function realFolder(path: string): Promise<string> {
  try {
    if ((await stat(path)).isDirectory()) return await realpath(path);
  } catch (error) {
    throw refused(`${path} ${systemCode(error) === "ENOENT" ? "does not exist" : `cannot be trusted: ${systemReason(error)}`}`, error);
  }
  throw refused(`${path} is not a folder; only folders can be trusted`);
}

function refused(message: string, cause?: unknown): ParleyError {
  return new ParleyError({ code: "config", message, retryable: false }, { cause });
}
