/** What has to wait, for the session, for servers, for its turn; and what goes on when that is there. All of it is bounded. */
import { QUEUE_LIMIT } from "../../../core/limits.js";
import type { Op } from "../../../core/op.js";
import { roughSize } from "../../../core/queue.js";
import type { Out, Step } from "../../dialect.js";
import { canAnswer, onRequest } from "./read-requests.js";
import { refusal } from "../../kit/stream-json/write-lines.js";
import type { AgentState, Asked } from "./state.js";
import { outcomeLines } from "./write-turns.js";

/** Prompts that are held, together. */
const HELD_BYTES = 32 * 1024 * 1024;
/** Lines and requests that wait for their turn. */
const MOST_WAITING = 1024;

type LateRequest = AgentState["late"][number];

/** What waits is bounded: a prompt too many is refused in its place, and of lines beyond all measure only their number is kept. */
export function ask(asked: Asked, state: AgentState): Step<Op> {
  const held = state.asked.filter(({ isHeld }) => isHeld === true);
  const last = state.asked.at(-1);
  if (last !== undefined && state.asked.length > MOST_WAITING) last.times = (last.times ?? 1) + 1;
  else if (state.asked.length === MOST_WAITING) state.asked.push({ outcome: { problem: "Too many lines wait for an answer; refused" } });
  else if (asked.op === undefined) state.asked.push(asked);
  else if (held.length < QUEUE_LIMIT && roughSize(held) + roughSize(asked) < HELD_BYTES) state.asked.push({ ...asked, isHeld: true });
  else state.asked.push({ outcome: { problem: `${held.length} prompts wait already; this one was refused` } });
  return released(state);
}

/** An interrupt is never late. */
export function control(said: LateRequest, state: AgentState): Step<Op> {
  const waits = !canAnswer(said.request, state) || waitsForInitialize(state);
  if (waits && said.request.subtype !== "interrupt") return later(said, state);
  return joined(onRequest(said.request_id, said.request, state), released(state));
}

function later(said: LateRequest, state: AgentState): Step<Op> {
  if (state.late.length >= MOST_WAITING) return { in: [], out: [refusal(said.request_id, "Too many requests wait already")] };
  state.late.push(said);
  return { in: [], out: [] };
}

function waitsForInitialize({ late }: AgentState): boolean {
  return late.some(({ request }) => request.subtype === "initialize");
}

/** Whatever can go on now: control requests, then the answers that are there, then prompts. */
export function released(state: AgentState): Step<Op> {
  const step: Step<Op> = { in: [], out: [] };
  for (let at = 0; at < state.late.length;) {
    const next = state.late[at];
    if (next === undefined || !canAnswer(next.request, state)) at++;
    else {
      state.late.splice(at, 1);
      append(step, onRequest(next.request_id, next.request, state));
    }
  }
  append(step, answered(state));
  if (isWaiting(state)) return step;
  step.in.push(...nextPrompts(state));
  append(step, answered(state));
  if (state.drains && isDrained(state)) step.in.push(shutdown(state));
  return step;
}

/** A command is done at once, whatever is queued: so it waits for all that came before it, and what follows waits for it. */
function nextPrompts({ asked }: AgentState): Op[] {
  const ops: Op[] = [];
  let isFirst = true;
  for (const prompt of asked) {
    const { op, outcome, isHeld } = prompt;
    if (outcome !== undefined || op === undefined) {
      prompt.isHeld = false;
      continue;
    }
    const isCommand = op.command !== undefined;
    if (isHeld === true) {
      if (isCommand && !isFirst) break;
      prompt.isHeld = false;
      ops.push(op);
    }
    if (isCommand) break;
    isFirst = false;
  }
  return ops;
}

/** The first prompt waits until all is there that the session was promised. */
function isWaiting(state: AgentState): boolean {
  if (!state.isReady || !state.isGathered || state.awaited.size > 0 || waitsForInitialize(state) || lacksAgents(state)) return true;
  return [...state.controls.values()].some(({ subtype }) => subtype === "initialize");
}

/** The host's own kinds of sub-agents are not listed yet. */
function lacksAgents({ config, capabilities, catalogue }: AgentState): boolean {
  if (capabilities["catalog"] !== true) return false;
  return (config.subagents ?? []).some(({ name }) => catalogue.subagents?.some((agent) => agent.name === name) !== true);
}

/** Nothing is held. A run of one prompt has no other input: what this side answers itself must still be asked for. */
export function isDrained({ late, asked, switches }: AgentState): boolean {
  return late.length === 0 && asked.every(({ isHeld }) => isHeld !== true && !switches.isOneShot);
}

/** The end of input came while something was held; now nothing is. */
function shutdown(state: AgentState): Op {
  state.drains = false;
  return { type: "shutdown", id: state.env.stamp().id, when: "drained" };
}

/** Prompts that no turn answers, when their turn has come. */
function answered(state: AgentState): Step<Op> {
  const out: Out[] = [];
  while (state.turn === undefined && state.isReady) {
    const { outcome, times = 1 } = state.asked[0] ?? {};
    if (outcome === undefined) break;
    state.asked.shift();
    for (let at = 0; at < times; at++) out.push(...outcomeLines(outcome, state));
    out.push(...leaving("problem" in outcome ? outcome.problem : undefined, state));
  }
  return { in: [], out };
}

/** A process that runs one prompt leaves when it is answered. */
function leaving(problem: string | undefined, { switches }: AgentState): Out[] {
  return !switches.isOneShot || problem === undefined ? [] : [{ exit: 1, reason: problem }];
}

export function joined(first: Step<Op>, second: Step<Op>): Step<Op> {
  return { in: [...first.in, ...second.in], out: [...first.out, ...second.out] };
}

function append(step: Step<Op>, more: Step<Op>): void {
  step.in.push(...more.in);
  step.out.push(...more.out);
}
