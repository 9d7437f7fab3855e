/** The engine on stdin and stdout, in one dialect. */
import { Console } from "node:console";
import type { Loaded } from "../engine/config.js";
import { loadDialect } from "../dialects/index.js";
import { serve } from "../link/serve.js";
import { stdio } from "../transports/stdio.js";
import { buildEngine } from "./build-engine.js";
import { endOnSignal } from "./signals.js";

type Env = Record<string, string | undefined>;

export async function serveStdio(dialectId: string, loaded: Loaded, env: Env): Promise<number> {
  const dialect = await loadDialect(dialectId);
  keepStdoutClean();
  for (const warning of loaded.warnings) console.error(`parley: ${warning}`);
  const agent = buildEngine(loaded, env);
  const signals = endOnSignal(agent);
  const transport = stdio(dialect.framing, loaded.settings.limits.lineBytes);
  const closed = await serve(agent, dialect, transport);
  await transport.flushed();
  return signals.code() ?? closed.code ?? 0;
}

/** stdout carries the protocol and nothing else; an error of ours that nobody caught is told on stderr, and the process lives. */
function keepStdoutClean(): void {
  globalThis.console = new Console(process.stderr, process.stderr);
  process.on("uncaughtException", (error) => console.error("parley: internal error:", error));
}
