/** The lines of the journal. A message is received, started, answered; an outgoing message is told, attempted, delivered. */
import * as v from "valibot";

const StoredAttachment = v.object({
  type: v.picklist(["image", "file", "audio", "video", "other"]),
  url: v.string(),
  name: v.string(),
  mime: v.optional(v.string()),
});

/** This line is on disk before the platform's message is acknowledged. */
const Received = v.looseObject({
  kind: v.literal("received"),
  id: v.string(),
  at: v.number(),
  platform: v.string(),
  chat: v.string(),
  session: v.string(),
  from: v.string(),
  text: v.string(),
  attachments: v.array(StoredAttachment),
  key: v.optional(v.string()),
});

/** This line is on disk before the agent starts, so that no turn silently runs twice. */
const Started = v.looseObject({ kind: v.literal("started"), id: v.string() });

/** All replies to the message stand above this line. */
const Answered = v.looseObject({ kind: v.literal("answered"), id: v.string() });

/** This line is on disk before the message is sent. One line is one message on the platform. */
const Told = v.looseObject({
  kind: v.literal("told"),
  id: v.string(),
  at: v.number(),
  platform: v.string(),
  chat: v.string(),
  type: v.picklist(["partial", "reply", "notice", "end"]),
  text: v.string(),
  /** The answered message, and the platform's key of it. */
  to: v.optional(v.string()),
  key: v.optional(v.string()),
});

/** From this line on the message may have arrived. */
const Attempted = v.looseObject({ kind: v.literal("attempted"), id: v.string() });

/** The message has arrived, or (with a reason) never will. */
const Delivered = v.looseObject({ kind: v.literal("delivered"), id: v.string(), refused: v.optional(v.string()) });

/** A handled message, recognised by this key when it comes again. Its id is "" when it needed no turn. */
const Seen = v.looseObject({ kind: v.literal("seen"), platform: v.string(), key: v.string(), id: v.optional(v.string(), "") });

/** The sessions of a chat, and the current one. */
const Chat = v.looseObject({
  kind: v.literal("chat"),
  platform: v.string(),
  chat: v.string(),
  current: v.string(),
  names: v.array(v.string()),
});

const Entry = v.variant("kind", [Received, Started, Answered, Told, Attempted, Delivered, Seen, Chat]);
export type Entry = v.InferOutput<typeof Entry>;
export type Received = v.InferOutput<typeof Received>;
export type Told = v.InferOutput<typeof Told>;
export type Chat = v.InferOutput<typeof Chat>;

/** Undefined for an invalid line: one bad sector must not cost the other lines. */
export function parseEntry(line: string): Entry | undefined {
  try {
    const entry = v.safeParse(Entry, JSON.parse(line));
    return entry.success ? entry.output : undefined;
  } catch {
    return undefined;
  }
}
