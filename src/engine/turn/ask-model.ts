/** One answer of the model: asked for, taken as it comes, kept in the history, and asked for again where that can help. */
import { ParleyError } from "../../core/errors.js";
import { addUsage } from "../../core/usage.js";
import { isOverflow, makeRoom, shrinkAfterOverflow, stillTooLong, windowOf } from "./compaction.js";
import { streamWithRetries } from "../models/retry.js";
import { requestIn } from "./plan-mode.js";
import { Response } from "./response.js";
import { untilAborted } from "./interrupt.js";
import type { Turn } from "./turn.js";
import type { TracedSpan } from "../trace/trace.js";

/**
 * Asks the model. A conversation that does not fit into its window is made to fit and asked once more; a model that cannot answer has
 * others in its place.
 */
export async function askModel(turn: Turn): Promise<Response> {
  turn.budget.ask();
  await makeRoom(turn);
  for (let shrunk = false; ;) {
    const response = new Response(turn);
    try {
      return await exchange(turn, response);
    } catch (error) {
      if (isOverflow(error) && shrunk) throw stillTooLong(error);
      if (response.started) throw error;
      if (await fallBack(turn, error)) continue;
      if (!isOverflow(error) || !(await shrinkAfterOverflow(turn))) throw error;
      shrunk = true;
    }
  }
}

/** One request and its response, in the history even when it was cut off. */
async function exchange(turn: Turn, response: Response): Promise<Response> {
  const span = turn.signal.aborted ? undefined : turn.trace?.modelCall(turn.model, turn.request);
  let broke: unknown;
  try {
    await untilAborted(turn.signal, receive(turn, response, span));
  } catch (error) {
    broke = error;
    response.dropCalls();
    throw error;
  } finally {
    response.seal();
    span?.endModelCall({ finish: response.finish, usage: response.usage, error: broke });
    if (response.blocks.length > 0) turn.history.push({ role: "assistant", blocks: response.blocks });
    await report(turn, response);
  }
  return response;
}

async function receive(turn: Turn, response: Response, span: TracedSpan | undefined): Promise<void> {
  const offered = requestIn(turn.session.permissions.mode, turn.request, turn.tools);
  const request = { ...offered, messages: turn.history.messages, traceparent: span?.traceparent };
  const parts = streamWithRetries(turn.model, request, turn.signal, {
    started: () => response.started,
    onRetry(text, data) {
      span?.retried();
      void turn.emit({ type: "notice", level: "warning", text, kind: "retry", data });
    },
  });
  for await (const batch of parts) {
    for (const part of batch) {
      if (turn.signal.aborted) return;
      const full = part.type === "note" ? note(turn, part.text) : response.take(part);
      if (full !== undefined) await full;
    }
  }
}

/** Tells each note once: it holds for every request of the session. */
function note(turn: Turn, text: string): Promise<void> | undefined {
  if (turn.session.notes.has(text)) return undefined;
  turn.session.notes.add(text);
  return turn.emit({ type: "notice", level: "warning", text, kind: "model" });
}

async function report(turn: Turn, response: Response): Promise<void> {
  const { usage } = response;
  if (usage === undefined) return;
  turn.used.total = addUsage(turn.used.total, usage);
  const limit = windowOf(turn.config, turn.model);
  const used = usage.input + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0) + usage.output + (usage.reasoning ?? 0);
  turn.history.measured = { tokens: used, messages: turn.history.messages.length };
  await turn.emit({ type: "usage", scope: "call", usage, ...(limit !== undefined && { context: { used, limit } }) });
}

/** The turn goes on with its next model, where there is one and another server may not fail in the same way. */
async function fallBack(turn: Turn, error: unknown): Promise<boolean> {
  if (!(error instanceof ParleyError) || error.fault.retryable !== true) return false;
  const { fault } = error;
  const index = turn.fallenBack;
  const next = turn.fallbacks[index];
  if (next === undefined) return false;
  const from = turn.model.id;
  turn.fallenBack++;
  turn.model = next;
  await turn.emit({
    type: "notice",
    level: "warning",
    kind: "model_fallback",
    text: `${from} cannot answer now (${fault.message}); ${next.id} answers in its place for the rest of the turn`,
    data: { from, to: next.id, index, ...(fault.status !== undefined && { status: fault.status }) },
  });
  return true;
}
