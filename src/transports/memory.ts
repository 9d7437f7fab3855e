/** Two linked transports in one process: a host and an agent without a pipe. Records pass as text, as on a real wire. */
import type { Closed } from "../core/event.js";
import type { Frame, Transport } from "../core/wire.js";
import { Queue } from "../core/queue.js";
import { FrameReader, encodeLine, type Framing } from "./lines.js";

const LIMIT = 256 * 1024;

export function memoryPair(framing: Framing = "json"): [Transport, Transport] {
  const [left, right] = [new Pipe(framing), new Pipe(framing)];
  return [end(left, right), end(right, left)];
}

/** One direction. */
class Pipe {
  readonly frames = new Queue<Frame>(LIMIT, (frame) => ("rec" in frame ? JSON.stringify(frame.rec).length : 64));
  readonly #framing: Framing;
  readonly #reader: FrameReader;

  constructor(framing: Framing) {
    this.#framing = framing;
    this.#reader = new FrameReader(framing);
  }

  write(records: readonly unknown[]): void | Promise<void> {
    let full: Promise<void> | undefined;
    for (const record of records) {
      for (const frame of this.#reader.push(Buffer.from(encodeLine(this.#framing, record)))) full = this.frames.push(frame) ?? full;
    }
    return full;
  }
}

function end(incoming: Pipe, outgoing: Pipe): Transport {
  let settle: (closed: Closed) => void;
  const closed = new Promise<Closed>((resolve) => {
    settle = resolve;
  });
  return {
    frames: incoming.frames,
    write: (records) => outgoing.write(records),
    closed,
    close(how) {
      outgoing.frames.end();
      if (how === "term") incoming.frames.end();
      settle({});
    },
  };
}
