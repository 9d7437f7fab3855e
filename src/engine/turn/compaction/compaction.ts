/**
 * Compaction: room in the model's window. Old tool results go first; where that is not enough, all but the newest messages become a
 * summary by the session's own model, behind the user's own words. The log keeps everything: only the conversation that the model gets
 * begins anew.
 */
import type { SessionConfig } from "../../../core/config.js";
import { messageOf, ParleyError } from "../../../core/errors.js";
import type { Usage } from "../../../core/event.js";
import { addUsage } from "../../../core/usage.js";
import { estimate, tailStart, tokensOf, trimmed } from "./cut.js";
import { keptWords } from "./keep.js";
import { summarise, summaryMessage } from "./summary.js";
import type { History } from "../../session/history.js";
import type { Message, Model } from "../../models/model.js";
import { costed } from "../../models/prices.js";
import type { Retry } from "../../models/retry.js";
import { Interrupted, untilAborted } from "../interrupt.js";
import type { Turn } from "../turn.js";

/** The share of the window that may be filled; the room for the answer comes off that. */
const FULL = 0.8;
const ANSWER_TOKENS = 8000;
/** Trimming is enough when the rest is below this share of the allowed size; else the next request would be at the limit again. */
const ROOMY = 0.75;
/** The share of the allowed size for messages that stay as they are. */
const KEPT = 0.2;
/** The share of the window for the text that is summed up; half of it, and half again, where a vendor counts more tokens than we do. */
const SUMMED_UP = 0.6;
const TRIES = 3;
/** A smaller share of a conversation is not worth a summary. */
const WORTH = 0.1;
/** After a vain try the conversation must grow by this factor before the next. */
const GROWN = 1.1;

/** The parts of a turn that compaction uses; outside a turn the session has them as well. */
export type Compactable = Pick<Turn, "history" | "model" | "config" | "emit" | "signal" | "trace" | "used" | "seen">;

export interface Compacted {
  /** Tokens, roughly. */
  before: number;
  after: number;
  summary?: string;
  /** Why there is no summary, where one was wanted. */
  failure?: string;
}

/** Before each request: makes room when the conversation nears the window. Without a known window only an overflow does. */
export async function makeRoom(turn: Turn): Promise<void> {
  const { history } = turn;
  const limit = windowOf(turn.config, turn.model);
  if (limit === undefined) return;
  const allowed = allowedSize(limit, turn.request.maxTokens);
  const size = sizeOf(history, () => tokensOf(turn.request.system) + tokensOf(JSON.stringify(turn.request.tools)));
  if (size <= allowed || size <= history.stuckAt * GROWN) return;
  const done = await compact(turn, size, allowed, "trim first");
  if (done !== undefined) history.stuckAt = done.after > allowed ? done.after : 0;
}

/** The vendor says that the conversation does not fit. False when nothing could be done about it. */
export async function shrinkAfterOverflow(turn: Turn): Promise<boolean> {
  // Some servers count next to nothing, so our own estimate is a lower bound.
  const size = Math.max(
    sizeOf(turn.history, () => 0),
    estimate(turn.history.messages),
  );
  const done = await compact(turn, size, Math.min(size, windowOf(turn.config, turn.model) ?? size), "sum up");
  return done !== undefined && done.after < done.before;
}

/** Sums up the conversation because the user asked for it. */
export async function compactNow(target: Compactable): Promise<Compacted> {
  const size = sizeOf(target.history, () => 0);
  const done = await compact(target, size, Math.min(size, windowOf(target.config, target.model) ?? size), "sum up");
  return done ?? { before: size, after: size };
}

/** The user may want less than the model holds, and the model may hold less than the user thinks. */
export function windowOf(
  { contextLimit: wanted }: Pick<SessionConfig, "contextLimit">,
  { contextLimit: held }: Pick<Model, "contextLimit">,
): number | undefined {
  return wanted === undefined || held === undefined ? (wanted ?? held) : Math.min(wanted, held);
}

export function isOverflow(error: unknown): error is ParleyError {
  return error instanceof ParleyError && error.fault.code === "context_overflow";
}

export function stillTooLong({ fault }: ParleyError): ParleyError {
  const remedy = "Begin anew with /clear, or choose a model with a larger window.";
  return new ParleyError({
    ...fault,
    message: `The conversation does not fit into the model's window, even after it was compacted: ${fault.message}. ${remedy}`,
  });
}

