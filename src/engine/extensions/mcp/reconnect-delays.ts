/** Decides when a lost server is tried again: at once, then later and later, and not for ever. */
import { setTimeout as delay } from "node:timers/promises";

/** Before each try. */
const DELAYS_MS = [0, 500, 2000];
/** A server that was connected for this long gets all tries again. */
const STEADY_MS = 60_000;

export class ReconnectDelays {
  #tries = 0;
  #readyAt: number | undefined;

  /** The server is connected. */
  ready(): void {
    this.#readyAt = Date.now();
  }

  /** Waits for the next try; false when there is none. */
  async due(signal: AbortSignal): Promise<boolean> {
    if (this.#readyAt !== undefined && Date.now() - this.#readyAt >= STEADY_MS) this.#tries = 0;
    this.#readyAt = undefined;
    const wait = DELAYS_MS[this.#tries++];
    if (wait === undefined) return false;
    await delay(wait, undefined, { signal }).catch(() => {});
    return !signal.aborted;
  }
}
