/** The engine on stdin and stdout, in one dialect. */
import { toFault } from "../core/errors.js";
import { loadDialect } from "../dialects/index.js";
import type { Env, Loaded } from "../engine/config.js";
import { serve } from "../link/serve.js";
import { stdio } from "../transports/stdio.js";
import { keepStdoutClean, refuseToStart } from "./protocol-stdout.js";
import { prepareServing } from "./serving.js";
import { endOnSignal } from "./signals.js";
import type { Telemetry } from "./telemetry.js";

export async function serveStdio(dialectId: string, load: () => Promise<Loaded>, env: Env, telemetry: Telemetry): Promise<number> {
  const dialect = await loadDialect(dialectId);
  keepStdoutClean();
  const serving = await prepareServing(dialect, load, env, telemetry).catch(toFault);
  if (!("engine" in serving)) {
    await refuseToStart(dialect, serving);
    return 1;
  }
  const agent = serving.engine();
  const signals = endOnSignal(agent);
  const transport = stdio(dialect.framing, serving.settings.limits.lineBytes);
  const closed = await serve(agent, dialect, transport, serving.launch);
  await transport.flushed();
  await serving.end();
  if (closed.reason !== undefined) console.error(`parley: ${closed.reason}`);
  return signals.code() ?? closed.code ?? 0;
}
