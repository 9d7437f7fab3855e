/** The port of the session store. Its one implementation keeps a folder of logs (jsonl/store.ts). */
import type { SessionConfig } from "../../core/config.js";
import type { Event } from "../../core/event.js";
import type { Message } from "../models/model.js";
import type { LastTurn } from "../session/unfinished.js";
import type { Entry, ReadEntry } from "./entry.js";

/** The part of a session that is kept, and is enough to go on with it. */
export interface KeptSession {
  id: string;
  cwd: string;
  name: string | undefined;
  config: SessionConfig;
  messages: Message[];
  lastTurn: LastTurn;
  /** Files that were read or written, by absolute path, and how each was then. */
  seen: Record<string, string>;
  /** The highest number of an event. */
  seq: number;
}

/** A session as it was when it was last open. */
export interface StoredSession extends KeptSession {
  /** The turn that the last run left open, when it did not end in order. */
  crash: Crash | undefined;
  /** The time since which its last run could not save its work (milliseconds since 1970). */
  unsavedSince: number | undefined;
  /** Numbers of the damaged lines of its log, from 1: their content is missing. */
  unreadable: readonly number[];
}

export interface Crash {
  /** Calls that ran when the process ended: whether they took effect is not known, and they are never run again in silence. */
  unknown: { id: string; name: string; title: string | undefined }[];
  /** A part of the turn's log is missing: calls may have run that nobody knows of. */
  torn: boolean;
  /**
   * The entries that make the log whole again, in this order: the messages are in the conversation already, the events want a stamp. The
   * end of the turn is the last, and a run that dies in the middle of writing them leaves a log that is mended to the same conversation.
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
}

/** The log of one open session; this process is its only writer. */
export interface SessionLog {
  /** Takes the entry as it is now. The next `flush`, `sync`, `settle` or `close` writes it. */
  append(entry: Entry): void;
  /** All that was appended is written when it returns (to the system). Throws when the disk refuses it, and then nothing of it is there. */
  flush(): void;
  /**
   * Marks a log that failed, where there is room: a later resume tells that something is missing.
   */
  giveUp(): void;
  /** All that was written then survives a power cut. */
  sync(): Promise<void>;
  /** Between turns: keeps what a later `open` needs in one piece, once the log has grown enough for that to be worth its while. */
  settle(session: () => KeptSession): Promise<void>;
  close(): Promise<void>;
  /** All that was appended and written, from the beginning. */
  entries(): Iterable<ReadEntry>;
  /** Undefined where no copies of files are kept. */
  readonly copies: FileCopies | undefined;
}

/** Files as they were before the session changed them, by their SHA-256. They go with the session. */
export interface FileCopies {
  /** Makes room by letting the oldest copies go. Throws the reason why there is no room. */
  keep(sha256: string, bytes: Uint8Array): Promise<void>;
  /** Undefined where it is no longer kept, or damaged. */
  read(sha256: string): Promise<Uint8Array | undefined>;
}

/** Where sessions are kept. */
export interface SessionStore {
  /** Throws a `session` fault when there is one of that id, a `limit` fault when too many files are open, and what the system says. */
  create(session: { id: string; cwd: string; name: string | undefined; config: SessionConfig }): Promise<SessionLog>;
  /** Throws a `session` fault when there is none, or when another process has it, and otherwise as `create`. */
  open(id: string): Promise<{ session: StoredSession; log: SessionLog }>;
  /**
   * A copy of a session under another name, open; the original is only read, whoever has it. Throws a `session` fault when there is no
   * such session, or one of the new name already, and otherwise as `create`. `before`: as it was before that turn.
   */
  fork(id: string, as: { id: string; name: string | undefined }, before?: { turn: string }): ReturnType<SessionStore["open"]>;
  /** Newest first. */
  list(): Promise<SessionSummary[]>;
  /** The session that was last used in this folder. */
  latest(cwd: string): Promise<string | undefined>;
  /**
   * The events of a session as whole items, without deltas, read as they are asked for: a long log is never in memory at once. Damaged
   * lines are left out, and their numbers are told at the end. Throws a `session` fault when there is no such session.
   */
  events(id: string, onDamaged?: (lines: readonly number[]) => void): AsyncIterable<Event>;
  remove(id: string): Promise<void>;
}
