/**
 * Sub-agents: the same loop under a call of the parent, with the approvals of the session. Each has its own history, record of seen files,
 * shell lock and share of the budget, so that none waits for another or sees a file as known that another has changed.
 */
import { messageOf, ParleyError } from "../../../core/errors.js";
import { NESTING } from "../../../core/limits.js";
import { areNamed } from "../../permissions/tool-lists.js";
import { AccessLock } from "../../calls/locks.js";
import { History } from "../../session/history.js";
import { SeenFileMap } from "../../session/seen-files.js";
import type { Address } from "../../session/session-events.js";
import type { SpawnOutcome, SpawnTask, Tool } from "../../tools/tool.js";
import type { Trace } from "../../trace/trace.js";
import { Budget } from "../budget.js";
import type { SubAgent } from "./built-in-agents.js";
import { Interrupted } from "../interrupt.js";
import { runLoop } from "../loop.js";
import { systemPrompt } from "../system-prompt.js";
import type { Turn } from "../turn.js";

/** Only the session's own agent presents a plan and asks the user. */
const WITHHELD: ReadonlySet<string> = new Set(["ExitPlan", "AskUser"]);
const SPAWN = "Spawn";

/** Runs the tasks side by side under a call of the parent. `trace` is the call's place in a trace. Rejects where none may run. */
export async function runSubAgents(
  parent: Turn,
  tasks: readonly SpawnTask[],
  call: string,
  trace: Trace | undefined,
): Promise<SpawnOutcome[]> {
  if (!maySpawn(parent)) throw new ParleyError({ code: "tool", message: "This sub-agent cannot spawn further ones" });
  const shares = parent.budget.lend(tasks.length);
  const runs = await Promise.allSettled(
    tasks.map((task, nth) => runSubAgent(parent, task, { call, trace, budget: shares[nth] ?? new Budget(0) })),
  );
  parent.budget.takeBack(shares);
  return runs.map((run) => {
    if (run.status === "rejected") throw run.reason;
    return run.value;
  });
}

/** The limits that end a sub-agent, by its finish. */
const LIMITS: ReadonlyMap<string, string> = new Map([
  ["max_turns", "its share of the turn's model calls"],
  ["max_tool_calls", "its share of the turn's tool calls"],
  ["max_cost", "the limit of the session's costs"],
]);

/** The place of a sub-agent: the Spawn call that it is under, in the events and in a trace, and its share of the budget. */
interface Place {
  call: string;
  trace: Trace | undefined;
  budget: Budget;
}

async function runSubAgent(parent: Turn, task: SpawnTask, place: Place): Promise<SpawnOutcome> {
  const { name } = task;
  const say = (text: string): void => void parent.emit({ type: "tool.progress", call: place.call, text: `${name}: ${text}\n` });
  const trace = place.trace?.subAgent(task.agent?.name ?? "general");
  say("started");
  let child: Turn | undefined;
  try {
    child = await turnBelow(parent, task, { ...place, trace });
    const end = await runLoop(child);
    const limit = LIMITS.get(end.finish);
    const ok = limit === undefined;
    if (ok) trace?.end();
    else trace?.endFailed(end.finish);
    if (ok) {
      say("done");
      return { name, ok, text: end.text };
    }
    const why = `stopped at ${limit}`;
    say(why);
    return { name, ok, text: [end.text, `(${why})`].filter((text) => text !== "").join("\n") };
  } catch (error) {
    trace?.end(error);
    if (error instanceof Interrupted) throw error;
    say(`failed: ${messageOf(error)}`);
    return { name, ok: false, text: messageOf(error) };
  } finally {
    child?.shell.commands.handTo(parent.shell.commands);
  }
}

async function turnBelow(parent: Turn, { name, prompt, agent }: SpawnTask, { call, trace, budget }: Place): Promise<Turn> {
  const { session } = parent;
  const address: Address = { ...parent.address, under: call };
  const child: Turn = {
    ...parent,
    address,
    emit: (event) => session.events.tell(event, address),
    depth: parent.depth + 1,
    name,
    seen: new SeenFileMap(),
    access: new AccessLock(),
    shell: parent.shell.below(),
    budget,
    history: new History([{ role: "user", parts: [{ type: "text", text: prompt }] }]),
    steering: { parts: [], bytes: 0, op: undefined },
    trace,
  };
  const keeps = (tool: Tool): boolean =>
    !WITHHELD.has(tool.name) && (tool.name !== SPAWN || maySpawn(child)) && (agent?.tools === undefined || areNamed(agent.tools, tool));
  child.tools = new Map([...parent.tools].filter(([, tool]) => keeps(tool)));
  if (agent?.model !== undefined) child.model = await modelOf(agent, agent.model, parent);
  child.request = {
    ...parent.request,
    system: await systemOf(child, agent),
    tools: parent.request.tools.filter(({ name }) => child.tools.has(name)),
  };
  return child;
}

function maySpawn({ depth, session }: Turn): boolean {
  return depth < (session.settings.config.nesting ?? NESTING);
}

function systemOf(turn: Turn, agent: SubAgent | undefined): Promise<string> {
  const { config, session } = turn;
  return systemPrompt(session, agent?.system === undefined ? config : { ...config, system: agent.system }, turn);
}

/** Throws when the model cannot be opened, or when a file of a workspace that is not trusted names a model of another provider. */
async function modelOf(agent: SubAgent, name: string, { config, session, ownProvider }: Turn): Promise<Turn["model"]> {
  const model = await session.settings.openNamed(config, name);
  if (agent.untrusted === true && model.provider !== ownProvider) {
    const message = `The sub-agent '${agent.name}' wants ${model.id} of ${model.provider}, and the workspace is not trusted: it stays with ${ownProvider} ('parley trust' changes that)`;
    throw new ParleyError({ code: "config", message, retryable: false });
  }
  return model;
}
