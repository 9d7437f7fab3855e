/** A transport over a readable and a writable stream: what stdio and processes share. */
import type { Readable, Writable } from "node:stream";
import type { Closed } from "../core/event.js";
import type { Frame } from "../core/wire.js";
import { FrameReader, encodeLine, type Framing, type TooLong } from "../os/lines.js";

/** Bytes that may wait in the writable before writers have to wait. */
const HIGH_WATER = 256 * 1024;

export async function* readFrames(readable: Readable, framing: Framing, cap?: number): AsyncIterable<Frame> {
  const reader = new FrameReader(framing, cap);
  try {
    for await (const chunk of readable) {
      yield* reader.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)));
    }
  } catch {
    // A broken stream ends like one at its end.
  }
  yield* reader.end();
}

export class LineWriter {
  /** Settles when the stream has ended or broken; a broken pipe is an ordinary end. */
  readonly closed: Promise<Closed>;
  readonly #stream: Writable;
  readonly #framing: Framing;
  readonly #tooLong: TooLong;
  #pending = "";
  #scheduled = false;
  #broken = false;
  /** Set by `end`; a later write would break the stream and lose its buffered records. */
  #ended = false;
  #drained: Promise<void> | undefined;

  constructor(stream: Writable, framing: Framing, tooLong: TooLong = "refuse") {
    this.#stream = stream;
    this.#framing = framing;
    this.#tooLong = tooLong;
    this.closed = new Promise((resolve) => {
      const broke = (error?: Error): void => {
        this.#broken = true;
        resolve(error === undefined ? {} : { reason: error.message });
      };
      stream.once("error", broke);
      stream.once("close", () => broke());
      stream.once("finish", () => broke());
    });
    stream.on("error", ignore);
  }

  /** Joins the records of one tick into one write. The write comes after the work queued meanwhile, as it wakes up the reader. */
  write(records: readonly unknown[]): void | Promise<void> {
    if (this.#broken || this.#ended) return;
    for (const record of records) this.#pending += encodeLine(this.#framing, record, this.#tooLong);
    if (!this.#scheduled) {
      this.#scheduled = true;
      setImmediate(() => this.flush());
    }
    if (this.#pending.length + this.#stream.writableLength > HIGH_WATER) return this.#untilDrained();
  }

  /** `last` is written as it is, without a line end. */
  end(last = ""): void {
    if (this.#ended) return;
    this.flush();
    this.#ended = true;
    this.#stream.end(last);
  }

  /** Resolves when the system has taken all bytes, or the reader is gone. */
  async flushed(): Promise<void> {
    this.flush();
    if (this.#broken || this.#stream.writableLength === 0) return;
    if (this.#ended) return void (await this.closed);
    await new Promise<void>((resolve) => {
      this.#stream.write("", () => resolve());
      void this.closed.then(() => resolve());
    });
  }

  flush(): void {
    this.#scheduled = false;
    if (this.#pending === "" || this.#broken) return;
    const text = this.#pending;
    this.#pending = "";
    this.#stream.write(text);
  }

  #untilDrained(): Promise<void> {
    this.#drained ??= this.flushed().then(() => {
      this.#drained = undefined;
    });
    return this.#drained;
  }
}

function ignore(): void {
  // `closed` reports the error.
}
