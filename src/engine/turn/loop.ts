/** The loop: ask the model, run what it calls, tell it what came of it, until it has nothing more to say. */
import { plainText, textPart } from "../../core/content.js";
import { ANSWER_CALLS } from "../../core/limits.js";
import { runCalls } from "../calls/calls.js";
import { askModel } from "./ask-model.js";
import type { CallResult, Finish, ModelCall } from "../models/model.js";
import { Repetition } from "./repetition.js";
import type { Response } from "./response.js";
import type { Run } from "./run.js";

export interface LoopEnd {
  finish: Finish | "max_turns" | "max_tool_calls" | "loop";
  /** What was said last. */
  text: string;
}

/** `asked` are calls in the model's place: the same message, the same checks, and it is told what came of them. */
export async function runLoop(run: Run, asked: readonly ModelCall[] = []): Promise<LoopEnd> {
  if (asked.length > 0) {
    run.history.push({ role: "assistant", blocks: asked.map((call) => ({ type: "call", call })) });
    if ((await answerCalls(run, asked)) === "overdrawn") return maxToolCalls(run, "");
  }
  const repetition = new Repetition();
  // Outer: as long as the host steers. Inner: as long as the model calls tools.
  while (true) {
    // A sub-agent draws on what its parent and its siblings have left.
    if (!run.budget.mayAsk) return maxTurns(run, "");
    let response = await askModel(run);
    while (response.calls.length > 0) {
      const answered = await answerCalls(run, response.calls, repetition, response.droppedCalls);
      if (answered === "overdrawn") return maxToolCalls(run, textOf(response));
      if (answered === "repeated") return goesRound(run, response);
      if (!run.budget.mayAsk) return maxTurns(run, textOf(response));
      await takeSteering(run);
      response = await askModel(run);
    }
    // Steering that the turn has no model call left for stays where it is, and is the next prompt.
    if (!run.budget.mayAsk || !(await takeSteering(run))) return { finish: response.finish, text: textOf(response) };
  }
}

/** Overdrawn: those beyond the turn's limit did not run, and it ends. Repeated: so often that more of it would change nothing. */
async function answerCalls(
  run: Run,
  calls: readonly ModelCall[],
  repetition?: Repetition,
  dropped = 0,
): Promise<"goes on" | "overdrawn" | "repeated"> {
  if (dropped > 0) await tellDropped(run, dropped);
  const results = await runCalls(run, calls);
  run.history.push({ role: "tool", results: dropped === 0 ? results : withDropped(results, dropped) });
  if (run.signal.aborted) return "goes on";
  if (run.budget.overdrawn) return "overdrawn";
  return repetition?.notes(calls, results) === true ? "repeated" : "goes on";
}

async function takeSteering(run: Run): Promise<boolean> {
  const parts = await run.takeSteering();
  if (parts.length > 0) run.history.push({ role: "user", parts });
  return parts.length > 0;
}

function maxToolCalls(run: Run, text: string): LoopEnd {
  void run.emit({
    type: "notice",
    level: "warning",
    text: `Stopped after ${run.budget.toolCalls} tool calls, the limit of one turn (maxToolCalls)`,
    kind: "max_tool_calls",
  });
  return { finish: "max_tool_calls", text };
}

function tellDropped(run: Run, dropped: number): Promise<void> | undefined {
  return run.emit({
    type: "notice",
    level: "warning",
    kind: "max_calls",
    text: `The model asked for too much at once. ${droppedText(dropped)}`,
  });
}

/** Vendors want a result for each call that they are shown, so the last call that was kept tells of the others. */
function withDropped(results: readonly CallResult[], dropped: number): CallResult[] {
  return results.map((result, at) =>
    at < results.length - 1 ? result : { ...result, parts: [...result.parts, textPart(droppedText(dropped))] },
  );
}

function droppedText(dropped: number): string {
  return `${dropped} more calls of the same answer were dropped and not run: an answer has ${ANSWER_CALLS} calls at most`;
}

function goesRound(run: Run, response: Response): LoopEnd {
  const text = "Stopped: the model asked for the same again and again, and got the same result each time";
  void run.emit({ type: "notice", level: "warning", text, kind: "loop" });
  return { finish: "loop", text: textOf(response) };
}

function maxTurns(run: Run, text: string): LoopEnd {
  void run.emit({
    type: "notice",
    level: "warning",
    text: `Stopped after ${run.budget.modelCalls} model calls, the limit of one turn (--max-turns)`,
    kind: "max_turns",
  });
  return { finish: "max_turns", text };
}

function textOf(response: Response): string {
  return plainText(response.blocks.flatMap((block) => (block.type === "text" ? [{ type: "text" as const, text: block.text }] : [])));
}
