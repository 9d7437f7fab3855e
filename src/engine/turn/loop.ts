/** The loop: ask the model, run what it calls, tell it what came of it, until it has nothing more to say. */
import { plainText, textPart } from "../../core/content.js";
import { ANSWER_CALLS } from "../../core/limits.js";
import { runCalls } from "../calls/calls.js";
import { isOverflow, makeRoom, shrinkAfterOverflow, stillTooLong } from "./compaction.js";
import { fallBack } from "./fallback.js";
import { streamWithRetries } from "../models/retry.js";
import type { CallResult, Finish, ModelCall } from "../models/model.js";
import { requestIn } from "./plan-mode.js";
import { Repetition } from "./repetition.js";
import { Response } from "./response.js";
import { untilAborted, type Run } from "./run.js";
import type { TracedSpan } from "../trace/trace.js";

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
    let response = await ask(run);
    while (response.calls.length > 0) {
      const answered = await answerCalls(run, response.calls, repetition, response.droppedCalls);
      if (answered === "overdrawn") return maxToolCalls(run, textOf(response));
      if (answered === "repeated") return goesRound(run, response);
      if (!run.budget.mayAsk) return maxTurns(run, textOf(response));
      await takeSteering(run);
      response = await ask(run);
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

/** What does not fit into the model's window is made to fit and asked once more; a model that cannot answer has others in its place. */
async function ask(run: Run): Promise<Response> {
  run.budget.ask();
  await makeRoom(run);
  for (let shrunk = false; ;) {
    const response = new Response(run.emit, run.redactor, run.streaming, run.state.callIds, run.state.answerMiB);
    try {
      return await exchange(run, response);
    } catch (error) {
      if (isOverflow(error) && shrunk) throw stillTooLong(error);
      if (response.started) throw error;
      if (await fallBack(run, error)) continue;
      if (!isOverflow(error) || !(await shrinkAfterOverflow(run))) throw error;
      shrunk = true;
    }
  }
}

/** One request and its response, in the history even when it was cut off. */
async function exchange(run: Run, response: Response): Promise<Response> {
  const span = run.signal.aborted ? undefined : run.trace?.modelCall(run.model, run.request);
  let broke: unknown;
  try {
    await untilAborted(run.signal, receive(run, response, span));
  } catch (error) {
    broke = error;
    response.dropCalls();
    throw error;
  } finally {
    response.seal();
    span?.endModelCall({ finish: response.finish, usage: response.usage, error: broke });
    if (response.blocks.length > 0) run.history.push({ role: "assistant", blocks: response.blocks });
    await report(run, response);
  }
  return response;
}

async function receive(run: Run, response: Response, span: TracedSpan | undefined): Promise<void> {
  const offered = requestIn(run.state.permissions.mode, run.request, run.tools);
  const request = { ...offered, messages: run.history.messages, traceparent: span?.traceparent };
  const parts = streamWithRetries(run.model, request, run.signal, {
    started: () => response.started,
    onRetry(text, data) {
      span?.retried();
      void run.emit({ type: "notice", level: "warning", text, kind: "retry", data });
    },
  });
  for await (const batch of parts) {
    for (const part of batch) {
      if (run.signal.aborted) return;
      const full = part.type === "note" ? note(run, part.text) : response.take(part);
      if (full !== undefined) await full;
    }
  }
}

/** Said once: the same holds for every request of the session. */
function note(run: Run, text: string): Promise<void> | undefined {
  if (run.state.notes.has(text)) return undefined;
  run.state.notes.add(text);
  return run.emit({ type: "notice", level: "warning", text, kind: "model" });
}

async function report(run: Run, response: Response): Promise<void> {
  const { usage } = response;
  if (usage === undefined) return;
  run.addUsage(usage);
  const limit = run.contextLimit;
  const used = usage.input + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0) + usage.output + (usage.reasoning ?? 0);
  run.history.measured = { tokens: used, messages: run.history.messages.length };
  await run.emit({ type: "usage", scope: "call", usage, ...(limit !== undefined && { context: { used, limit } }) });
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
