/**
 * Waits for approvals. Every pending approval has an owner (its call), a deadline, a default (deny) and an answer that counts once; a stop
 * voids the approval first, and a late answer does nothing.
 */
import { timerMs } from "../../core/limits.js";
import type { Answer } from "../../core/op.js";

interface Pending {
  settle: (answer: Answer) => void;
}

/** Holds the approvals that wait for the host. */
export class PendingApprovals {
  readonly #pending = new Map<string, Pending>();
  readonly #settled = new Set<string>();
  #closed: string | undefined;

  /** Resolves with the host's answer, or with a denial at the deadline, at a void, or when the host can no longer answer. */
  wait(call: string, seconds: number): Promise<Answer> {
    if (this.#closed !== undefined) return Promise.resolve(denial(call, this.#closed));
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#settle(denial(call, `approval timed out after ${seconds} s`)), timerMs(seconds));
      this.#pending.set(call, {
        settle: (answer) => {
          clearTimeout(timer);
          resolve(answer);
        },
      });
    });
  }

  /** `settled`: an earlier answer counted, this one has no effect. `unknown`: there is no approval for such a call. */
  answer(answer: Answer): "taken" | "settled" | "unknown" {
    if (this.#settle(answer)) return "taken";
    return this.#settled.has(answer.call) ? "settled" : "unknown";
  }

  /** Denies every call that waits now. */
  void(reason: string): void {
    for (const call of this.#pending.keys()) this.#settle(denial(call, reason));
  }

  /** The host can no longer answer: waiting calls are denied, and so are later ones. */
  close(reason: string): void {
    this.#closed = reason;
    this.void(reason);
  }

  #settle(answer: Answer): boolean {
    const pending = this.#pending.get(answer.call);
    if (pending === undefined) return false;
    this.#pending.delete(answer.call);
    this.#settled.add(answer.call);
    pending.settle(answer);
    return true;
  }
}

function denial(call: string, reason: string): Answer {
  return { call, decision: "deny", reason };
}
