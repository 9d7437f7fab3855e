/** The changes of a session, one behind the other: a prompt waits behind a change of the model; interrupts and answers do not. */
import { toFault } from "../../core/errors.js";
import type { Op } from "../../core/op.js";
import type { SessionEvents } from "./session-events.js";

export class ChangeOrder {
  readonly #events: SessionEvents;
  /** The last change; done when all changes before it are. */
  #last: Promise<void> | undefined;

  constructor(events: SessionEvents) {
    this.#events = events;
  }

  get isBusy(): boolean {
    return this.#last !== undefined;
  }

  /** Resolves when all changes so far are done. */
  get settled(): Promise<void> {
    return this.#last ?? Promise.resolve();
  }

  /** Does the work of the op when all changes before it are done; a failure is the op's refusal. */
  behind(op: Op, work: () => Promise<void> | undefined): undefined {
    const done = this.settled.then(work).catch((error: unknown) => this.#events.refuse(op, toFault(error)));
    this.#last = done;
    void done.finally(() => {
      if (this.#last === done) this.#last = undefined;
    });
    return undefined;
  }
}
