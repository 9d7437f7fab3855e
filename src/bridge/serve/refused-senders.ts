/** Limits refusals to people who may not talk: a stranger must not make the bridge send without end. */

const AGAIN_MS = 3_600_000;
const REMEMBERED = 1000;

/** The entries of an allow-list; "*" is everybody. */
export type Senders = ReadonlySet<string>;

export function isAllowed(senders: Senders, from: string): boolean {
  return senders.has(from) || senders.has("*");
}

export class RefusedSenders {
  readonly #told = new Map<string, number>();

  /** Whether the stranger got no refusal within the last hour. */
  isNew(platform: string, from: string): boolean {
    const key = `${platform}/${from}`;
    const last = this.#told.get(key);
    if (last !== undefined && Date.now() - last < AGAIN_MS) return false;
    this.#told.delete(key);
    const [oldest] = this.#told.keys();
    if (this.#told.size >= REMEMBERED && oldest !== undefined) this.#told.delete(oldest);
    this.#told.set(key, Date.now());
    return true;
  }
}