/** Undefined when nothing could be removed. */
async function compact(target: Compactable, before: number, allowed: number, how: "trim first" | "sum up"): Promise<Compacted | undefined> {
  const { history, emit } = target;
  const all = [...history.messages];
  const whole = estimate(all);
  const sizeWith = (messages: readonly Message[]): number => estimate(messages) + Math.max(0, before - whole);
  const lean = trimmed(all, ROOMY * allowed - Math.max(0, before - whole));
  // A vendor may count several tokens where we guess one.
  const start = tailStart(all, Math.floor(KEPT * allowed * Math.min(1, whole / before)));
  const [head, tail] = [all.slice(0, start), all.slice(start)];
  const words = keptWords(head, tail, allowed);
  const removed = estimate(head) - estimate(words);
  const isWorthIt = removed > 0 && removed >= WORTH * whole;
  const isLeaner = estimate(lean) < whole;
  if (!isWorthIt && !isLeaner) return undefined;

  await emit({ type: "compaction", phase: "started", before });
  if (!isWorthIt || (how === "trim first" && sizeWith(lean) <= ROOMY * allowed)) return ended(lean);
  try {
    const summary = await summaryOf(target, head, windowOf(target.config, target.model) ?? before);
    const messages = [...words, summaryMessage(summary, head, tail, target.seen), ...tail];
    if (sizeWith(messages) >= before) throw new Error("the summary is no shorter than what it stands for");
    return await ended(messages, summary);
  } catch (error) {
    await emit({ type: "compaction", phase: "failed", before });
    if (error instanceof Interrupted) throw error;
    const failure = messageOf(error);
    await emit({ type: "notice", level: "warning", kind: "compaction", text: `The conversation could not be summed up: ${failure}` });
    if (isLeaner) begin(lean);
    return { before, after: sizeWith(isLeaner ? lean : all), failure };
  }

  async function ended(messages: Message[], summary?: string): Promise<Compacted> {
    const after = sizeWith(messages);
    begin(messages);
    await emit({ type: "compaction", phase: "ended", before, after, ...(summary !== undefined && { summary }) });
    return { before, after, ...(summary !== undefined && { summary }) };
  }

  function begin(messages: Message[]): void {
    const tokens = sizeWith(messages);
    history.reset(messages);
    history.measured = { tokens, messages: messages.length };
  }
}

async function summaryOf(target: Compactable, head: readonly Message[], window: number): Promise<string> {
  for (let chars = Math.ceil(SUMMED_UP * window) * 4, tries = 1; ; chars = Math.ceil(chars / 2), tries++) {
    try {
      return await oneSummary(target, head, chars);
    } catch (error) {
      if (!isOverflow(error) || tries === TRIES) throw error;
    }
  }
}

async function oneSummary(
  { model, signal, emit, used: count, trace }: Compactable,
  head: readonly Message[],
  chars: number,
): Promise<string> {
  const span = trace?.modelCall(model, {}, "compaction");
  let used: Usage | undefined;
  const watch = {
    traceparent: span?.traceparent,
    onRetry(text: string, data: Retry) {
      span?.retried();
      void emit({ type: "notice", level: "warning", text, kind: "retry", data });
    },
    onUsage(usage: Usage) {
      used = usage;
      count.total = addUsage(count.total, usage);
      return emit({ type: "usage", scope: "call", ...costed(model.id, usage, model.prices) });
    },
  };
  try {
    const summary = await untilAborted(signal, summarise(model, head, chars, signal, watch));
    span?.endModelCall({ usage: used });
    return summary;
  } catch (error) {
    span?.endModelCall({ usage: used, error });
    throw error;
  }
}

function allowedSize(limit: number, maxTokens: number | undefined): number {
  return FULL * limit - Math.min(maxTokens ?? ANSWER_TOKENS, limit / 5);
}

/** The vendor's count plus an estimate of later messages; an estimate of all where the vendor does not count. */
function sizeOf({ measured, messages }: History, overhead: () => number): number {
  return measured === undefined ? overhead() + estimate(messages) : measured.tokens + estimate(messages.slice(measured.messages));
}
