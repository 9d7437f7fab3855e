/** A turn of the agent's side, timed and counted for its `result`. */
import type { Event } from "../../../core/event.js";

export interface CountedCall {
  name: string;
  input: Record<string, unknown>;
}

export interface AgentTurn<Call extends CountedCall = CountedCall> {
  id: string;
  since: number;
  /** The time at which the model was asked, if it has not answered. */
  askedAt: number | undefined;
  /** The time that its answers took, in milliseconds. */
  modelMs: number;
  /** Requests to the model of the session's own agent. */
  modelCalls: number;
  /** The model was asked, and a part of its answer has come. */
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

/** A part of an answer came: a request to the model is being answered. */
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

/** A result goes to the model next. */
export function asking(turn: Timed, at: number): void {
  turn.isAnswering = false;
  turn.askedAt = at;
}

/** Pieces and words of the session's own agent, which tell that its model answers. */
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
