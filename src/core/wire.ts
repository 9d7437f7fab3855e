/** The values that cross between a transport and a dialect. */
import type { Closed } from "./event.js";
import type { OpOf } from "./op.js";

/**
 * A record of the other side; a line that cannot be read, with the reason; or our own launch. Of a line that is too
 * long only the beginning is kept.
 */
export type Frame = { rec: unknown } | { bad: string; line: string; overlong?: true } | { launch: Launch };

/** The launch of a process: its arguments, environment and standard input carry records, too. */
export interface Launch {
  argv: string[];
  env: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  /** The whole standard input of the process; without it stdin stays open for records. */
  input?: string;
  /** The op that opens the session, if the command line was parsed already. `session` names a fork. */
  open?: Pick<OpOf<"session.open">, "open" | "sessionId" | "config" | "fork"> & { session?: string };
}

/** A two-way stream of records. Only the transport sees bytes, lines and frames. */
export interface Transport {
  /** Ends when the other side sends no more records. */
  readonly frames: AsyncIterable<Frame>;
  /** The other end serves others, too: we may disconnect, and must not end it. */
  readonly isShared?: boolean | undefined;
  /** Returns a promise if the other side is slow: wait for it before the next write. */
  write(records: readonly unknown[]): void | Promise<void>;
  /** Sends buffered records now. Call it when no more records follow soon. */
  flush?(): void;
  /** `eof` ends our output. `term` ends the connection, its process included. Both send the written records first. */
  close(how: "eof" | "term"): void;
  /** Settles when all written records are out and no more can be written. */
  readonly closed: Promise<Closed>;
}
