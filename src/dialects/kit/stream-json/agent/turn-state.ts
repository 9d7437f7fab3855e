/** Notes of a turn that the agent's side keeps while events become lines, on every wire of this family. */
import type { EventOf } from "../../../../core/event.js";
import type { Op } from "../../../../core/op.js";
import { addUsage } from "../../../../core/usage.js";
import type { MessageWriter } from "./message-writer.js";
import { address, type AnySession } from "./session.js";
import { answered, answering, type AgentTurn } from "./turn.js";

interface State extends AnySession {
  readonly turn: AgentTurn | undefined;
}

/** The turn has ended: its last request to the model is answered. */
export function answeredAtEnd({ outcome }: EventOf<"turn.ended">, at: number, { turn }: Pick<State, "turn">): void {
  if (turn !== undefined && outcome === "failed") answering(turn, at);
  if (turn !== undefined && turn.isAnswering) answered(turn, at);
}

/** The prompt of the turn has its answer. */
export function forgetPrompt({ turn }: EventOf<"turn.ended">, { asked }: Pick<State, "asked">): void {
  const mine = asked.findIndex(({ op }) => op?.turn === turn);
  if (mine !== -1) asked.splice(mine, 1);
}

/** Notes a call; returns its arguments. */
export function noteCall({ call, under }: EventOf<"tool.requested">, state: State): Record<string, unknown> {
  const input = call.args ?? {};
  state.turn?.calls.set(call.id, { name: call.name, input });
  const task = under === undefined ? undefined : state.tasks.get(under);
  if (task !== undefined) task.toolUses++;
  return input;
}

/** The end of a call that the host refused is a denial, whatever its agent calls it. */
export function endOfCall(
  given: EventOf<"tool.ended">,
  { questions }: Pick<State, "questions">,
): [EventOf<"tool.ended">, isRefused: boolean] {
  const reason = questions.refusalOf(given.call);
  if (reason === undefined || given.status === "ok") return [given, reason !== undefined];
  return [{ ...given, status: "denied", reason }, true];
}

/** The turn is over when the result for a schema was handed over by the call of this tool. */
export function handedOver({ call }: EventOf<"tool.ended">, tool: string, state: State): Op[] {
  const isWhole = state.structured !== undefined && state.turn?.calls.get(call)?.name === tool;
  return isWhole ? [{ type: "turn.interrupt", ...address(state), reason: "the result was handed over" }] : [];
}

/** A model call of the session's own agent, or of a sub-agent. */
export function noteUsage({ usage, under, at }: EventOf<"usage">, speech: MessageWriter, state: State): void {
  speech.used(usage);
  if (under === undefined && state.turn !== undefined) answered(state.turn, at ?? state.env.stamp().at);
  const task = under === undefined ? undefined : state.tasks.get(under);
  if (task !== undefined) task.usage = addUsage(task.usage, usage);
}
