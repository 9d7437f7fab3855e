/** A turn of the agent's side, with the times and counts for its `result`. */
import type { Event } from "../../../../core/event.js";

export interface CountedCall {
  name: string;
  input: Record<string, unknown>;
}

export interface AgentTurn<Call extends CountedCall = CountedCall> {
  id: string;
  since: number;
  /** The time of the open request to the model, if there is one. */
  askedAt: number | undefined;
  /** The total time of the model's answers, in milliseconds. */
  modelMs: number;
  /** The number of model requests of the session's own agent. */
  modelCalls: number;
  /** Part of the answer to the last request has arrived. */
  isAnswering: boolean;
  /** The last text of the session's own agent. */
  text: string;
  readonly denials: { tool_name: string; tool_use_id: string; tool_input: unknown }[];
  readonly calls: Map<string, Call>;
}

export function newTurn<Call extends CountedCall>(id: string, at: number): AgentTurn<Call> {
  return { id, since: at, askedAt: at, modelMs: 0, modelCalls: 1, isAnswering: true, text: "", denials: [], calls: new Map() };
}

type Timed = Pick<AgentTurn, "isAnswering" | "modelCalls" | "askedAt" | "modelMs">;

/** Part of an answer has arrived: a request to the model is being answered. */
export function answering(turn: Timed, at: number): void {
  if (turn.isAnswering) return;
  turn.isAnswering = true;
  turn.modelCalls++;
  turn.askedAt ??= at;
}

export function answered(turn: Timed, at: number): void {
  if (turn.askedAt !== undefined) turn.modelMs += Math.max(0, at - turn.askedAt);
  turn.askedAt = undefined;
}

/** The next step is a request to the model, with the result of a call. */
export function asking(turn: Timed, at: number): void {
  turn.isAnswering = false;
  turn.askedAt = at;
}

/** Deltas and texts of the session's own agent, which show that its model answers. */
export function isAnswer(event: Event): boolean {
  return event.under === undefined && ANSWERS.has(event.type);
}

const ANSWERS: ReadonlySet<string> = new Set([
  "text.delta",
  "text.done",
  "thinking.delta",
  "thinking.done",
  "tool.delta",
  "tool.requested",
  "usage",
]);

/** Notices of limits that the result of a turn tells. */
export const LIMIT_NOTICES: ReadonlySet<string | undefined> = new Set(["max_turns", "max_tool_calls", "max_cost"]);
