/** Pings a driven agent while it works. An agent that is silent for too long is given up. */
import type { Event } from "../core/event.js";
import { timerMs } from "../core/limits.js";
import type { OpOf } from "../core/op.js";
import type { Dialect } from "../dialects/dialect.js";
import { sideEnv } from "./stamp.js";

export type Rhythm = NonNullable<Dialect["heartbeat"]>;

export class Heartbeat {
  readonly #rhythm: Rhythm;
  readonly #ask: (op: OpOf<"ping">) => void;
  readonly #giveUp: () => void;
  readonly #asked = new Set<string>();
  #beat: NodeJS.Timeout | undefined;
  #limit: NodeJS.Timeout | undefined;
  /** Earlier records of the agent are still being handled, so its later ones are unread: that is not silence. */
  #busy = false;

  constructor(rhythm: Rhythm, ask: (op: OpOf<"ping">) => void, giveUp: () => void) {
    this.#rhythm = rhythm;
    this.#ask = ask;
    this.#giveUp = giveUp;
  }

  /** Whether the agent has work. */
  work(has: boolean): void {
    if (!has) return this.stop();
    if (this.#beat !== undefined) return;
    this.#beat = setInterval(() => this.#question(), timerMs(this.#rhythm.every));
    this.#expect();
  }

  /** Any record shows that the agent lives; `done` settles when we have handled it. */
  heard(done: boolean): void {
    this.#busy = !done;
    if (this.#beat !== undefined) this.#expect();
  }

  /** Answers to the heartbeat's own pings go no further. */
  isOwn(event: Event): boolean {
    return event.type === "reply" && event.to === "ping" && this.#asked.delete(event.parent ?? "");
  }

  stop(): void {
    clearInterval(this.#beat);
    clearTimeout(this.#limit);
    this.#beat = undefined;
  }

  #question(): void {
    const { id } = sideEnv.stamp();
    this.#asked.add(id);
    this.#ask({ type: "ping", id });
  }

  #expect(): void {
    clearTimeout(this.#limit);
    this.#limit = setTimeout(() => (this.#busy ? this.#expect() : this.#giveUp()), timerMs(this.#rhythm.within));
  }
}
