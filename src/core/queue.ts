/**
 * A queue with one reader, bounded by weight. `push` always takes the item; when the queue is over its bound it answers with a promise
 * that settles once the reader has caught up, and the producer waits for it. Nothing is ever dropped.
 */

/** Unread control items (replies, pongs) that pass the bound before their producers wait too. */
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
  /** Read ones are taken out at once, so that nothing keeps them alive. */
  #entries: (Entry<T> | undefined)[] = [];
  #head = 0;
  #weight = 0;
  #control = 0;
  /** Unread control items, by kind. */
  readonly #kinds = new Map<string, number>();
  #ended = false;
  /** Producers wait for the reader. */
  #isBound = true;
  #reader: ((result: IteratorResult<T, undefined>) => void) | undefined;
  /** Producers that wait for the bound, and those that wait for the bound of control. */
  #room: (() => void)[] = [];
  #controlRoom: (() => void)[] = [];

  constructor(limit: number, weigh: (item: T) => number) {
    this.#limit = limit;
    this.#weigh = weigh;
  }

  /** Undefined: there is room for more. A promise: wait for it before the next push. */
  push(item: T): Promise<void> | undefined {
    if (this.#hand(item)) return undefined;
    this.#keep(item, this.#weigh(item), undefined);
    return this.#weight > this.#limit && this.#isBound ? until(this.#room) : undefined;
  }

  /** For replies to control: they pass the bound, so that an interrupt or a ping is answered behind a full queue. */
  pushControl(item: T, kind = ""): Promise<void> | undefined {
    if (this.#hand(item)) return undefined;
    this.#keep(item, 0, kind);
    return this.#control > CONTROL_LIMIT && this.#isBound ? until(this.#controlRoom) : undefined;
  }

  /** Whether an unread control item of this kind waits while the control bound is passed: then an equal one says nothing new. */
  holdsControl(kind: string): boolean {
    return this.#control >= CONTROL_LIMIT && (this.#kinds.get(kind) ?? 0) > 0;
  }

  /** Nobody waits for the reader any more: what still comes is little, and must not wait for ever. */
  unbound(): void {
    this.#isBound = false;
    wake(this.#room);
    wake(this.#controlRoom);
  }

  /** No more items; the reader gets what is left and then the end. */
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

  /** To a reader that waits for it; after the end, to nobody. */
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

/** About how many bytes a value would take on a wire; exact enough to bound memory. */
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
