/** Holds prompts and control requests that wait for the session, for servers or for their turn, within bounds. */
import { QUEUE_LIMIT } from "../../../../core/limits.js";
import type { Op } from "../../../../core/op.js";
import { roughSize } from "../../../../core/queue.js";
import type { Out, Step } from "../../../dialect.js";
import { append, together } from "../../step.js";
import type { AgentSession, Asked, Control } from "./session.js";
import type { AgentWire } from "./wire.js";
import { refusal } from "../write-lines.js";

/** The total size of held prompts. */
const HELD_BYTES = 32 * 1024 * 1024;
/** The most held lines and requests. */
const MOST_WAITING = 1024;

type Session = Omit<AgentSession<{ subtype: string }, Control>, "controls"> & { readonly controls: ReadonlyMap<string, Control> };

/** A prompt beyond the bound is refused in its place; of lines beyond a second bound only the number is kept. */
export function ask<Request extends { subtype: string }, Pending extends Control>(
  asked: Asked,
  wire: AgentWire<Request, Pending>,
): Step<Op> {
  const { state } = wire;
  const held = state.asked.filter(({ isHeld }) => isHeld === true);
  const last = state.asked.at(-1);
  if (last !== undefined && state.asked.length > MOST_WAITING) last.times = (last.times ?? 1) + 1;
  else if (state.asked.length === MOST_WAITING) state.asked.push({ outcome: { problem: "Too many lines wait for an answer; refused" } });
  else if (asked.op === undefined) state.asked.push(asked);
  else if (held.length < QUEUE_LIMIT && roughSize(held) + roughSize(asked) < HELD_BYTES) state.asked.push({ ...asked, isHeld: true });
  else state.asked.push({ outcome: { problem: `${held.length} prompts wait already; this one was refused` } });
  return released(wire);
}

/** An interrupt is never late. */
export function control<Request extends { subtype: string }, Pending extends Control>(
  said: { request_id: string; request: Request },
  wire: AgentWire<Request, Pending>,
): Step<Op> {
  const waits = !wire.canAnswer(said.request) || waitsForInitialize(wire.state);
  if (waits && said.request.subtype !== "interrupt") return later(said, wire.state);
  return together(wire.onRequest(said.request_id, said.request), released(wire));
}

function later<Request extends { subtype: string }, Pending extends Control>(
  said: { request_id: string; request: Request },
  state: AgentSession<Request, Pending>,
): Step<Op> {
  if (state.late.length >= MOST_WAITING) return { in: [], out: [refusal(said.request_id, "Too many requests wait already")] };
  state.late.push(said);
  return { in: [], out: [] };
}

function waitsForInitialize({ late }: Pick<Session, "late">): boolean {
  return late.some(({ request }) => request.subtype === "initialize");
}

/** Releases everything that can go on: control requests, then finished answers, then prompts. */
export function released<Request extends { subtype: string }, Pending extends Control>(wire: AgentWire<Request, Pending>): Step<Op> {
  const { state } = wire;
  const step: Step<Op> = { in: [], out: [] };
  for (let at = 0; at < state.late.length;) {
    const next = state.late[at];
    if (next === undefined || !wire.canAnswer(next.request)) at++;
    else {
      state.late.splice(at, 1);
      append(step, wire.onRequest(next.request_id, next.request));
    }
  }
  append(step, answered(wire));
  if (isWaiting(state)) return step;
  step.in.push(...nextPrompts(state));
  append(step, answered(wire));
  if (state.drains && isDrained(state)) step.in.push(shutdown(state));
  return step;
}

/** The agent runs a command at once, ahead of its queue: so a command waits for all prompts before it, and later prompts wait for it. */
function nextPrompts({ asked }: Pick<Session, "asked">): Op[] {
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

/** The first prompt waits until everything promised for the session has loaded. */
function isWaiting(state: Session): boolean {
  if (!state.isReady || !state.isGathered || state.awaited.size > 0 || waitsForInitialize(state) || lacksAgents(state)) return true;
  return [...state.controls.values()].some(({ subtype }) => subtype === "initialize");
}

/** The host's own kinds of sub-agents are not listed yet. */
function lacksAgents({ config, capabilities, catalogue }: Session): boolean {
  if (capabilities["catalog"] !== true) return false;
  return (config.subagents ?? []).some(({ name }) => catalogue.subagents?.some((agent) => agent.name === name) !== true);
}

/** Whether nothing is held. A run of one prompt takes no other input, and its prompt may be unanswered yet. */
export function isDrained({ late, asked, isOneShot }: Pick<Session, "late" | "asked" | "isOneShot">): boolean {
  return late.length === 0 && asked.every(({ isHeld }) => isHeld !== true && !isOneShot);
}

/** The input ended while something was held; now nothing is. */
function shutdown(state: Pick<Session, "env" | "drains">): Op {
  state.drains = false;
  return { type: "shutdown", id: state.env.stamp().id, when: "drained" };
}

/** Answers the next prompts that need no turn. */
function answered<Request extends { subtype: string }, Pending extends Control>(wire: AgentWire<Request, Pending>): Step<Op> {
  const { state } = wire;
  const out: Out[] = [];
  while (state.turn === undefined && state.isReady) {
    const { outcome, times = 1 } = state.asked[0] ?? {};
    if (outcome === undefined) break;
    state.asked.shift();
    for (let at = 0; at < times; at++) out.push(...wire.outcome(outcome));
    out.push(...leaving("problem" in outcome ? outcome.problem : undefined, state));
  }
  return { in: [], out };
}

/** A process for one prompt exits after its answer. */
function leaving(problem: string | undefined, { isOneShot }: Pick<Session, "isOneShot">): Out[] {
  return !isOneShot || problem === undefined ? [] : [{ exit: 1, reason: problem }];
}
