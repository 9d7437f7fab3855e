/** The link's own deadline on approvals of driven agents: every pending one has an owner, a deadline and a default, deny. */
import type { Event } from "../core/event.js";
import type { Op } from "../core/op.js";

export class Deadlines {
  readonly #seconds: number;
  readonly #answer: (op: Op) => void;
  readonly #pending = new Map<string, { timer: NodeJS.Timeout; session: string | undefined }>();

  constructor(seconds: number, answer: (op: Op) => void) {
    this.#seconds = seconds;
    this.#answer = answer;
  }

  event(event: Event): void {
    if (event.type === "tool.started" || event.type === "tool.ended") this.#settle(event.call);
    if (event.type === "approval.requested") for (const call of event.calls) this.#start(call.id, event.session);
  }

  op(op: Op): void {
    if (op.type === "approval.answer") for (const answer of op.answers) this.#settle(answer.call);
  }

  /** Nobody can answer any more. */
  denyAll(reason: string): void {
    for (const [call, { session }] of this.#pending) this.#deny(call, session, reason);
  }

  clear(): void {
    for (const call of this.#pending.keys()) this.#settle(call);
  }

  #start(call: string, session: string | undefined): void {
    if (this.#pending.has(call)) return;
    const expire = (): void => this.#deny(call, session, `approval timed out after ${this.#seconds} s`);
    this.#pending.set(call, { timer: setTimeout(expire, this.#seconds * 1000), session });
  }

  #deny(call: string, session: string | undefined, reason: string): void {
    this.#answer({ type: "approval.answer", ...(session !== undefined && { session }), answers: [{ call, decision: "deny", reason }] });
  }

  #settle(call: string): void {
    clearTimeout(this.#pending.get(call)?.timer);
    this.#pending.delete(call);
  }
}
