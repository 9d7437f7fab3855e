/** The engine on stdin and stdout, in one dialect. */
import type { SessionConfig } from "../core/config.js";
import { toFault } from "../core/errors.js";
import { loadDialect, type Dialect } from "../dialects/index.js";
import type { Env, Loaded } from "../engine/config.js";
import { serve } from "../link/serve.js";
import { stdio } from "../transports/stdio.js";
import { buildEngine } from "./build-engine.js";
import { openingOf } from "./opening.js";
import { keepStdoutClean, refuseToStart } from "./protocol-stdout.js";
import { endOnSignal } from "./signals.js";

export async function serveStdio(dialectId: string, load: () => Promise<Loaded>, env: Env): Promise<number> {
  const dialect = await loadDialect(dialectId);
  keepStdoutClean();
  const loaded = await load().catch(toFault);
  if (!("settings" in loaded)) {
    await refuseToStart(dialect, loaded);
    return 1;
  }
  for (const warning of loaded.warnings) console.error(`parley: ${warning}`);
  const agent = buildEngine(loaded, env, unasked(dialect, loaded));
  const signals = endOnSignal(agent);
  const transport = stdio(dialect.framing, loaded.settings.limits.lineBytes);
  // Where a process is a session, the command line opens it; elsewhere the host does.
  const launch = dialect.lifetime === "connection" ? {} : { launch: { argv: [], env: {}, open: openingOf(loaded) } };
  const closed = await serve(agent, dialect, transport, launch);
  await transport.flushed();
  if (closed.reason !== undefined) console.error(`parley: ${closed.reason}`);
  return signals.code() ?? closed.code ?? 0;
}

function unasked(dialect: Dialect, { settings }: Loaded): SessionConfig {
  return settings.approveTools === undefined && dialect.unasked !== undefined ? { approveTools: [...dialect.unasked] } : {};
}
