/**
 * The `ReadableStream` that the provider packages get in the bundle (scripts/build.mjs puts it in place of Node's). Chunks travel in arrays:
 * a stage costs a promise or two for all that one read of the network brought, where Node's streams make a dozen for each chunk.
 * It has the parts of the standard that the packages use: no byte streams, no strategies, and no read ahead.
 */
import { Flow, type ReadResult } from "./batch-flow.js";

interface Source<T> {
  start?(controller: BatchReadableController<T>): unknown;
  pull?(controller: BatchReadableController<T>): unknown;
  cancel?(reason: unknown): unknown;
}

/** The source of batches. */
export interface Input<T> {
  /** At least one chunk; undefined at the end. The caller owns the array. */
  readBatch(): Promise<T[] | undefined>;
  cancel(reason?: unknown): Promise<void>;
}

/** A transform of our own. Node's are not accepted, as nothing in the bundle makes any. */
interface Stage<T, R> {
  readonly readable: R;
  attach(input: Input<T>): void;
}

export class BatchReadableStream<T> {
  readonly #flow: Flow<T>;
  #reader: BatchReader<T> | undefined;

  constructor(source: Source<T> = {}) {
    this.#flow = new Flow<T>({ pull: () => source.pull?.(controller), cancel: (reason) => source.cancel?.(reason) });
    const controller = new BatchReadableController(this.#flow);
    this.#flow.during(source.start?.(controller));
  }

  get locked(): boolean {
    return this.#reader !== undefined;
  }

  getReader(): BatchReader<T> {
    if (this.#reader !== undefined) throw new TypeError("The stream is locked to another reader");
    this.#reader = new BatchReader(this.#flow, () => {
      this.#reader = undefined;
    });
    return this.#reader;
  }

  async cancel(reason?: unknown): Promise<void> {
    if (this.#reader !== undefined) throw new TypeError("The stream is locked to a reader, which alone can cancel it");
    await this.#flow.cancel(reason);
  }

  pipeThrough<R>(stage: Stage<T, R>): R {
    stage.attach(this.getReader());
    return stage.readable;
  }

  tee(): [BatchReadableStream<T>, BatchReadableStream<T>] {
    return split(this.getReader());
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<T, undefined> {
    const reader = this.getReader();
    return {
      next: () => reader.read(),
      async return() {
        await reader.cancel();
        reader.releaseLock();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}

export class BatchReadableController<T> {
  readonly #flow: Flow<T>;

  constructor(flow: Flow<T>) {
    this.#flow = flow;
  }

  get desiredSize(): number | null {
    return this.#flow.room;
  }

  enqueue(chunk: T): void {
    this.#flow.put([chunk]);
  }

  /** The stream owns the array from now on. */
  enqueueBatch(chunks: T[]): void {
    this.#flow.put(chunks);
  }

  close(): void {
    this.#flow.close();
  }

  error(error?: unknown): void {
    this.#flow.fail(error);
  }
}

class BatchReader<T> implements Input<T> {
  #flow: Flow<T> | undefined;
  readonly #onRelease: () => void;

  constructor(flow: Flow<T>, onRelease: () => void) {
    this.#flow = flow;
    this.#onRelease = onRelease;
  }

  get closed(): Promise<void> {
    const closed = this.#flow === undefined ? Promise.reject(released()) : this.#flow.whenClosed();
    // Reads report a failure, too, so this promise may stay unhandled.
    closed.catch(ignore);
    return closed;
  }

  read(): Promise<ReadResult<T>> {
    return this.#flow === undefined ? Promise.reject(released()) : this.#flow.read();
  }

  /** All waiting chunks, at least one; undefined at the end. */
  readBatch(): Promise<T[] | undefined> {
    return this.#flow === undefined ? Promise.reject(released()) : this.#flow.readBatch();
  }

  cancel(reason?: unknown): Promise<void> {
    return this.#flow === undefined ? Promise.reject(released()) : this.#flow.cancel(reason);
  }

  releaseLock(): void {
    if (this.#flow === undefined) return;
    this.#flow.release();
    this.#flow = undefined;
    this.#onRelease();
  }
}

/** How long a stream may take to end after its last chunk that counts. */
const GRACE_MS = 1000;

/**
 * A stream's chunks in their batches; one by one from Node's own streams. The rest after a batch that `isLast` is read for
 * a moment, so that the connection can be used again, and is dropped, failures included.
 */
export async function* batchesOf<T>(
  stream: ReadableStream<T> | BatchReadableStream<T>,
  isLast: (batch: readonly T[]) => boolean = () => false,
): AsyncGenerator<T[], void, undefined> {
  const input: Input<T> = stream instanceof BatchReadableStream ? stream.getReader() : oneByOne(stream);
  let ended = false;
  try {
    for (let batch = await input.readBatch(); batch !== undefined; batch = await input.readBatch()) {
      const last = isLast(batch);
      yield batch;
      if (last) return await drain(input);
    }
    ended = true;
  } finally {
    if (!ended) input.cancel().catch(ignore);
  }
}

async function drain(input: Input<unknown>): Promise<void> {
  const timer = setTimeout(() => void input.cancel().catch(ignore), GRACE_MS).unref();
  try {
    while ((await input.readBatch()) !== undefined);
  } catch {
    // All chunks that count have come.
  } finally {
    clearTimeout(timer);
  }
}

function oneByOne<T>(stream: ReadableStream<T>): Input<T> {
  const reader = stream.getReader();
  return {
    async readBatch() {
      const result = await reader.read();
      return result.done ? undefined : [result.value];
    },
    cancel: (reason) => reader.cancel(reason),
  };
}

/** A read of either branch fills both; the source is cancelled when both are. */
function split<T>(input: Input<T>): [BatchReadableStream<T>, BatchReadableStream<T>] {
  const live: (BatchReadableController<T> | undefined)[] = [];
  const reasons: unknown[] = [];
  let reading: Promise<void> | undefined;
  let settle: (cancelled?: Promise<void>) => void = ignore;
  const cancelled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return [branch(0), branch(1)];

  function branch(index: number): BatchReadableStream<T> {
    return new BatchReadableStream<T>({
      start(controller) {
        live[index] = controller;
      },
      pull: () => (reading ??= read()),
      cancel(reason) {
        live[index] = undefined;
        reasons[index] = reason;
        if (live.every((controller) => controller === undefined)) settle(input.cancel(reasons));
        return cancelled;
      },
    });
  }

  async function read(): Promise<void> {
    try {
      const batch = await input.readBatch();
      reading = undefined;
      if (batch !== undefined) return live.forEach((controller, index) => controller?.enqueueBatch(index === 0 ? batch.slice() : batch));
      for (const controller of live) controller?.close();
    } catch (error) {
      for (const controller of live) controller?.error(error);
    }
    settle();
  }
}

export function ignore(): void {
  // The failure is reported elsewhere.
}

function released(): TypeError {
  return new TypeError("The reader was released");
}
