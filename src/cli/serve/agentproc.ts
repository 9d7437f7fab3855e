/** `parley agentproc`: one turn of AgentProc as the agent, and an exit code. */
import { toFault } from "../../core/errors.js";
import { isTurnInEnv, turnVariables, withoutTurn } from "../../dialects/agentproc/wire/environment.js";
import type { Env, Loaded } from "../../settings/settings.js";
import { serve } from "../../link/serve.js";
import { stdio } from "../../transports/stdio.js";
import { agentprocOf } from "./agentproc-wire.js";
import { usage } from "../command-line/flags.js";
import { oneTurn } from "./one-turn.js";
import { keepStdoutClean, refuseToStart } from "../compose/protocol-stdout.js";
import { prepareServing, type Onlookers } from "./serving.js";
import { endOnSignal } from "../compose/signals.js";

export async function runAgentproc(load: () => Promise<Loaded>, env: Env, onlookers: Onlookers): Promise<number> {
  if (!isTurnInEnv(env) && process.stdin.isTTY)
    throw usage("A bridge starts this command, with a turn in AGENT_MESSAGE or as a line on standard input; see 'parley bridge run'");
  const dialect = await agentprocOf(env);
  keepStdoutClean();
  // An agent that a tool starts has its turn from whoever starts it, not from our bridge.
  const serving = await prepareServing(dialect, load, withoutTurn(env), onlookers).catch(toFault);
  if (!("connection" in serving)) {
    await refuseToStart(dialect, serving);
    return 1;
  }
  const pipe = stdio(dialect.framing, serving.settings.limits.lineBytes);
  const turn = turnVariables(env);
  const { agent: engine, transport } = serving.connection(pipe, { turn });
  const agent = oneTurn(engine, serving.settings);
  const signals = endOnSignal(agent);
  const launch = { argv: [], ...serving.launch.launch, env: turn };
  const closed = await serve(agent, dialect, transport, { launch });
  await pipe.flushed();
  await serving.end();
  return signals.code() ?? closed.code ?? 0;
}
