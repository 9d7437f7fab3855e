/** The link's own deadline on approvals of driven agents: every pending one has an owner, a deadline and a default, deny. */
import type { Event } from "../core/event.js";
import type { Op } from "../core/op.js";

export class Deadlines {
  readonly #seconds: number;
  readonly #answer: (op: Op) => void;
  readonly #timers = new Map<string, NodeJS.Timeout>();

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

  clear(): void {
    for (const call of this.#timers.keys()) this.#settle(call);
  }

  #start(call: string, session: string | undefined): void {
    if (this.#timers.has(call)) return;
    const reason = `approval timed out after ${this.#seconds} s`;
    const deny = (): void =>
      this.#answer({ type: "approval.answer", ...(session !== undefined && { session }), answers: [{ call, decision: "deny", reason }] });
    this.#timers.set(call, setTimeout(deny, this.#seconds * 1000));
  }

  #settle(call: string): void {
    clearTimeout(this.#timers.get(call));
    this.#timers.delete(call);
  }
}
