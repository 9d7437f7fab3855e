/** One request and its response, with the tries that it takes: in the history at the end, unless it is dropped. */
import { addUsage } from "../../core/usage.js";
import { costed } from "../models/prices.js";
import { streamWithRetries } from "../models/retry.js";
import { windowOf } from "./compaction/compaction.js";
import { untilAborted } from "./interrupt.js";
import { requestIn } from "./plan-mode.js";
import { Response } from "./response.js";
import type { Turn } from "./turn.js";
import type { TracedSpan } from "../trace/trace.js";

export class Exchange {
  response: Response;
  readonly #turn: Turn;
  readonly #span: TracedSpan | undefined;

  constructor(turn: Turn) {
    this.#turn = turn;
    this.#span = turn.signal.aborted ? undefined : turn.trace?.modelCall(turn.model, turn.request);
    this.response = new Response(turn);
  }

  async receive(): Promise<void> {
    await untilAborted(this.#turn.signal, this.#receive());
  }

  /** Nothing more is taken. A whole answer is kept at once; of one that failed the calls never ran, and go. */
  async end(failure?: unknown): Promise<void> {
    if (failure !== undefined) this.response.dropCalls();
    this.response.seal();
    this.#span?.endModelCall({ finish: this.response.finish, usage: this.response.usage, error: failure });
    if (failure === undefined) this.keep();
    await this.#report();
  }

  /** Adds the model's answer to the conversation, also one that was cut off. */
  keep(): void {
    const { history } = this.#turn;
    if (this.response.blocks.length > 0) history.push({ role: "assistant", blocks: this.response.blocks });
    if (this.response.usage !== undefined) history.measured = { tokens: this.#used(), messages: history.messages.length };
  }

  /** Nothing of it stays in the conversation: the model is asked again. */
  async drop(): Promise<void> {
    if (!this.response.started) return;
    const text = "What came of the answer is dropped: it is asked for again";
    await this.#turn.emit({ type: "notice", level: "info", text, kind: "dropped", data: { dropped: true } });
  }

  async #receive(): Promise<void> {
    const turn = this.#turn;
    const offered = requestIn(turn.session.permissions.mode, turn.request, turn.model, turn.tools);
    const request = { ...offered, messages: turn.history.messages, traceparent: this.#span?.traceparent };
    const parts = streamWithRetries(turn.model, request, turn.signal, {
      started: () => this.response.started,
      restart: () => this.#restart(),
      hasFallback: turn.fallenBack < turn.fallbacks.length,
      onRetry: (text, data) => {
        this.#span?.retried();
        void turn.emit({ type: "notice", level: "warning", text, kind: "retry", data });
      },
    });
    for await (const batch of parts) {
      for (const part of batch) {
        if (turn.signal.aborted) return;
        const full = part.type === "note" ? this.#note(part.text) : this.response.take(part);
        if (full !== undefined) await full;
      }
    }
  }

  /** The next try is an answer of its own; the failed one has been paid for. */
  async #restart(): Promise<void> {
    this.response.seal();
    await this.#report();
    this.response = new Response(this.#turn);
  }

  /** Said once: the same holds for every request of the session. */
  #note(text: string): Promise<void> | undefined {
    const { notes } = this.#turn.session;
    if (notes.has(text)) return undefined;
    notes.add(text);
    return this.#turn.emit({ type: "notice", level: "warning", text, kind: "model" });
  }

  async #report(): Promise<void> {
    const { usage } = this.response;
    if (usage === undefined) return;
    this.#turn.used.total = addUsage(this.#turn.used.total, usage);
    const limit = windowOf(this.#turn.config, this.#turn.model);
    await this.#turn.emit({
      type: "usage",
      scope: "call",
      ...costed(this.#turn.model.id, usage, this.#turn.model.prices),
      ...(limit !== undefined && { context: { used: this.#used(), limit } }),
    });
  }

  #used(): number {
    const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 } = this.response.usage ?? {};
    return input + cacheRead + cacheWrite + output + reasoning;
  }
}
