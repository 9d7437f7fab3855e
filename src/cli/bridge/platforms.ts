/** How a serving bridge's configuration meets this machine: which profile a platform means, and what its agents may see. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { BridgeConfig } from "../../bridge/index.js";

type Env = Record<string, string | undefined>;

/** A file beside the configuration, or else the name of a ready-made profile. */
export function profileBeside(folder: string, profile: string): string {
  const file = resolve(folder, profile);
  const isFile = profile.includes("/") || statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  return isFile ? file : profile;
}

/** Without the secrets of the bridge itself. */
export function agentsEnvironment({ platforms }: BridgeConfig, env: Env): Env {
  const secrets = new Set(platforms.flatMap((platform) => platform.secrets));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secrets.has(name)));
}
