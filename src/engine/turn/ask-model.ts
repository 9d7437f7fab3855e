/** One answer of the model: asked for, taken as it comes, kept in the history, and asked for again where that can help. */
import { isOverflow, makeRoom, shrinkAfterOverflow, stillTooLong } from "./compaction.js";
import { fallBack } from "./fallback.js";
import { streamWithRetries } from "../models/retry.js";
import { requestIn } from "./plan-mode.js";
import { Response } from "./response.js";
import { untilAborted, type Run } from "./run.js";
import type { TracedSpan } from "../trace/trace.js";

/** What does not fit into the model's window is made to fit and asked once more; a model that cannot answer has others in its place. */
export async function askModel(run: Run): Promise<Response> {
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
