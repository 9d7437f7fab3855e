/**
 * The queue between one producer and one reader of a stream: chunks that wait for reads, or reads that wait for chunks. The producer is
 * asked only when a read waits, and not again before it has answered.
 */

export type ReadResult<T> = { done: false; value: T } | { done: true; value: undefined };

export interface Producer {
  /** Asks for chunks, or the end. A promise settles when the producer is done. */
  pull(): unknown;
  cancel(reason: unknown): unknown;
}

/** A read takes its part when there are chunks. */
interface Waiting {
  serve(): void;
  reject(error: unknown): void;
}

export class Flow<T> {
  readonly #producer: Producer;
  /** The chunks before `#next` have been read. */
  #chunks: T[] = [];
  #next = 0;
  #state: "open" | "closing" | "closed" | "failed" = "open";
  #error: unknown;
  #waiting: Waiting[] = [];
  #watching: Waiting[] = [];
  #pulling = false;
  /** A read came while the producer was at work. */
  #pullAgain = false;

  constructor(producer: Producer) {
    this.#producer = producer;
  }

  /** The number of chunks that may come unasked: one, as in Node's streams. */
  get room(): number | null {
    if (this.#state === "failed") return null;
    return this.#state === "closed" ? 0 : 1 - (this.#chunks.length - this.#next);
  }

  /** The flow owns the array from now on. */
  put(chunks: T[]): void {
    if (this.#state !== "open") throw new TypeError("The stream is closed: no chunk can be added");
    if (this.#next === this.#chunks.length) {
      this.#chunks = chunks;
      this.#next = 0;
    } else {
      for (const chunk of chunks) this.#chunks.push(chunk);
    }
    this.#serve();
  }

  /** Waiting chunks can still be read. */
  close(): void {
    if (this.#state !== "open") throw new TypeError("The stream is closed: it cannot be closed again");
    this.#state = "closing";
    if (this.#next === this.#chunks.length) this.#closed();
    this.#serve();
  }

  /** Waiting chunks are lost. */
  fail(error: unknown): void {
    if (this.#state === "closed" || this.#state === "failed") return;
    this.#state = "failed";
    this.#error = error;
    this.#chunks = [];
    this.#next = 0;
    for (const { reject } of [...this.#waiting.splice(0), ...this.#watching.splice(0)]) reject(error);
  }

  async cancel(reason: unknown): Promise<void> {
    if (this.#state === "failed") throw this.#error;
    if (this.#state === "closed") return;
    this.#closed();
    this.#serve();
    await this.#producer.cancel(reason);
  }

  read(): Promise<ReadResult<T>> {
    return this.#read(() => this.#takeOne());
  }

  /** All waiting chunks, at least one; undefined at the end. The reader owns the array. */
  readBatch(): Promise<T[] | undefined> {
    return this.#read(() => this.#takeAll());
  }

  whenClosed(): Promise<void> {
    if (this.#state === "failed") return Promise.reject(this.#error);
    if (this.#state === "closed") return Promise.resolve();
    return new Promise((resolve, reject) => this.#watching.push({ serve: resolve, reject }));
  }

  /** The reader has gone; another may come. */
  release(): void {
    const error = new TypeError("The reader was released");
    for (const { reject } of [...this.#waiting.splice(0), ...this.#watching.splice(0)]) reject(error);
  }

  /** The producer is not asked again until its work is done. */
  during(work: unknown): void {
    this.#pulling = true;
    if (!isPromise(work)) return this.#pulled();
    work.then(
      () => this.#pulled(),
      (error: unknown) => this.fail(error),
    );
  }

  #pulled(): void {
    this.#pulling = false;
    if (!this.#pullAgain) return;
    this.#pullAgain = false;
    if (this.#waiting.length > 0) this.#pull();
  }

  #pull(): void {
    if (this.#state !== "open") return;
    if (this.#pulling) {
      this.#pullAgain = true;
      return;
    }
    this.#pulling = true;
    try {
      this.during(this.#producer.pull());
    } catch (error) {
      this.fail(error);
    }
  }

  #read<R>(take: () => R): Promise<R> {
    if (this.#state === "failed") return Promise.reject(this.#error);
    if (this.#canServe() && this.#waiting.length === 0) return Promise.resolve(take());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ serve: () => resolve(take()), reject });
      this.#pull();
    });
  }

  #canServe(): boolean {
    return this.#next < this.#chunks.length || this.#state === "closed";
  }

  #serve(): void {
    while (this.#waiting.length > 0 && this.#canServe()) this.#waiting.shift()?.serve();
    if (this.#waiting.length > 0) this.#pull();
  }

  #takeOne(): ReadResult<T> {
    if (this.#next === this.#chunks.length) return { done: true, value: undefined };
    const value = this.#chunks[this.#next++] as T;
    if (this.#next === this.#chunks.length) this.#emptied();
    return { done: false, value };
  }

  #takeAll(): T[] | undefined {
    if (this.#next === this.#chunks.length) return undefined;
    const chunks = this.#next === 0 ? this.#chunks : this.#chunks.slice(this.#next);
    this.#emptied();
    return chunks;
  }

  #emptied(): void {
    this.#chunks = [];
    this.#next = 0;
    if (this.#state === "closing") this.#closed();
  }

  #closed(): void {
    this.#state = "closed";
    this.#chunks = [];
    this.#next = 0;
    for (const { serve } of this.#watching.splice(0)) serve();
  }
}

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
