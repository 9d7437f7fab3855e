/** `parley trust`: the user's word that a folder's own configuration may be believed. */
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { messageOf, ParleyError } from "../core/errors.js";
import type { Env } from "../engine/config.js";
import { homeOf } from "../os/home.js";
import { addTrust } from "../engine/trust.js";

export async function trustWorkspace(dir: string, env: Env, cwd: string): Promise<string> {
  const home = homeOf(env, cwd);
  try {
    const folder = await realpath(resolve(cwd, dir));
    await addTrust(home, folder);
    return `${folder} is trusted (kept in ${home})\n`;
  } catch (error) {
    throw new ParleyError({ code: "config", message: `'${dir}' could not be marked as trusted: ${messageOf(error)}`, retryable: false });
  }
}
