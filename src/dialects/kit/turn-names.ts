/** Names for the turns that an agent begins: an id that its wire uses again gets a number, because a turn is named once. */

/** An agent may use an id again in a new process, but hardly within one: that many ids are remembered. */
const REMEMBERED = 1024;

export class TurnNames {
  /** How often each id was used, the oldest first. */
  readonly #used = new Map<string, number>();

  of(wireId: string): string {
    const nth = (this.#used.get(wireId) ?? 0) + 1;
    this.#used.set(wireId, nth);
    const oldest = this.#used.size > REMEMBERED ? this.#used.keys().next().value : undefined;
    if (oldest !== undefined) this.#used.delete(oldest);
    return nth === 1 ? wireId : `${wireId}#${nth}`;
  }

  clear(): void {
    this.#used.clear();
  }
}
