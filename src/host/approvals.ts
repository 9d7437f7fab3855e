/** Approvals by a function: each call that must be approved is put to it, and its answer goes to the agent. */
import { messageOf } from "../core/errors.js";
import type { Call, Event } from "../core/event.js";
import type { Answer } from "../core/op.js";

/** An answer to a call; `grant` lets it cover more than this call, `args` replaces the arguments, `reason` is told to the model. */
export type Decision = "allow" | "deny" | Omit<Answer, "call">;

/**
 * Decides about a call: an answer for all of them, or a function. The signal is aborted when the call is settled otherwise. An error
 * of the function denies the call.
 *
 * @example
 * const approve = async (call) => (call.category === "edit" ? "allow" : { decision: "deny", reason: "only edits" });
 */
export type Approve = "allow" | "deny" | ((call: Call, context: { signal: AbortSignal }) => Decision | Promise<Decision>);

export class Approvals {
  readonly #approve: Approve;
  readonly #answer: (answers: Answer[]) => Promise<void>;
  readonly #open = new Map<string, AbortController>();

  constructor(approve: Approve, answer: (answers: Answer[]) => Promise<void>) {
    this.#approve = approve;
    this.#answer = answer;
  }

  follow(event: Event): void {
    if (event.type === "tool.started" || event.type === "tool.ended" || event.type === "approval.settled") this.#settle(event.call);
    if (event.type === "turn.ended" || event.type === "closed") for (const call of this.#open.keys()) this.#settle(call);
    if (event.type === "approval.requested" && event.replay !== true) for (const call of event.calls) void this.#decide(call);
  }

  async #decide(call: Call): Promise<void> {
    const controller = new AbortController();
    this.#open.set(call.id, controller);
    const decision = await this.#decision(call, controller.signal);
    if (!this.#open.delete(call.id)) return;
    const answer = typeof decision === "string" ? { decision } : decision;
    await this.#answer([{ call: call.id, ...answer }]);
  }

  async #decision(call: Call, signal: AbortSignal): Promise<Decision> {
    if (typeof this.#approve === "string") return this.#approve;
    try {
      return await this.#approve(call, { signal });
    } catch (error) {
      return { decision: "deny", reason: `nobody could be asked: ${messageOf(error)}` };
    }
  }

  #settle(call: string): void {
    this.#open.get(call)?.abort();
    this.#open.delete(call);
  }
}
