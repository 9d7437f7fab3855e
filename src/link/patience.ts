/** How long a driven agent may take: to be ready, to say its first word, to leave. What becomes of one that takes longer is its caller's. */
import { timerMs } from "../core/limits.js";
import type { Dialect } from "../dialects/dialect.js";
import type { ConnectOptions } from "./options.js";

/** Seconds until an agent that is started for a session must be ready: generous, because a first start may fetch things. */
const READY_SECONDS = 60;
/** How long an agent that was told to leave may take before it is made to. */
const LEAVE_SECONDS = 5;
const EXIT_SECONDS = 5;

/** What it can be waited for. */
type Awaited = "ready" | "words" | "exit" | "leave";

export class Patience {
  readonly #readySeconds: number;
  readonly #exitSeconds: number;
  readonly #quietSeconds: number | undefined;
  readonly #timers = new Map<Awaited, NodeJS.Timeout>();

  constructor(dialect: Dialect, options: ConnectOptions) {
    this.#readySeconds = options.readySeconds ?? READY_SECONDS;
    this.#exitSeconds = options.exitSeconds ?? EXIT_SECONDS;
    this.#quietSeconds = options.quietSeconds ?? dialect.quietSeconds;
  }

  forReady(giveUp: (verdict: string) => void): void {
    const verdict = `The agent was not ready after ${this.#readySeconds} s and was ended`;
    this.#wait("ready", this.#readySeconds, () => giveUp(verdict));
  }

  /** Some wires need none. */
  forWords(quiet: () => void): void {
    if (this.#quietSeconds !== undefined) this.#wait("words", this.#quietSeconds, quiet);
  }

  forExit(giveUp: (verdict: string) => void): void {
    const verdict = `The agent closed its output, did not exit within ${this.#exitSeconds} s, and was ended`;
    this.#wait("exit", this.#exitSeconds, () => giveUp(verdict));
  }

  forLeave(giveUp: () => void): void {
    if (!this.#timers.has("leave")) this.#wait("leave", LEAVE_SECONDS, giveUp);
  }

  /** It came, or does not matter any more. */
  over(...awaited: Awaited[]): void {
    for (const what of awaited) {
      clearTimeout(this.#timers.get(what));
      this.#timers.delete(what);
    }
  }

  #wait(what: Awaited, seconds: number, then: () => void): void {
    this.over(what);
    this.#timers.set(what, setTimeout(then, timerMs(seconds)));
  }
}
