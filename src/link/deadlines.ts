/** The link's deadline for approvals of driven agents: every pending one has an owner, a deadline and a default, deny. */
import type { Event } from "../core/event.js";
import { timerMs } from "../core/limits.js";
import type { Op, OpOf } from "../core/op.js";

interface Pending {
  call: string;
  session: string | undefined;
  timer: NodeJS.Timeout;
}

export class Deadlines {
  readonly #seconds: number;
  readonly #answer: (op: OpOf<"approval.answer">) => void;
  /** The deadline that each opener asked for, by session. */
  readonly #asked = new Map<string, number>();
  /** Sessions that the host attached to: their owner keeps the deadline for all hosts. */
  readonly #attached = new Set<string>();
  readonly #pending = new Set<Pending>();

  constructor(seconds: number, answer: (op: OpOf<"approval.answer">) => void) {
    this.#seconds = seconds;
    this.#answer = answer;
  }

  event(event: Event): void {
    if (event.type === "tool.started" || event.type === "tool.ended") this.#settle(event.session, event.call);
    if (event.type === "session.ended") this.#asked.delete(event.session ?? "");
    if (event.type === "session.ended") this.#attached.delete(event.session ?? "");
    if (event.type === "approval.requested") for (const call of event.calls) this.#start(call.id, event.session);
  }

  op(op: Op): void {
    if (op.type === "session.open" && op.open === "attach") this.#attached.add(op.session);
    if (op.type === "approval.answer") for (const answer of op.answers) this.#settle(op.session, answer.call);
    const config = op.type === "session.open" ? op.config : op.type === "session.configure" ? op.patch : undefined;
    if (config?.answerSeconds !== undefined) this.#asked.set(op.session ?? "", config.answerSeconds);
  }

  /** Denies each pending approval. */
  deny(reason: string): void {
    for (const pending of this.#pending) this.#deny(pending, reason);
  }

  clear(): void {
    for (const pending of this.#pending) this.#drop(pending);
  }

  #start(call: string, session: string | undefined): void {
    if (this.#find(session, call) !== undefined || this.#attached.has(session ?? "")) return;
    const seconds = this.#asked.get(session ?? "") ?? this.#seconds;
    const timer = setTimeout(() => this.#deny(pending, `approval timed out after ${seconds} s`), timerMs(seconds));
    const pending: Pending = { call, session, timer };
    this.#pending.add(pending);
  }

  #deny(pending: Pending, reason: string): void {
    this.#drop(pending);
    const { call, session } = pending;
    this.#answer({ type: "approval.answer", ...(session !== undefined && { session }), answers: [{ call, decision: "deny", reason }] });
  }

  #settle(session: string | undefined, call: string): void {
    const pending = this.#find(session, call);
    if (pending !== undefined) this.#drop(pending);
  }

  /** Calls of two sessions may have the same id; an answer without a session matches the call in any session. */
  #find(session: string | undefined, call: string): Pending | undefined {
    return [...this.#pending].find((pending) => pending.call === call && (session === undefined || pending.session === session));
  }

  #drop(pending: Pending): void {
    clearTimeout(pending.timer);
    this.#pending.delete(pending);
  }
}
