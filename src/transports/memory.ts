/** Two linked transports in one process: a host and an agent without a pipe. Records are converted to text and back, as on a real wire. */
import type { Closed } from "../core/event.js";
import type { Frame, Transport } from "../core/wire.js";
import { Queue } from "../core/queue.js";
import { FrameReader, encodeLine, type Framing } from "../os/lines.js";

/** The bound of unread bytes, and the least weight of a record: at most 256 records wait. */
const LIMIT = 256 * 1024;
const LIGHTEST = 1024;

/**
 * Two transports that are each other's other end, for tests and for agents in the same process.
 *
 * @example
 * const [near, far] = memoryPair();
 */
export function memoryPair(framing: Framing = "json"): [Transport, Transport] {
  const [left, right] = [new Pipe(framing), new Pipe(framing)];
  return [end(left, right), end(right, left)];
}

/** One direction of the link. */
class Pipe {
  readonly frames = new Queue<Frame>(LIMIT, weigh);
  /** Settles when no more records can be written. */
  readonly closed: Promise<Closed>;
  readonly #framing: Framing;
  readonly #reader: FrameReader;
  #settle!: (closed: Closed) => void;

  constructor(framing: Framing) {
    this.#framing = framing;
    this.#reader = new FrameReader(framing);
    this.closed = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  write(records: readonly unknown[]): void | Promise<void> {
    let full: Promise<void> | undefined;
    for (const record of records) {
      for (const frame of this.#reader.push(Buffer.from(encodeLine(this.#framing, record, "shorten"))))
        full = this.frames.push(frame) ?? full;
    }
    return full;
  }

  end(): void {
    this.frames.end();
    this.#settle({});
  }
}

function weigh(frame: Frame): number {
  return Math.max(LIGHTEST, "rec" in frame ? JSON.stringify(frame.rec).length : 0);
}

/** `term` cuts both directions, so the other end cannot write either. */
function end(incoming: Pipe, outgoing: Pipe): Transport {
  return {
    frames: incoming.frames,
    write: (records) => outgoing.write(records),
    closed: outgoing.closed,
    close(how) {
      outgoing.end();
      if (how === "term") incoming.end();
    },
  };
}
