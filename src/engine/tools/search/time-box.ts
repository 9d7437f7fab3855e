/** Limits the time of a match: a foreign pattern can keep a regular expression busy for ages, and nothing else runs meanwhile. */
import { createContext, Script } from "node:vm";

/** Long enough for a sane pattern, short enough for a user who wants to interrupt. */
const MATCH_MS = 1000;

export class TimeBox {
  readonly #box = { work: (): void => undefined };
  // Only the run of a script can be broken off, together with the functions that it calls.
  readonly #context = createContext({ box: this.#box });
  readonly #script = new Script("box.work()");
  readonly #ms: number;

  /** The limit counts for each run by itself. */
  constructor(ms = MATCH_MS) {
    this.#ms = ms;
  }

  /** Undefined when the match was broken off. */
  run<T>(work: () => T): { done: T } | undefined {
    let result: (() => { done: T }) | undefined;
    this.#box.work = () => {
      result = outcomeOf(work);
    };
    try {
      this.#script.runInContext(this.#context, { timeout: this.#ms });
    } catch {
      // Only the timeout is thrown here; its error class belongs to the script's own realm.
      return undefined;
    }
    return result?.();
  }
}

function outcomeOf<T>(work: () => T): () => { done: T } {
  try {
    const done = work();
    return () => ({ done });
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
