/** `parley bridge serve`: the long-running bridge, until its platforms have ended or a signal comes. */
import { createRunner, findProfile, loadBridgeConfig, startBridge, type Runner } from "../../bridge/index.js";
import { messageOf } from "../../core/errors.js";
import { STUCK_SECONDS } from "../../core/limits.js";
import { homeOf } from "../../os/files/home.js";
import { limitStandstill } from "../../os/processes/reaper.js";
import { usage, type Parsed } from "../command-line/flags.js";
import { endOnSignal } from "../compose/signals.js";
import { agentsEnvironment, profileBeside } from "./platforms.js";

type Env = Record<string, string | undefined>;

export async function serveBridge({ positionals: [path] }: Parsed, env: Env, cwd: string): Promise<number> {
  if (path === undefined) throw usage("Which configuration? parley bridge serve CONFIG");
  const home = homeOf(env, cwd);
  const config = await loadBridgeConfig(path, home);
  const agentsEnv = agentsEnvironment(config, env);
  let leave = (): void => {};
  const leaving = new Promise<void>((settle) => {
    leave = settle;
  });
  const signals = endOnSignal({ send: async () => leave() });
  limitStandstill(STUCK_SECONDS);
  const bridge = await startBridge(config, { env, log, openRunner });
  log(`the bridge is up: ${config.platforms.map(({ name }) => name).join(", ")}`);
  const failure = await Promise.race([bridge.over, leaving]);
  if (failure !== undefined) log(`the bridge ends: its journal in ${config.stateFolder} cannot be written: ${messageOf(failure)}`);
  else if (signals.code() !== undefined) log("the bridge ends; a second signal hurries it");
  await bridge.close().catch((error: unknown) => log(messageOf(error)));
  return failure === undefined ? (signals.code() ?? 0) : 1;

  async function openRunner(profile: string, folder: string): Promise<Runner> {
    const { profile: found, warnings } = await findProfile(profileBeside(folder, profile));
    for (const warning of warnings) log(warning);
    return createRunner(found, { env: agentsEnv, cwd, home, files: config.filesFolder });
  }
}

/** Removes characters that could move a terminal's cursor: a line may come from elsewhere. */
function log(text: string): void {
  process.stderr.write(`parley: ${text.replace(/\p{Cc}+/gu, " ")}\n`);
}
