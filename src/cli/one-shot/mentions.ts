/** `@file` on the command line: a script that names a file which is not there is wrong, and is told before a model is asked. */
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { SessionConfig } from "../../core/config.js";
import { mentionsIn, readings } from "../../engine/extensions/mentions/tokens.js";
import type { Settings } from "../../settings/settings.js";
import { usage } from "../command-line/flags.js";
import type { OnePrompt } from "./prompt.js";

/** Throws where the prompt mentions a file that is not there. `session` is the configuration of a stored session: its folder counts. */
export async function checkMentions(
  { mentioning = "", isStrict }: Pick<OnePrompt, "mentioning" | "isStrict">,
  { workspace, mcpServers }: Settings,
  session: SessionConfig = {},
): Promise<void> {
  const servers = Object.keys({ ...mcpServers, ...session.mcpServers });
  for (const { path } of isStrict ? mentionsIn(mentioning) : []) {
    const names = readings(path);
    if (names.length === 0 || names.some((name) => isElsewhere(name, servers))) continue;
    const found = await Promise.all(names.map((name) => exists(resolve(session.cwd ?? workspace, expanded(name)))));
    if (!found.includes(true)) throw usage(`There is no file '${names.at(-1) ?? path}' for '@${path}'; \\@ in place of @ attaches nothing`);
  }
}

/** A glob may match nothing, and a resource is the server's. */
function isElsewhere(name: string, servers: readonly string[]): boolean {
  return /[*?[{]/.test(name) || servers.some((server) => name.startsWith(`${server}:`));
}

function expanded(name: string): string {
  return name === "~" || name.startsWith("~/") ? homedir() + name.slice(1) : name;
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
