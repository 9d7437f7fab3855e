/** The engine on stdin and stdout, in one dialect. */
import { Console } from "node:console";
import type { SessionConfig } from "../core/config.js";
import { toFault, type Fault } from "../core/errors.js";
import { loadDialect, type Dialect } from "../dialects/index.js";
import type { Env, Loaded } from "../engine/config.js";
import { serve } from "../link/serve.js";
import { sideEnv } from "../link/stamp.js";
import { stdio } from "../transports/stdio.js";
import { buildEngine } from "./build-engine.js";
import { openingOf } from "./opening.js";
import { endOnSignal } from "./signals.js";

export async function serveStdio(dialectId: string, load: () => Promise<Loaded>, env: Env): Promise<number> {
  const dialect = await loadDialect(dialectId);
  keepStdoutClean();
  const loaded = await load().catch(toFault);
  if (!("settings" in loaded)) return refuseToStart(dialect, loaded);
  for (const warning of loaded.warnings) console.error(`parley: ${warning}`);
  const agent = buildEngine(loaded, env, unasked(dialect, loaded));
  const signals = endOnSignal(agent);
  const transport = stdio(dialect.framing, loaded.settings.limits.lineBytes);
  // Where a process is a session, the command line opens it; elsewhere the host does.
  const launch = dialect.lifetime === "connection" ? {} : { launch: { argv: [], env: {}, open: openingOf(loaded) } };
  const closed = await serve(agent, dialect, transport, launch);
  await transport.flushed();
  return signals.code() ?? closed.code ?? 0;
}

/** What cannot start says so in the dialect's own words, on stdout, where its host listens; and on stderr for people. */
async function refuseToStart(dialect: Dialect, fault: Fault): Promise<number> {
  const { out } = dialect.agentSide(sideEnv).write({ type: "reply", to: "session.open", status: "error", fault });
  const transport = stdio(dialect.framing);
  const records = out.flatMap((item) => ("rec" in item ? [item.rec] : []));
  console.error(`parley: ${fault.message}`);
  await transport.write(records);
  await transport.flushed();
  transport.close("eof");
  return 1;
}

function unasked(dialect: Dialect, { settings }: Loaded): SessionConfig {
  return settings.approveTools === undefined && dialect.unasked !== undefined ? { approveTools: [...dialect.unasked] } : {};
}

/** stdout carries the protocol and nothing else; an error of ours that nobody caught is told on stderr, and the process lives. */
function keepStdoutClean(): void {
  globalThis.console = new Console(process.stderr, process.stderr);
  process.on("uncaughtException", (error) => console.error("parley: internal error:", error));
}
