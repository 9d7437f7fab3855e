/** Where sessions live: the port. Its one implementation so far keeps a folder of logs (jsonl-store.ts). */
import type { SessionConfig } from "../../core/config.js";
import type { Event } from "../../core/event.js";
import type { Message } from "../models/model.js";
import type { Entry } from "./entry.js";

/** A session as it was when it was last open. */
export interface StoredSession {
  id: string;
  cwd: string;
  name: string | undefined;
  config: SessionConfig;
  messages: Message[];
  /** The highest that was used. */
  seq: number;
  /** Whether a prompt was ever given. */
  prompted: boolean;
  /** What the last run left open, when it did not end in order. */
  crash: Crash | undefined;
}

export interface Crash {
  turn: string;
  /** What was added to the conversation so that it is whole again. */
  messages: Message[];
  /** Calls that ran when the process ended: whether they took effect is not known, and they are never run again in silence. */
  unknown: { id: string; name: string; title: string | undefined }[];
  /** The events that the turn still owes: one end for each call, and its own. */
  owed: Event[];
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
  /** Written when it returns (to the system; `sync` makes it survive a power cut). Throws when the disk refuses it. */
  append(entry: Entry): void;
  sync(): Promise<void>;
  /** Keeps what a later `open` needs in one piece, so that it need not read the whole log. */
  snapshot(session: Omit<StoredSession, "crash">): Promise<void>;
  close(): Promise<void>;
}

export interface SessionStore {
  /** Throws a `session` fault when there is one of that id. */
  create(session: { id: string; cwd: string; name: string | undefined; config: SessionConfig }): Promise<SessionLog>;
  /** Throws a `session` fault when there is none, or when another process has it. */
  open(id: string): Promise<{ session: StoredSession; log: SessionLog }>;
  /** Newest first. */
  list(): Promise<SessionSummary[]>;
  /** The one last used in this folder. */
  latest(cwd: string): Promise<string | undefined>;
  events(id: string): Promise<Event[]>;
  remove(id: string): Promise<void>;
}
