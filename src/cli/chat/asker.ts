/** One question at a terminal. */
import type { Interface } from "node:readline/promises";

export interface Asker {
  /** Undefined when the question was withdrawn or the terminal is closed. */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
}

export function asker(terminal: Interface): Asker {
  const closed = new AbortController();
  terminal.once("close", () => closed.abort());
  return {
    ask: async (question, withdrawn) => {
      if (closed.signal.aborted) return undefined;
      const signal = AbortSignal.any([withdrawn, closed.signal]);
      try {
        return await terminal.question(question, { signal });
      } catch (error) {
        if (signal.aborted) return undefined;
        throw error;
      }
    },
  };
}
