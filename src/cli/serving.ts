/** What serving takes whatever the transport is: the settings, an offline model, and an engine for each connection. */
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Agent } from "../core/agent.js";
import type { SessionConfig } from "../core/config.js";
import type { Dialect } from "../dialects/index.js";
import type { Env, Loaded } from "../engine/config.js";
import type { ServeOptions } from "../link/serve.js";
import { buildEngine } from "./build-engine.js";
import { withOfflineModel } from "./offline.js";
import { answerSecondsOf, launchOf } from "./opening.js";

export interface Serving {
  settings: Loaded["settings"];
  /** A new one at each call. */
  engine(): Agent;
  launch: Pick<ServeOptions, "launch">;
  end(): Promise<void>;
}

export async function prepareServing(
  dialect: Dialect,
  load: () => Promise<Loaded>,
  env: Env,
  secrets: readonly string[] = [],
  switches: readonly string[] = [],
): Promise<Serving> {
  const given = await load();
  const own = dialect.id === "ante" ? await withServersOfAnte(given, env) : given;
  for (const warning of own.warnings) console.error(`parley: ${warning}`);
  const { loaded, registered, end } = await withOfflineModel(own, env, (line) => console.error(`parley: ${line}`));
  return {
    settings: loaded.settings,
    engine: () => buildEngine(loaded, env, promised(dialect, loaded), { registered, secrets }),
    launch: launchOf(dialect, loaded, undefined, switches),
    end,
  };
}

/** What the dialect says where the user does not. */
function promised(dialect: Dialect, loaded: Loaded): SessionConfig {
  const approveTools = loaded.settings.approveTools ?? dialect.unasked;
  return { answerSeconds: answerSecondsOf(loaded, dialect), ...(approveTools !== undefined && { approveTools: [...approveTools] }) };
}

/** Our own config wins where both name a server. */
async function withServersOfAnte(loaded: Loaded, env: Env): Promise<Loaded> {
  const path = join(env["ANTE_HOME"] || join(env["HOME"] || homedir(), ".ante"), "settings.json");
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return loaded;
  const { anteServers } = await import("./ante-home.js");
  const { servers, warnings } = anteServers(path, text);
  const mcpServers = { ...servers, ...loaded.settings.mcpServers };
  return { ...loaded, settings: { ...loaded.settings, mcpServers }, warnings: [...loaded.warnings, ...warnings] };
}
