/** Our own standard input and output as a transport: how a host that started us talks to us. */
import type { Closed } from "../core/event.js";
import type { Transport } from "../core/wire.js";
import type { Framing } from "../os/lines.js";
import { LineWriter, readFrames } from "./streams.js";

export interface StdioTransport extends Transport {
  /** Everything that was written is out; only then may the process leave. */
  flushed(): Promise<void>;
}

export function stdio(framing: Framing, lineCap?: number): StdioTransport {
  const writer = new LineWriter(process.stdout, framing, "shorten");
  // A process that leaves at once still writes the records that it has.
  process.once("exit", () => writer.flush());
  let ended: (closed: Closed) => void;
  const closed = Promise.race([
    writer.closed,
    new Promise<Closed>((resolve) => {
      ended = resolve;
    }),
  ]);
  return {
    frames: readFrames(process.stdin, framing, lineCap),
    write: (records) => writer.write(records),
    flush: () => writer.flush(),
    flushed: () => writer.flushed(),
    closed,
    close() {
      process.stdin.destroy();
      void writer.flushed().then(() => ended({}));
    },
  };
}
