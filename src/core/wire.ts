/** The values that cross between a transport and a dialect. */
import type { Closed } from "./event.js";
import type { OpOf } from "./op.js";

/**
 * A record of the other side; or a line that is none, with the reason in words; or the way that we were started. Of a line that was too
 * long only the beginning is known.
 */
export type Frame = { rec: unknown } | { bad: string; line: string; overlong?: true } | { launch: Launch };

/** argv, environment and standard input are wire in every dialect with a process. */
export interface Launch {
  argv: string[];
  env: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  /** All that its standard input holds; without it that stays open for records. */
  input?: string;
  /** The session's open as the command line asks for it, where the command line was read already. */
  open?: Pick<OpOf<"session.open">, "open" | "sessionId" | "config" | "fork">;
}

/** A duplex of records. Bytes, lines and frames are its business alone. */
export interface Transport {
  /** Ends when the other side has no more to say. */
  readonly frames: AsyncIterable<Frame>;
  /** The other end was there before us and serves others, too: we may leave it, and must not end it. */
  readonly isShared?: boolean | undefined;
  /** A promise when the other side is slow: wait for it before writing more. */
  write(records: readonly unknown[]): void | Promise<void>;
  /** Sends the written records now, where the transport holds them back for more. The caller knows that no more follows. */
  flush?(): void;
  /** `eof`: we have no more to say. `term`: end it, process included. Both let what was written go out first. */
  close(how: "eof" | "term"): void;
  /** Settles when nothing can be written any more and everything that was written is out. */
  readonly closed: Promise<Closed>;
}
