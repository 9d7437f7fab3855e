/** Sub-agents: the same loop with a fresh history, under a call of the parent, with its approvals and its budget. */
import { messageOf, ParleyError } from "../core/errors.js";
import { History } from "./history.js";
import { runLoop } from "./loop.js";
import { Interrupted, type Emit, type Run } from "./run.js";
import type { SpawnOutcome, SpawnTask } from "./tools/tool.js";

/** What only the session's own agent has. */
const WITHHELD: ReadonlySet<string> = new Set(["Spawn", "ExitPlan"]);

/** `emitUnder` addresses events to the Spawn call. */
export async function runSubAgents(parent: Run, tasks: readonly SpawnTask[], call: string, emitUnder: Emit): Promise<SpawnOutcome[]> {
  const runs = await Promise.allSettled(tasks.map((task) => runSubAgent(parent, task, call, emitUnder)));
  return runs.map((run) => {
    if (run.status === "rejected") throw run.reason;
    return run.value;
  });
}

async function runSubAgent(parent: Run, task: SpawnTask, call: string, emit: Emit): Promise<SpawnOutcome> {
  const { name } = task;
  const say = (text: string): void => void parent.emit({ type: "tool.progress", call, text: `${name}: ${text}\n` });
  say("started");
  try {
    const end = await runLoop(child(parent, task, emit));
    const ok = end.finish !== "max_turns";
    say(ok ? "done" : "stopped at the limit of model calls");
    return { name, ok, text: end.text };
  } catch (error) {
    if (error instanceof Interrupted) throw error;
    say(`failed: ${messageOf(error)}`);
    return { name, ok: false, text: messageOf(error) };
  }
}

function child(parent: Run, task: SpawnTask, emit: Emit): Run {
  const tools = new Map([...parent.tools].filter(([name]) => !WITHHELD.has(name)));
  return {
    ...parent,
    emit,
    tools,
    history: new History([{ role: "user", parts: [{ type: "text", text: task.prompt }] }]),
    request: { ...parent.request, tools: parent.request.tools.filter((tool) => !WITHHELD.has(tool.name)) },
    // Several run under one call: only whole blocks can be told apart there.
    streaming: false,
    takeSteering: () => [],
    spawn: () => Promise.reject(new ParleyError({ code: "tool", message: "A sub-agent cannot spawn further ones" })),
  };
}
