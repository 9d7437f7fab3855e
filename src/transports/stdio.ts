/** Our own stdin and stdout as a transport: the connection to the host that started us. */
import type { Closed } from "../core/event.js";
import type { Transport } from "../core/wire.js";
import type { Framing } from "../os/lines.js";
import { LineWriter, readFrames } from "./streams.js";

/** The transport over our own stdin and stdout. */
export interface StdioTransport extends Transport {
  /** Settles when all records are out; the process may exit only then. */
  flushed(): Promise<void>;
}

/**
 * Lines on our own stdin and stdout, for a program that is an agent.
 *
 * @example
 * await serve(agent, dialect, stdio(dialect.framing));
 */
export function stdio(framing: Framing, lineCap?: number): StdioTransport {
  const writer = new LineWriter(process.stdout, framing, "shorten");
  // Writes buffered records at once when the process exits.
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
