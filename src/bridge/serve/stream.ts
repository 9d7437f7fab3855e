/** The pieces of a streamed answer. While the chat is busy, pieces are joined in order; none is lost. */

/** The most text that is held for a slow chat; above it the agent waits. */
const HELD = 64 * 1024;

export interface StreamOptions {
  /** Resolves when the chat accepts more. */
  quiet(): Promise<void>;
  tell(text: string): void;
  /** The turn was cut short: the agent is no longer held back. */
  signal: AbortSignal;
}

export class Stream {
  readonly #options: StreamOptions;
  #held = "";
  #pumping = false;
  #finished = false;
  #waiters: (() => void)[] = [];
  readonly #release = (): void => {
    for (const resolve of this.#waiters.splice(0)) resolve();
  };

  constructor(options: StreamOptions) {
    this.#options = options;
    options.signal.addEventListener("abort", this.#release, { once: true });
  }

  push(text: string): Promise<void> | undefined {
    if (this.#finished) return undefined;
    this.#held += text;
    if (!this.#pumping) void this.#pump();
    if (this.#held.length <= HELD || this.#options.signal.aborted) return undefined;
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Returns the held text that is ready, for a caller that sends another message behind it. */
  flush(): string {
    return this.#take(ready(this.#held));
  }

  /** Returns the unsent text, and ends the stream. */
  finish(): string {
    this.#finished = true;
    this.#options.signal.removeEventListener("abort", this.#release);
    return this.#take(this.#held.length);
  }

  async #pump(): Promise<void> {
    this.#pumping = true;
    // Pieces of one burst become one message.
    await Promise.resolve();
    while (ready(this.#held) > 0) {
      await this.#options.quiet();
      const end = ready(this.#held);
      if (end > 0) this.#options.tell(this.#take(end));
    }
    this.#pumping = false;
  }

  #take(end: number): string {
    const taken = this.#held.slice(0, end);
    this.#held = this.#held.slice(end);
    this.#release();
    return taken;
  }
}

/** The length of text that can be sent now: 0 while it is blank, and never half a character. */
function ready(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  const whole = last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
  return whole.trim() === "" ? 0 : whole.length;
}
