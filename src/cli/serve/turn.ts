/** One turn as the agent, in a dialect whose process is one turn, and an exit code. */
import { toFault } from "../../core/errors.js";
import { loadDialect } from "../../dialects/index.js";
import type { TurnInEnvironment } from "../../dialects/kit/program.js";
import type { Env, Loaded } from "../../settings/settings.js";
import { serve } from "../../link/serve.js";
import { stdio } from "../../transports/stdio.js";
import { usage } from "../command-line/flags.js";
import { oneTurn } from "./one-turn.js";
import { keepStdoutClean, refuseToStart } from "../compose/protocol-stdout.js";
import { prepareServing, type Onlookers } from "./serving.js";
import { endOnSignal } from "../compose/signals.js";
import { turnVariables, withoutTurn } from "./turn-variables.js";

export async function serveTurn(
  dialectId: string,
  { signs, missing }: TurnInEnvironment,
  load: () => Promise<Loaded>,
  env: Env,
  onlookers: Onlookers,
): Promise<number> {
  if (signs.every((name) => env[name] === undefined) && process.stdin.isTTY) throw usage(missing);
  const loaded = await loadDialect(dialectId);
  const dialect = loaded.startedIn?.(env) ?? loaded;
  keepStdoutClean();
  // The agent's tools may start agents, which must not inherit our bridge's turn.
  const serving = await prepareServing(dialect, load, withoutTurn(env), onlookers).catch(toFault);
  if (!("connection" in serving)) {
    await refuseToStart(dialect, serving);
    return 1;
  }
  const pipe = stdio(dialect.framing, serving.settings.limits.lineBytes);
  const turn = turnVariables(env);
  const { agent: engine, transport } = serving.connection(pipe, { turn });
  const agent = oneTurn(engine, serving.settings, dialect);
  const signals = endOnSignal(agent);
  const launch = { argv: [], ...serving.launch.launch, env: turn };
  const closed = await serve(agent, dialect, transport, { launch });
  await pipe.flushed();
  await serving.end();
  return signals.code() ?? closed.code ?? 0;
}
