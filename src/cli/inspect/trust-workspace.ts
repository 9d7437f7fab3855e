/** `parley trust`: the user decides that a folder's own configuration counts. */
import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { messageOf, ParleyError, systemCode, systemReason } from "../../core/errors.js";
import { harmless } from "./harmless.js";
import { systemTrouble } from "../../core/remedies.js";
import type { Env } from "../../settings/settings.js";
import { homeOf } from "../../os/files/home.js";
import { addTrust, readTrust, removeTrust, trustedIn } from "../../settings/trust.js";

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

/** Throws where the list does not name the folder. */
export async function untrustWorkspace(dir: string, env: Env, cwd: string): Promise<string> {
  const home = homeOf(env, cwd);
  const named = resolve(cwd, dir);
  // A folder that is gone may still be on the list.
  const folder = await realpath(named).catch(() => named);
  if (await changed(home, `The trust of ${folder}`, () => removeTrust(home, folder))) return `${folder} is no longer trusted\n`;
  const { trusted } = await readTrust(home, folder);
  throw refused(
    `${folder} is not on the list of trusted folders${trusted ? ", but a folder above it is" : ""}; 'parley trust --list' shows it`,
  );
}

export async function listTrust(env: Env, cwd: string): Promise<string> {
  const home = homeOf(env, cwd);
  const folders = await changed(home, "The trusted folders", () => trustedIn(home));
  return folders.length === 0 ? "No folder is trusted.\n" : folders.map((folder) => `${harmless(folder)}\n`).join("");
}

async function changed<T>(home: string, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const why = systemCode(error) === undefined || !(error instanceof Error) ? messageOf(error) : systemTrouble(error, home);
    throw refused(`${what} could not be read or written: ${why}`, error);
  }
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
