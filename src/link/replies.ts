/** Answers that a driven agent owes at once. The link gives a late answer itself, and drops the agent's own. */
import { timerMs } from "../core/limits.js";
import type { Event, EventOf } from "../core/event.js";
import type { Op } from "../core/op.js";
import type { Dialect } from "../dialects/dialect.js";
import { refusal } from "./unanswered.js";

/** Bounds the memory for an agent that never answers. */
const REMEMBERED = 1024;

export class Replies {
  readonly #owed: ReadonlySet<string>;
  readonly #seconds: number;
  readonly #refuse: (reply: EventOf<"reply">) => void;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** Ops that the link refused because of a late answer. */
  readonly #late = new Set<string>();

  constructor(owed: Dialect["replies"], seconds: number | undefined, refuse: (reply: EventOf<"reply">) => void) {
    this.#owed = new Set(owed?.to);
    this.#seconds = seconds ?? owed?.within ?? 0;
    this.#refuse = refuse;
  }

  /** Starts the clock of an op that goes out. */
  sent(op: Op): void {
    const what = nameOf(op);
    if (op.id === undefined || !this.#owed.has(what)) return;
    const { id } = op;
    const timer = setTimeout(() => this.#expire(op, id, what), timerMs(this.#seconds));
    this.#timers.set(id, timer);
  }

  /** Returns the events to emit: a late reply is dropped, a late `session.updated` is still emitted. */
  event(event: Event): Event | undefined {
    const { parent } = event;
    if (parent === undefined) return event;
    if (event.type !== "reply" && event.type !== "session.updated" && event.type !== "turn.started") return event;
    if (event.type === "reply" && event.status === "loading") return this.#late.has(parent) ? undefined : event;
    clearTimeout(this.#timers.get(parent));
    this.#timers.delete(parent);
    if (!this.#late.delete(parent) || event.type === "turn.started") return event;
    if (event.type === "reply") return undefined;
    const { parent: _late, ...news } = event;
    return news;
  }

  clear(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  #expire(op: Op, id: string, what: string): void {
    const message = `The agent did not answer ${what} within ${this.#seconds} s`;
    this.#refuse(refusal(op, { code: "timeout", message, retryable: true }));
    this.#late.add(id);
    const [oldest] = this.#late;
    if (this.#late.size > REMEMBERED && oldest !== undefined) this.#late.delete(oldest);
  }
}

function nameOf(op: Op): string {
  return op.type === "turn.prompt" && op.continues === true ? "turn.prompt continues" : op.type;
}
