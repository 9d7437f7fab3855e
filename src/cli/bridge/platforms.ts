/**
 * Applies a serving bridge's configuration to this machine: finds the profile of a platform, and hides the bridge's secrets from its
 * agents.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { BridgeConfig } from "../../bridge/index.js";

type Env = Record<string, string | undefined>;

/** Finds a file beside the configuration, or else a ready-made profile by its name. */
export function profileBeside(folder: string, profile: string): string {
  const file = resolve(folder, profile);
  const isFile = profile.includes("/") || statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  return isFile ? file : profile;
}

/** The environment without the secrets of the bridge itself. */
export function agentsEnvironment({ platforms }: BridgeConfig, env: Env): Env {
  const secrets = new Set(platforms.flatMap((platform) => platform.secrets));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secrets.has(name)));
}
