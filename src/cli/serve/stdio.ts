/** The engine on stdin and stdout, in one dialect. */
import type { Agent } from "../../core/agent.js";
import type { Part } from "../../core/content.js";
import { toFault } from "../../core/errors.js";
import type { Frame, Transport } from "../../core/wire.js";
import { loadDialect } from "../../dialects/index.js";
import type { Env, Loaded } from "../../settings/settings.js";
import { serve } from "../../link/serve.js";
import { stdio } from "../../transports/stdio.js";
import { keepStdoutClean, refuseToStart } from "../compose/protocol-stdout.js";
import { prepareServing, type Asked, type Onlookers } from "./serving.js";
import { endOnSignal } from "../compose/signals.js";

export interface StdioOptions extends Asked {
  /** The whole input, in place of standard input. */
  records?: readonly unknown[];
  /** The files that the command line attaches to the prompt. */
  attached?: readonly Part[];
  /** Seconds between two signs of life. */
  beatSeconds?: number | undefined;
  /** Hears each record that goes out. */
  onRecord?: ((record: unknown) => void) | undefined;
}

export async function serveStdio(
  dialectId: string,
  load: () => Promise<Loaded>,
  env: Env,
  onlookers: Onlookers,
  options: StdioOptions = {},
): Promise<number> {
  const { records, beatSeconds, attached = [], onRecord } = options;
  const dialect = await loadDialect(dialectId);
  keepStdoutClean();
  const serving = await prepareServing(dialect, load, env, onlookers, options).catch(toFault);
  if (!("connection" in serving)) {
    return (await refuseToStart(dialect, serving, options.switches)) ?? 1;
  }
  const pipe = stdio(dialect.framing, serving.settings.limits.lineBytes);
  const heard = onRecord === undefined ? pipe : overheard(pipe, onRecord);
  const { agent: engine, transport } = serving.connection(records === undefined ? heard : { ...heard, frames: framesOf(records) });
  const agent = withAttached(engine, attached);
  const signals = endOnSignal(agent);
  const onLog = (text: string): void => console.error(`parley: ${text}`);
  const closed = await serve(agent, dialect, transport, { ...serving.launch, onLog, beatSeconds });
  await pipe.flushed();
  await serving.end();
  if (closed.reason !== undefined) console.error(`parley: ${closed.reason}`);
  return signals.code() ?? closed.code ?? 0;
}

/** No wire has a word for files that go with a prompt of the command line, so they join it behind the wire. */
function withAttached(agent: Agent, attached: readonly Part[]): Agent {
  if (attached.length === 0) return agent;
  return { ...agent, send: (op) => agent.send(op.type === "turn.prompt" ? { ...op, parts: [...op.parts, ...attached] } : op) };
}

function overheard(pipe: Transport, onRecord: (record: unknown) => void): Transport {
  return {
    ...pipe,
    write(records) {
      records.forEach(onRecord);
      return pipe.write(records);
    },
  };
}

async function* framesOf(records: readonly unknown[]): AsyncGenerator<Frame> {
  for (const rec of records) yield { rec };
}
