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
import { launchOf, openingOf } from "./opening.js";

export interface Serving {
  settings: Loaded["settings"];
  /** A new one at each call. */
  engine(): Agent;
  launch: Pick<ServeOptions, "launch">;
  end(): Promise<void>;
}

/** What a command line asks for that is no setting. */
export interface Asked {
  /** For the wire itself. */
  switches?: readonly string[];
  /** Of the session. */
  config?: SessionConfig;
  /** Not to be told. */
  secrets?: readonly string[];
}

export async function prepareServing(
  dialect: Dialect,
  load: () => Promise<Loaded>,
  env: Env,
  { switches, config = {}, secrets = [] }: Asked = {},
): Promise<Serving> {
  const given = await load();
  const own = dialect.id === "ante" ? await withServersOfAnte(given, env) : given;
  for (const warning of own.warnings) console.error(`parley: ${warning}`);
  const { loaded, registered, end } = await withOfflineModel(own, env, (line) => console.error(`parley: ${line}`));
  return {
    settings: loaded.settings,
    engine: () => buildEngine(loaded, env, { ...promised(dialect, loaded), ...config }, { registered, secrets }),
    launch: launchOf(dialect, loaded, withConfig(openingOf(loaded), config), switches),
    end,
  };
}

function withConfig<O extends { config?: SessionConfig }>(open: O, config: SessionConfig): O {
  return { ...open, config: { ...open.config, ...config } };
}

/** What the dialect says where the user does not. */
function promised({ unasked, answerSeconds }: Dialect, { settings, origins }: Loaded): SessionConfig {
  return {
    ...(settings.approveTools === undefined && unasked !== undefined && { approveTools: [...unasked] }),
    ...(origins.get("limits.approvalSeconds") === "default" && answerSeconds !== undefined && { answerSeconds }),
  };
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
