/** The entries of a session's log, one line each with its checksum, and their schemas. */
import * as v from "valibot";
import { SessionConfig, type SessionConfig as Config } from "../../core/config.js";
import { Part, type Part as StoredPart } from "../../core/content.js";
import { Event, type Event as StoredEvent } from "../../core/event.js";
import type { Message, ModelCall as Called } from "../models/model.js";
import type { LastTurn } from "../session/unfinished.js";
import { seal, unseal } from "./jsonl/checksum.js";

const ModelCall = v.looseObject({ id: v.string(), name: v.string(), args: v.record(v.string(), v.unknown()), raw: v.optional(v.string()) });

const AssistantBlock = v.variant("type", [
  v.looseObject({ type: v.literal("text"), text: v.string(), meta: v.optional(v.unknown()) }),
  v.looseObject({ type: v.literal("thinking"), text: v.string(), meta: v.optional(v.unknown()) }),
  v.looseObject({ type: v.literal("call"), call: ModelCall, meta: v.optional(v.unknown()) }),
]);

const CallResult = v.looseObject({ call: v.string(), name: v.string(), parts: v.array(Part), failed: v.boolean() });

export const StoredMessage: v.GenericSchema<Message> = v.variant("role", [
  v.looseObject({ role: v.literal("user"), parts: v.array(Part), kind: v.optional(v.picklist(["summary", "note"])) }),
  v.looseObject({ role: v.literal("assistant"), blocks: v.array(AssistantBlock) }),
  v.looseObject({ role: v.literal("tool"), results: v.array(CallResult) }),
]);

/** The first line of a log; also written at each resume, then with the first event number of that run. */
const OpenedEntry = v.looseObject({
  kind: v.literal("opened"),
  at: v.number(),
  id: v.string(),
  cwd: v.string(),
  name: v.optional(v.string()),
  config: SessionConfig,
  seq: v.optional(v.number()),
});

/** An event as it was sent, with `seq`, `at`, `turn` and `parent`, so that a replay is the same. */
const EventEntry = v.looseObject({ kind: v.literal("event"), event: Event });

/** A message of the conversation. */
const MessageEntry = v.looseObject({ kind: v.literal("message"), message: StoredMessage });

/** The conversation was replaced by these messages: by a summary, a reset, or an earlier state. */
const ResetEntry = v.looseObject({ kind: v.literal("reset"), messages: v.array(StoredMessage) });

/** Streamed text of an open block, which a crash would lose otherwise. */
const PartialEntry = v.looseObject({
  kind: v.literal("partial"),
  turn: v.string(),
  block: v.picklist(["text", "thinking"]),
  text: v.string(),
});

/** Calls that the host asks for in the model's place, until a message holds them. */
const AskedEntry = v.looseObject({ kind: v.literal("asked"), calls: v.array(ModelCall) });

/** Acknowledged steered text that no message holds yet. */
const SteeredEntry = v.looseObject({ kind: v.literal("steered"), parts: v.array(Part) });

/** A file that was read or written, with its stamp (workspace.ts). */
const SeenEntry = v.looseObject({ kind: v.literal("seen"), path: v.string(), stamp: v.string() });

/** A file's content by its SHA-256 (missing if the file was too large to read), and its stamp (workspace.ts). */
const FileState = v.looseObject({ sha256: v.optional(v.string()), mode: v.number(), stamp: v.optional(v.string()) });

/**
 * A change of a file, written before it is made: `before` is null for a new file, `after` for a deletion; `after` is missing
 * if it is unknown.
 */
const ChangeEntry = v.looseObject({
  kind: v.literal("change"),
  path: v.string(),
  before: v.nullable(FileState),
  after: v.optional(v.nullable(v.string())),
});

/**
 * The user undid this turn and all later ones. `conversation`: the conversation was reset, too; without it only
 * files were restored.
 */
const RewindEntry = v.looseObject({
  kind: v.literal("rewind"),
  at: v.number(),
  turn: v.string(),
  conversation: v.optional(
    v.looseObject({
      messages: v.array(StoredMessage),
      lastTurn: v.optional(v.picklist(["answered", "cut"])),
      seen: v.record(v.string(), v.string()),
    }),
  ),
});

/** The number of an event that is not kept. */
const MarkEntry = v.looseObject({ kind: v.literal("mark"), seq: v.number() });

/** From here on the run could not write its log: its later work is unknown. */
const LostEntry = v.looseObject({ kind: v.literal("lost"), at: v.number() });

const Entry: v.GenericSchema<Entry> = v.variant("kind", [
  OpenedEntry,
  EventEntry,
  MessageEntry,
  ResetEntry,
  PartialEntry,
  AskedEntry,
  SteeredEntry,
  SeenEntry,
  ChangeEntry,
  RewindEntry,
  MarkEntry,
  LostEntry,
]);
export interface FileState {
  sha256?: string | undefined;
  mode: number;
  stamp?: string | undefined;
}
/** An earlier state of the session's conversation. */
export interface EarlierConversation {
  messages: Message[];
  lastTurn?: LastTurn;
  seen: Record<string, string>;
}
/** Written out, because a message's type is the model's (models/model.ts) and not the schema's. */
export type Entry =
  | { kind: "opened"; at: number; id: string; cwd: string; name?: string | undefined; config: Config; seq?: number | undefined }
  | { kind: "event"; event: StoredEvent }
  | { kind: "message"; message: Message }
  | { kind: "reset"; messages: Message[] }
  | { kind: "partial"; turn: string; block: "text" | "thinking"; text: string }
  | { kind: "asked"; calls: Called[] }
  | { kind: "steered"; parts: StoredPart[] }
  | { kind: "seen"; path: string; stamp: string }
  | { kind: "change"; path: string; before: FileState | null; after?: string | null | undefined }
  | { kind: "rewind"; at: number; turn: string; conversation?: EarlierConversation | undefined }
  | { kind: "mark"; seq: number }
  | { kind: "lost"; at: number };

/**
 * A damaged sector must not lose the whole session, but a reader must know which lines are missing.
 */
export type ReadEntry = Entry | { kind: "unreadable"; line: number };

/** The entry as a line without its LF. */
export function writeEntry(entry: Entry): string {
  return seal(JSON.stringify(entry));
}

/** A line with a wrong checksum is unreadable; a line without one is of an older version. */
export function parseEntry(line: Buffer, number: number): ReadEntry {
  const json = unseal(line);
  return (json === undefined ? undefined : entryIn(json)) ?? { kind: "unreadable", line: number };
}

/**
 * Reads an entry without its checksum, for lists. Returns the parsed line and not the schema's copy: that leaves out
 * names like "constructor", which a tool's argument may have.
 */
export function entryIn(json: string): Entry | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return v.is(Entry, value) ? value : undefined;
  } catch {
    return undefined;
  }
}
