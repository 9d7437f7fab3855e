/** Everything that serving needs beside the transport: settings, an offline model, and an engine for each connection. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Agent } from "../../core/agent.js";
import type { SessionConfig } from "../../core/config.js";
import { Redactor } from "../../core/secrets/redact.js";
import type { Transport } from "../../core/wire.js";
import { programOf, type Dialect } from "../../dialects/index.js";
import type { OwnServers } from "../../dialects/kit/program.js";
import type { Env, Loaded } from "../../settings/settings.js";
import { besideFile } from "../../settings/server-command.js";
import type { ServeOptions } from "../../link/serve.js";
import { userHomeOf } from "../../os/files/home.js";
import { buildEngine, type Surroundings } from "../compose/build-engine.js";
import { withOfflineModel } from "../compose/offline.js";
import { answerSecondsOf, launchOf, openingOf, withConfig } from "../command-line/opening.js";
import type { Telemetry } from "../compose/telemetry.js";

export interface Serving {
  settings: Loaded["settings"];
  /** Makes the engine of one connection, and puts both on the tape where there is one. */
  connection(transport: Transport, one?: One): { agent: Agent; transport: Transport };
  launch: Pick<ServeOptions, "launch">;
  end(): Promise<void>;
}

/** `turn`: the variables of our environment that belong to the wire. */
type One = { conn?: string; turn?: Record<string, string> } & Pick<Surroundings, "resumable" | "owner">;

/** Wishes of a command line that are no settings. */
export interface Asked {
  /** Words for the wire itself. */
  switches?: readonly string[];
  /** Configuration of the session. */
  config?: SessionConfig;
}

/** The observers of a run, and the secrets that they must not see. */
export interface Onlookers {
  telemetry: Telemetry;
  /** The file of `--tape`. */
  tape: string | undefined;
  secrets?: readonly string[];
}

export async function prepareServing(
  dialect: Dialect,
  load: () => Promise<Loaded>,
  env: Env,
  { telemetry, tape: path, secrets = [] }: Onlookers,
  { switches = [], config = {} }: Asked = {},
): Promise<Serving> {
  const given = await load();
  const tape =
    path === undefined
      ? undefined
      : await (await import("../compose/tape.js")).openTape(path, { side: "agent", dialect: dialect.id }, given, env);
  const servers = programOf(dialect.id)?.servers;
  const own = servers === undefined ? given : await withServersOf(servers, given, env);
  for (const warning of own.warnings) console.error(`parley: ${warning}`);
  const { loaded, registered, end } = await withOfflineModel(own, env, (line) => console.error(`parley: ${line}`));
  return {
    settings: loaded.settings,
    connection(transport, { conn, turn, ...one } = {}) {
      const redactor = new Redactor();
      const around = {
        registered,
        secrets,
        redactor,
        openTracer: telemetry.openTracer,
        awaitsServers: dialect.awaitsServers === true,
        ...one,
      };
      const engine = buildEngine(loaded, env, { ...promised(dialect, loaded), ...config }, around);
      const begun = turn === undefined ? undefined : { dir: "in" as const, turn };
      if (tape === undefined) return { agent: engine, transport };
      return {
        agent: tape.agent(engine, { conn, redactor }),
        transport: tape.of(transport, { framing: dialect.framing, redactor, conn, begun }),
      };
    },
    launch: launchOf(dialect, loaded, { open: withConfig(openingOf(loaded), config), switches }),
    async end() {
      await Promise.all([end(), tape?.close()]);
    },
  };
}

/** Defaults of the dialect for settings that the user does not say. */
function promised(dialect: Dialect, loaded: Loaded): SessionConfig {
  const approveTools = loaded.settings.approveTools ?? dialect.unasked;
  return { answerSeconds: answerSecondsOf(loaded, dialect), ...(approveTools !== undefined && { approveTools: [...approveTools] }) };
}

/** The servers of the program's own settings beside ours; ours win where both name one. */
async function withServersOf({ variable, folder, file, read }: OwnServers, loaded: Loaded, env: Env): Promise<Loaded> {
  const path = join(env[variable] || join(userHomeOf(env), folder), file);
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return loaded;
  const { servers, warnings } = await read(path, text);
  const theirs = Object.entries(servers).map(([name, server]) => [name, besideFile(path, server)] as const);
  const mcpServers = { ...Object.fromEntries(theirs), ...loaded.settings.mcpServers };
  return { ...loaded, settings: { ...loaded.settings, mcpServers }, warnings: [...loaded.warnings, ...warnings] };
}
