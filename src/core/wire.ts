/** What crosses between a transport and a dialect. */
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
  /** What the command line asks of the session, where it was read already. */
  open?: Pick<OpOf<"session.open">, "open" | "sessionId" | "config" | "fork">;
}

/** A duplex of records. Bytes, lines and frames are its business alone. */
export interface Transport {
  /** Ends when the other side has no more to say. */
  readonly frames: AsyncIterable<Frame>;
  /** Whoever is there was there before us and has others to serve: we may leave, and not end it. */
  readonly isShared?: boolean | undefined;
  /** A promise when the other side is slow: wait for it before writing more. */
  write(records: readonly unknown[]): void | Promise<void>;
  /** What was written goes out now. Where it is kept for what may follow, that is for whoever knows that nothing does. */
  flush?(): void;
  /** `eof`: we have no more to say. `term`: end it, process included. Both let what was written go out first. */
  close(how: "eof" | "term"): void;
  /** Settles when nothing can be written any more and everything that was written is out. */
  readonly closed: Promise<Closed>;
}
