/** The time limits of a driven agent: until it is ready, says its first word, stops a turn, and exits. The caller decides about an agent that is late. */
import { timerMs } from "../core/limits.js";
import type { Dialect } from "../dialects/dialect.js";
import type { ConnectOptions } from "./options.js";

/** Seconds until an agent that is started for a session must be ready: generous, because a first start may download files. */
const READY_SECONDS = 60;
/** Seconds until an interrupted turn must have ended: it may have to wait for its own processes. */
const STOP_SECONDS = 30;
/** Seconds until an agent that was told to leave must have exited; then it is ended. */
const LEAVE_SECONDS = 5;
const EXIT_SECONDS = 5;

/** The steps that have a time limit. */
type Awaited = "ready" | "words" | "stop" | "exit" | "leave";

export class AgentTimeouts {
  readonly #readySeconds: number;
  readonly #stopSeconds: number;
  readonly #exitSeconds: number;
  readonly #quietSeconds: number | undefined;
  readonly #timers = new Map<Awaited, NodeJS.Timeout>();

  constructor(dialect: Dialect, options: ConnectOptions) {
    this.#readySeconds = options.readySeconds ?? READY_SECONDS;
    this.#stopSeconds = options.stopSeconds ?? STOP_SECONDS;
    this.#exitSeconds = options.exitSeconds ?? EXIT_SECONDS;
    this.#quietSeconds = options.quietSeconds ?? dialect.quietSeconds;
  }

  forReady(giveUp: (verdict: string) => void): void {
    const verdict = `The agent was not ready after ${this.#readySeconds} s and was ended`;
    this.#wait("ready", this.#readySeconds, () => giveUp(verdict));
  }

  /** Some wires have no such step. */
  forWords(quiet: () => void): void {
    if (this.#quietSeconds !== undefined) this.#wait("words", this.#quietSeconds, quiet);
  }

  /** A second interrupt does not extend the limit. */
  forStop(giveUp: (verdict: string) => void): void {
    const verdict = `The agent did not stop within ${this.#stopSeconds} s and was ended`;
    if (!this.#timers.has("stop")) this.#wait("stop", this.#stopSeconds, () => giveUp(verdict));
  }

  forExit(giveUp: (verdict: string) => void): void {
    const verdict = `The agent closed its output, did not exit within ${this.#exitSeconds} s, and was ended`;
    this.#wait("exit", this.#exitSeconds, () => giveUp(verdict));
  }

  forLeave(giveUp: () => void): void {
    if (!this.#timers.has("leave")) this.#wait("leave", LEAVE_SECONDS, giveUp);
  }

  /** Stops the clock of a step that was reached or is no longer needed. */
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
