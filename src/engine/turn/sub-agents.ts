/** Sub-agents: the same loop with a fresh history, under a call of the parent, with its approvals and its budget. */
import { messageOf, ParleyError } from "../../core/errors.js";
import { History } from "../session/history.js";
import { runLoop } from "./loop.js";
import { Interrupted, type Emit, type Run } from "./run.js";
import { namesTool } from "../permissions/tool-lists.js";
import type { SpawnOutcome, SpawnTask } from "../tools/tool.js";
import type { Trace } from "../trace/trace.js";

/** Only the session's own agent presents a plan. */
const WITHHELD = "ExitPlan";
const SPAWN = "Spawn";

/** How deep a run is, and how its sub-agents' events are addressed. The session's own agent has a depth of 0. */
export interface Descent {
  depth: number;
  /** The Spawn call's place in a trace. */
  trace: Trace | undefined;
  /** Addresses events to a Spawn call. */
  emitUnder(call: string): Emit;
}

export async function runSubAgents(parent: Run, tasks: readonly SpawnTask[], call: string, descent: Descent): Promise<SpawnOutcome[]> {
  const runs = await Promise.allSettled(tasks.map((task) => runSubAgent(parent, task, call, descent)));
  return runs.map((run) => {
    if (run.status === "rejected") throw run.reason;
    return run.value;
  });
}

async function runSubAgent(parent: Run, task: SpawnTask, call: string, descent: Descent): Promise<SpawnOutcome> {
  const { name } = task;
  const say = (text: string): void => void parent.emit({ type: "tool.progress", call, text: `${name}: ${text}\n` });
  const trace = descent.trace?.subAgent(task.agent?.name ?? "general");
  say("started");
  try {
    const end = await runLoop(await child(parent, task, descent.emitUnder(call), { ...descent, depth: descent.depth + 1, trace }));
    const ok = end.finish !== "max_turns" && end.finish !== "max_tool_calls";
    if (ok) trace?.end();
    else trace?.endFailed(end.finish);
    if (ok) {
      say("done");
      return { name, ok, text: end.text };
    }
    const why = `stopped at the limit of ${end.finish === "max_turns" ? "model" : "tool"} calls`;
    say(why);
    return { name, ok, text: [end.text, `(${why} of the turn)`].filter((text) => text !== "").join("\n") };
  } catch (error) {
    trace?.end(error);
    if (error instanceof Interrupted) throw error;
    say(`failed: ${messageOf(error)}`);
    return { name, ok: false, text: messageOf(error) };
  }
}

async function child(parent: Run, { prompt, agent }: SpawnTask, emit: Emit, descent: Descent): Promise<Run> {
  const maySpawn = descent.depth < parent.state.nesting;
  const keeps = (name: string): boolean =>
    name !== WITHHELD && (name !== SPAWN || maySpawn) && (agent?.tools?.some((entry) => namesTool(entry, name)) ?? true);
  const { system, ...outfit } = await parent.outfit(agent);
  const run: Run = {
    ...parent,
    ...outfit,
    emit,
    trace: descent.trace,
    tools: new Map([...parent.tools].filter(([name]) => keeps(name))),
    history: new History([{ role: "user", parts: [{ type: "text", text: prompt }] }]),
    request: { ...parent.request, system, tools: parent.request.tools.filter((tool) => keeps(tool.name)) },
    // Several run under one call: only whole blocks can be told apart there.
    streaming: false,
    takeSteering: () => Promise.resolve([]),
    spawn: (call, tasks, trace) =>
      maySpawn
        ? runSubAgents(run, tasks, call, { ...descent, trace })
        : Promise.reject(new ParleyError({ code: "tool", message: "This sub-agent cannot spawn further ones" })),
  };
  return run;
}
