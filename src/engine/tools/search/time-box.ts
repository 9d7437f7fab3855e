/** Matching that may never end: somebody else's pattern can keep a regular expression busy for ages, and nothing else runs meanwhile. */
import { createContext, Script } from "node:vm";

/** Long for what is meant to end, short for who waits to interrupt. */
const MATCH_MS = 1000;

export class TimeBox {
  readonly #box = { work: (): void => undefined };
  // Only the run of a script can be broken off, and what it calls with it.
  readonly #context = createContext({ box: this.#box });
  readonly #script = new Script("box.work()");
  readonly #ms: number;

  /** For each run by itself. */
  constructor(ms = MATCH_MS) {
    this.#ms = ms;
  }

  /** Undefined when it was broken off. */
  run<T>(work: () => T): { done: T } | undefined {
    let result: (() => { done: T }) | undefined;
    this.#box.work = () => {
      result = outcomeOf(work);
    };
    try {
      this.#script.runInContext(this.#context, { timeout: this.#ms });
    } catch {
      // Nothing but the end of the time comes here; the error for it belongs to the script's own world.
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
