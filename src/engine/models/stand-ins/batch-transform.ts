/**
 * The `TransformStream` and `TextDecoderStream` that the provider packages get in the bundle: a stage takes a batch, runs the transformer
 * over it, waiting only if that returns a promise, and passes on the output as one batch.
 */
import { StringDecoder } from "node:string_decoder";
import { isPromise } from "./batch-flow.js";
import { BatchReadableStream, ignore, type BatchReadableController, type Input } from "./batch-readable.js";

interface Transformer<I, O> {
  start?(controller: BatchTransformController<O>): unknown;
  transform?(chunk: I, controller: BatchTransformController<O>): unknown;
  flush?(controller: BatchTransformController<O>): unknown;
}

/** The controller for a transformer. */
interface BatchTransformController<O> {
  enqueue(chunk: O): void;
  error(error?: unknown): void;
  terminate(): void;
}

export class BatchTransformStream<I, O> {
  readonly readable: BatchReadableStream<O>;
  readonly #transformer: Transformer<I, O>;
  readonly #controller: BatchTransformController<O>;
  /** Set while `readable` is made. */
  #output!: BatchReadableController<O>;
  /** The promise of the transformer's `start`. */
  #starting: unknown;
  #input: Input<I> | undefined;
  #onInput: (() => void) | undefined;
  #state: "open" | "ended" | "failed" | "cancelled" = "open";
  #error: unknown;
  /** The output of the batch so far; undefined between batches. */
  #held: O[] | undefined;

  constructor(transformer: Transformer<I, O> = {}) {
    this.readable = new BatchReadableStream<O>({
      start: (controller) => {
        this.#output = controller;
      },
      pull: () => this.#pull(),
      cancel: (reason) => this.#cancel(reason),
    });
    this.#transformer = transformer;
    this.#controller = {
      enqueue: (chunk) => {
        if (this.#held !== undefined && this.#state === "open") this.#held.push(chunk);
        else this.#enqueue(chunk);
      },
      error: (error) => this.#fail(error),
      terminate: () => this.#terminate(),
    };
    this.#starting = transformer.start?.(this.#controller);
  }

  attach(input: Input<I>): void {
    if (this.#input !== undefined) throw new TypeError("The transform has its source already");
    this.#input = input;
    if (this.#state !== "open") input.cancel(this.#error).catch(ignore);
    this.#onInput?.();
  }

  async #pull(): Promise<void> {
    try {
      if (isPromise(this.#starting)) await this.#starting;
      const input = this.#input ?? (await this.#nextInput());
      while (this.#is("open")) {
        const batch = await input.readBatch();
        if (!this.#is("open")) break;
        const held = await this.#work(batch);
        if (this.#is("cancelled")) return;
        if (held.length > 0) this.#output.enqueueBatch(held);
        if (this.#is("ended")) this.#output.close();
        if (held.length > 0) return;
      }
    } catch (error) {
      this.#fail(error);
    }
    // The output before the failure was passed on; the failure follows.
    if (this.#is("failed")) this.#output.error(this.#error);
  }

  async #work(batch: readonly I[] | undefined): Promise<O[]> {
    const held: O[] = [];
    this.#held = held;
    try {
      if (batch === undefined) {
        await this.#transformer.flush?.(this.#controller);
        if (this.#is("open")) this.#state = "ended";
      } else {
        for (const chunk of batch) {
          const working = this.#transform(chunk);
          if (isPromise(working)) await working;
          if (!this.#is("open")) break;
        }
      }
    } catch (error) {
      this.#fail(error);
    }
    this.#held = undefined;
    return held;
  }

  #transform(chunk: I): unknown {
    if (this.#transformer.transform !== undefined) return this.#transformer.transform(chunk, this.#controller);
    // Without a transformer both sides are of one type.
    this.#enqueue(chunk as unknown as O);
    return undefined;
  }

  #enqueue(chunk: O): void {
    if (!this.#is("open")) throw new TypeError("The transform is over: no chunk can be added");
    if (this.#held === undefined) this.#output.enqueue(chunk);
    else this.#held.push(chunk);
  }

  #fail(error: unknown): void {
    if (!this.#is("open")) return;
    this.#state = "failed";
    this.#error = error;
    this.#input?.cancel(error).catch(ignore);
    if (this.#held === undefined) this.#output.error(error);
  }

  #terminate(): void {
    if (!this.#is("open")) return;
    this.#state = "ended";
    this.#error = new TypeError("The transform was terminated");
    this.#input?.cancel(this.#error).catch(ignore);
    if (this.#held === undefined) this.#output.close();
  }

  #cancel(reason: unknown): unknown {
    if (!this.#is("open")) return undefined;
    this.#state = "cancelled";
    this.#error = reason;
    return this.#input?.cancel(reason);
  }

  #nextInput(): Promise<Input<I>> {
    return new Promise((resolve) => {
      this.#onInput = () => this.#input !== undefined && resolve(this.#input);
    });
  }

  /** A function, so that the compiler does not narrow the state, which changes in every call. */
  #is(state: "open" | "ended" | "failed" | "cancelled"): boolean {
    return this.#state === state;
  }
}

/** UTF-8 by Node's older decoder: the same result as `TextDecoder`, except for a byte order mark, at a tenth of the cost. */
export class BatchTextDecoderStream extends BatchTransformStream<Uint8Array, string> {
  constructor() {
    const decoder = new StringDecoder("utf8");
    let isFirst = true;
    const tell = (decoded: string, controller: BatchTransformController<string>): void => {
      if (decoded === "") return;
      const text = isFirst && decoded.startsWith("\uFEFF") ? decoded.slice(1) : decoded;
      isFirst = false;
      if (text !== "") controller.enqueue(text);
    };
    super({
      transform: (chunk, controller) => tell(decoder.write(chunk), controller),
      flush: (controller) => tell(decoder.end(), controller),
    });
  }
}
