/** The calls of one response: checked, approved, run side by side where that is safe, and answered each exactly once. */
import type { CallResult, ModelCall } from "../models/model.js";
import type { Turn } from "../turn/turn.js";
import { finishCall } from "./execute.js";
import { describe, prepareAll, requestApproval, type Prepared } from "./prepare.js";

export async function runCalls(turn: Turn, calls: readonly ModelCall[]): Promise<CallResult[]> {
  const room = turn.budget.call(calls.length);
  const prepared = await prepareAll(turn, calls, room);
  turn.budget.beginRound(calls.filter(({ name }) => name === "Spawn").length);
  for (const item of prepared) await turn.emit({ type: "tool.requested", call: describe(item) });
  const questions = turn.signal.aborted
    ? []
    : prepared.filter((item): item is Prepared => item.kind === "ready" && item.verdict.decision === "ask");
  const answers = await requestApproval(turn, questions);
  const results = await Promise.all(prepared.map((item) => finishCall(turn, item, answers.get(item.call.id))));
  // One sync for all calls that acted. The model does not wait for it: the next call that acts waits for a sync of its own.
  if (prepared.some((item) => item.kind === "ready" && item.tool.category !== "info")) void turn.session.events.recorder.sync();
  return results;
}
