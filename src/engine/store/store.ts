/** The port of the session store. Its one implementation keeps a folder of logs (jsonl/store.ts). */
import type { SessionConfig } from "../../core/config.js";
import type { Event } from "../../core/event.js";
import type { Message } from "../models/model.js";
import type { LastTurn } from "../session/unfinished.js";
import type { Entry, ReadEntry } from "./entry.js";

/** The stored state of a session, which is enough to continue it. */
export interface KeptSession {
  id: string;
  cwd: string;
  name: string | undefined;
  config: SessionConfig;
  messages: Message[];
  lastTurn: LastTurn;
  /** Files that were read or written, by absolute path, with their stamps. */
  seen: Record<string, string>;
  /** The highest number of an event. */
  seq: number;
}

/** A session as its last run left it. */
export interface StoredSession extends KeptSession {
  /** The turn that the last run left open, if it crashed. */
  crash: Crash | undefined;
  /** The time since which its last run could not write its log (milliseconds since 1970). */
  unsavedSince: number | undefined;
  /** Numbers of the damaged lines of its log, from 1: their content is missing. */
  unreadable: readonly number[];
}

export interface Crash {
  /** Calls that ran when the process ended: it is unknown whether they took effect, and they are never run again in silence. */
  unknown: { id: string; name: string; title: string | undefined }[];
  /** Part of the turn's log is missing: unknown calls may have run. */
  torn: boolean;
  /**
   * The entries that make the log whole, in this order: the messages are in the conversation already, the events need a stamp. The
   * turn's end is last, and a crash while they are written leaves a log that is mended to the same conversation.
   */
  mend: Extract<Entry, { kind: "event" | "message" }>[];
}

export interface SessionSummary {
  id: string;
  cwd: string;
  name: string | undefined;
  createdAt: number;
  usedAt: number;
  /** The beginning of the first prompt. */
  firstPrompt: string | undefined;
  /** It is out of the way: the latest session is another. */
  archived?: true;
}

/** How a session is listed. */
export interface SessionMarks {
  name?: string;
  archived?: boolean;
}

/** The log of one open session; this process is its only writer. */
export interface SessionLog {
  /** Takes the entry in its present state. The next `flush`, `sync`, `settle` or `close` writes it. */
  append(entry: Entry): void;
  /** Writes all appended entries to the system before it returns. Throws if the disk refuses them, and then none of them is written. */
  flush(): void;
  /**
   * Marks a failed log, if there is room: a later resume reports that entries are missing.
   */
  giveUp(): void;
  /** Makes all entries written so far survive a power cut. */
  sync(): Promise<void>;
  /** Between turns: writes a snapshot for the next `open`, if the log has grown enough. */
  settle(session: () => KeptSession): Promise<void>;
  close(): Promise<void>;
  /** All entries appended and written, from the start. */
  entries(): Iterable<ReadEntry>;
  /** Undefined if no copies of files are kept. */
  readonly copies: FileCopies | undefined;
}

/** Files before the session changed them, by SHA-256. They are removed with the session. */
export interface FileCopies {
  /** Makes room by removing the oldest copies. Throws the reason if there is no room. */
  keep(sha256: string, bytes: Uint8Array): Promise<void>;
  /** Undefined if the copy is gone or damaged. */
  read(sha256: string): Promise<Uint8Array | undefined>;
}

/** The place where sessions are stored. */
export interface SessionStore {
  /** Throws a `session` fault if the id exists, a `limit` fault if too many files are open, and the system's errors. */
  create(session: { id: string; cwd: string; name: string | undefined; config: SessionConfig }): Promise<SessionLog>;
  /** Throws a `session` fault if there is none or another process has it open; otherwise as `create`. */
  open(id: string): Promise<{ session: StoredSession; log: SessionLog }>;
  /**
   * Copies a session under another name, and opens the copy; the original is only read, and may be in use. Throws a `session` fault if there is
   * no such session, or one of the new name already; otherwise as `create`. `before`: the state before that turn, or the next one.
   */
  fork(
    id: string,
    as: { id: string; name: string | undefined },
    before?: { turn: string; next?: boolean | undefined },
  ): ReturnType<SessionStore["open"]>;
  /** Newest first. */
  list(): Promise<SessionSummary[]>;
  /** The session last used in this folder. */
  latest(cwd: string): Promise<string | undefined>;
  /**
   * The events of a session as whole items, without deltas, read as they are iterated: a long log is never in memory at once. Damaged
   * lines are left out, and their numbers are reported at the end. Throws a `session` fault if there is no such session.
   */
  events(id: string, onDamaged?: (lines: readonly number[]) => void): AsyncIterable<Event>;
  remove(id: string): Promise<void>;
  /** Changes how a session is listed, in use or not. Throws a `session` fault if there is no such session. */
  mark(id: string, marks: SessionMarks): Promise<void>;
}
