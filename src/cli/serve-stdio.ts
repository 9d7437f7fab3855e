/** The engine on stdin and stdout, in one dialect. */
import { toFault } from "../core/errors.js";
import { loadDialect } from "../dialects/index.js";
import type { Env, Loaded } from "../engine/config.js";
import { serve } from "../link/serve.js";
import { stdio } from "../transports/stdio.js";
import { keepStdoutClean, refuseToStart } from "./protocol-stdout.js";
import { prepareServing, type Onlookers } from "./serving.js";
import { endOnSignal } from "./signals.js";

export async function serveStdio(dialectId: string, load: () => Promise<Loaded>, env: Env, onlookers: Onlookers): Promise<number> {
  const dialect = await loadDialect(dialectId);
  keepStdoutClean();
  const serving = await prepareServing(dialect, load, env, onlookers).catch(toFault);
  if (!("connection" in serving)) {
    await refuseToStart(dialect, serving);
    return 1;
  }
  const pipe = stdio(dialect.framing, serving.settings.limits.lineBytes);
  const { agent, transport } = serving.connection(pipe);
  const signals = endOnSignal(agent);
  const closed = await serve(agent, dialect, transport, serving.launch);
  await pipe.flushed();
  await serving.end();
  if (closed.reason !== undefined) console.error(`parley: ${closed.reason}`);
  return signals.code() ?? closed.code ?? 0;
}
