/**
 * A queue with one reader, bounded by weight. `push` always takes the item; over the bound it returns a promise
 * that settles when the reader has caught up, and the producer waits for it. No item is ever dropped.
 */

/** The number of unread control items (replies, pongs) that may pass the bound before their producers wait, too. */
export const CONTROL_LIMIT = 1024;

interface Entry<T> {
  item: T;
  weight: number;
  /** The kind of a control item; undefined for any other item. */
  control: string | undefined;
}

export class Queue<T> implements AsyncIterable<T> {
  readonly #limit: number;
  readonly #weigh: (item: T) => number;
  /** Read items are removed at once, so that they can be freed. */
  #entries: (Entry<T> | undefined)[] = [];
  #head = 0;
  #weight = 0;
  #control = 0;
  /** Unread control items by kind. */
  readonly #kinds = new Map<string, number>();
  #ended = false;
  /** Whether producers wait for the reader. */
  #isBound = true;
  #reader: ((result: IteratorResult<T, undefined>) => void) | undefined;
  /** Producers that wait for the bound, and those that wait for the bound of control items. */
  #room: (() => void)[] = [];
  #controlRoom: (() => void)[] = [];

  constructor(limit: number, weigh: (item: T) => number) {
    this.#limit = limit;
    this.#weigh = weigh;
  }

  /** Returns undefined if there is room for more, else a promise to wait for before the next push. */
  push(item: T): Promise<void> | undefined {
    if (this.#hand(item)) return undefined;
    this.#keep(item, this.#weigh(item), undefined);
    return this.#weight > this.#limit && this.#isBound ? until(this.#room) : undefined;
  }

  /** For control items: they pass the bound, so that an interrupt or a ping is answered behind a full queue. */
  pushControl(item: T, kind = ""): Promise<void> | undefined {
    if (this.#hand(item)) return undefined;
    this.#keep(item, 0, kind);
    return this.#control > CONTROL_LIMIT && this.#isBound ? until(this.#controlRoom) : undefined;
  }

  /** Whether an unread control item of this kind waits while the control bound is passed; an equal one would add nothing. */
  holdsControl(kind: string): boolean {
    return this.#control >= CONTROL_LIMIT && (this.#kinds.get(kind) ?? 0) > 0;
  }

  /** Stops making producers wait: the few remaining items must not wait for a reader who is gone. */
  unbound(): void {
    this.#isBound = false;
    wake(this.#room);
    wake(this.#controlRoom);
  }

  /** Takes no more items; the reader gets the rest and then the end. */
  end(): void {
    this.#ended = true;
    this.unbound();
    this.#reader?.({ done: true, value: undefined });
    this.#reader = undefined;
  }

  get ended(): boolean {
    return this.#ended;
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    return { next: () => this.#next() };
  }

  /** Hands an item to the waiting reader; after the end it is dropped. */
  #hand(item: T): boolean {
    if (this.#ended) return true;
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.({ done: false, value: item });
    return reader !== undefined;
  }

  #keep(item: T, weight: number, control: string | undefined): void {
    this.#entries.push({ item, weight, control });
    this.#weight += weight;
    if (control !== undefined) this.#countControl(control, 1);
  }

  #countControl(kind: string, by: 1 | -1): void {
    this.#control += by;
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + by);
  }

  #next(): Promise<IteratorResult<T, undefined>> {
    const entry = this.#entries[this.#head];
    if (entry === undefined) {
      if (this.#ended) return Promise.resolve({ done: true, value: undefined });
      return new Promise((resolve) => {
        this.#reader = resolve;
      });
    }
    this.#entries[this.#head++] = undefined;
    this.#weight -= entry.weight;
    if (entry.control !== undefined) this.#countControl(entry.control, -1);
    if (this.#head === this.#entries.length) {
      this.#entries = [];
      this.#head = 0;
    } else if (this.#head >= 1024 && this.#head * 2 >= this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    if (this.#weight <= this.#limit) wake(this.#room);
    if (this.#control <= CONTROL_LIMIT) wake(this.#controlRoom);
    return Promise.resolve({ done: false, value: entry.item });
  }
}

function until(room: (() => void)[]): Promise<void> {
  return new Promise((resolve) => room.push(resolve));
}

function wake(room: (() => void)[]): void {
  if (room.length === 0) return;
  for (const resolve of room.splice(0)) resolve();
}

/** The approximate size of a value on a wire, in bytes; exact enough to bound memory. */
export function roughSize(value: unknown): number {
  if (typeof value === "string") return value.length + 8;
  if (typeof value !== "object" || value === null) return 8;
  let size = 16;
  if (Array.isArray(value)) {
    for (const item of value) size += roughSize(item);
    return size;
  }
  for (const key of Object.keys(value)) size += key.length;
  for (const item of Object.values(value)) size += roughSize(item);
  return size;
}
