/** Rebuilds a session from its log: its conversation exactly, its settings, and the turn that a crash left open. */
import * as v from "valibot";
import { plainText, type Part } from "../../core/content.js";
import type { Event, EventOf, Usage } from "../../core/event.js";
import { addUsage } from "../../core/usage.js";
import type { Message } from "../models/model.js";
import type { Entry, ReadEntry } from "./entry.js";
import { mend, type OpenTurn } from "./mend.js";
import { isOfUser } from "../session/history.js";
import { afterReset, afterTurn, type LastTurn } from "../session/unfinished.js";
import { paired } from "./pair-calls.js";
import type { KeptSession, StoredSession } from "./store.js";

/**
 * `base` is a snapshot; the entries are those after it. Undefined if no entry names the session: a damaged first line
 * does not matter if a later run repeats it.
 */
export function rebuild(base: KeptSession | undefined, entries: Iterable<ReadEntry>): StoredSession | undefined {
  let session = base ?? emptySession();
  let known = base !== undefined;
  const open = new OpenState();
  for (const entry of entries) {
    if (entry.kind === "opened") {
      session = opened(session, entry);
      known = true;
      open.unsavedSince = undefined;
    }
    if (entry.kind === "message") session.messages.push(entry.message);
    if (entry.kind === "seen") session.seen[entry.path] = entry.stamp;
    if (entry.kind === "reset") session.messages = [...entry.messages];
    if (entry.kind === "rewind" && entry.conversation !== undefined) {
      session.messages = [...entry.conversation.messages];
      session.seen = { ...entry.conversation.seen };
    }
    session.lastTurn = open.lastTurn(entry, session.lastTurn);
    if (entry.kind === "mark") session.seq = Math.max(session.seq, entry.seq);
    if (entry.kind === "event") note(session, entry.event);
    open.follow(entry);
  }
  if (!known) return undefined;
  const crash = mend(open.turn, open.late);
  // The mended entries count as if they had been written.
  for (const entry of crash?.mend ?? []) {
    if (entry.kind === "message") session.messages.push(entry.message);
    session.lastTurn = open.lastTurn(entry, session.lastTurn);
    open.follow(entry);
  }
  return {
    ...session,
    messages: paired(withSummary(session.messages)),
    crash,
    unsavedSince: open.unsavedSince,
    unreadable: open.unreadable,
  };
}

/** Logs of older versions do not mark the summary: it was the first message, with these words. */
const OLD_SUMMARY = "[Summary of the conversation so far; the messages themselves were cleared to make room]";

function withSummary(messages: Message[]): Message[] {
  const [first, ...rest] = messages;
  if (first === undefined || !isOfUser(first) || !plainText(first.parts).startsWith(OLD_SUMMARY)) return messages;
  return [{ ...first, kind: "summary" }, ...rest];
}

export function emptySession(): KeptSession {
  return { id: "", cwd: "", name: undefined, config: {}, messages: [], lastTurn: undefined, seen: {}, seq: 0 };
}

function opened(session: KeptSession, { id, cwd, name, config, seq = 0 }: Extract<Entry, { kind: "opened" }>): KeptSession {
  return { ...session, id: session.id || id, name: session.name ?? name, cwd, config, seq: Math.max(session.seq, seq) };
}

function note(session: KeptSession, event: Event): void {
  session.seq = Math.max(session.seq, event.seq ?? 0);
  if (event.type === "session.updated" && event.config !== undefined) session.config = event.config;
}

/** The open turn at this place of the log. */
class OpenState {
  turn: OpenTurn | undefined;
  /** Text steered in after the last request of its turn: it becomes the next prompt. */
  late: Part[] = [];
  unsavedSince: number | undefined;
  readonly unreadable: number[] = [];

  /** The end of the last turn, with this entry included. Call it before `follow`. */
  lastTurn(entry: ReadEntry, before: LastTurn): LastTurn {
    if (entry.kind === "reset") return afterReset(before);
    if (entry.kind === "rewind") return entry.conversation === undefined ? before : entry.conversation.lastTurn;
    // A message outside a turn is prior context or a note.
    if (entry.kind === "message" && this.turn === undefined) return isNote(entry.message) ? before : undefined;
    if (entry.kind !== "event" || entry.event.type !== "turn.ended" || this.turn?.last === undefined) return before;
    return afterTurn(entry.event, this.turn.last);
  }

  follow(entry: ReadEntry): void {
    switch (entry.kind) {
      case "message":
        return this.#message(entry.message);
      case "event":
        return this.#event(entry.event);
      case "partial":
        if (this.turn?.started.turn === entry.turn) this.turn.partial[entry.block] += entry.text;
        return;
      case "asked":
        if (this.turn !== undefined) this.turn.wanted = entry.calls;
        return;
      case "rewind":
        // The undone turn may be the one that a crash left open.
        if (entry.conversation === undefined) return;
        this.turn = undefined;
        this.late = [];
        return;
      case "steered":
        this.turn?.steered.push(...entry.parts);
        return;
      case "lost":
        this.unsavedSince ??= entry.at;
        if (this.turn !== undefined) this.turn.torn = true;
        return;
      case "unreadable":
        this.unreadable.push(entry.line);
        if (this.turn !== undefined) this.turn.torn = true;
        return;
      case "opened":
      case "reset":
      case "seen":
      case "change":
      case "mark":
        return;
      default:
        entry satisfies never;
    }
  }

  #message(message: Message): void {
    const { turn } = this;
    if (turn !== undefined) turn.last = message;
    if (message.role === "user") {
      if (turn === undefined) this.late = [];
      else if (turn.prompt !== undefined) turn.prompt = undefined;
      else turn.taken = [];
    }
    if (message.role === "assistant" && turn !== undefined) {
      turn.wanted = [];
      turn.said = [];
      turn.partial = { text: "", thinking: "" };
    }
  }

  #event(event: Event): void {
    if (event.type === "turn.started") this.turn = begun(event);
    else if (this.turn === undefined) return;
    else if (event.type === "turn.ended") this.#ended(event, this.turn);
    else if (event.type === "user.message") this.#asked(event, this.turn);
    else progress(this.turn, event);
  }

  /** The first user message of a turn is its prompt; the others are steered text, at the time when the model got it. */
  #asked({ parts }: EventOf<"user.message">, turn: OpenTurn): void {
    if (turn.asked) {
      turn.taken = parts;
      turn.steered = [];
      return;
    }
    turn.asked = true;
    // A prompt without a message: the next message is not the prompt.
    turn.prompt = parts.length === 0 ? undefined : parts;
    this.late = [];
  }

  #ended({ outcome }: EventOf<"turn.ended">, turn: OpenTurn): void {
    if (outcome !== "interrupted" && turn.steered.length > 0) this.late = turn.steered;
    this.turn = undefined;
  }
}

function isNote(message: Message): boolean {
  return message.role === "user" && message.kind === "note";
}

function begun(started: EventOf<"turn.started">): OpenTurn {
  return {
    started,
    asked: false,
    prompt: undefined,
    wanted: [],
    steered: [],
    taken: [],
    calls: new Map(),
    last: undefined,
    said: [],
    partial: { text: "", thinking: "" },
    usage: undefined,
    torn: false,
  };
}

/** A notice that the present answer is dropped: the model is asked again. */
const Dropped = v.looseObject({ dropped: v.literal(true) });

function progress(turn: OpenTurn, event: Event): void {
  if (event.type === "tool.requested") turn.calls.set(event.call.id, { requested: event, started: false });
  if (event.type === "tool.started") {
    const call = turn.calls.get(event.call);
    if (call !== undefined) call.started = true;
  }
  if (event.type === "tool.ended") {
    const call = turn.calls.get(event.call);
    if (call !== undefined) call.ended = event;
  }
  if (event.type === "usage" && event.scope === "call") turn.usage = addUsage(turn.usage, event.usage satisfies Usage);
  if (event.type === "notice" && event.under === undefined && v.is(Dropped, event.data)) turn.said = [];
  if ((event.type !== "text.done" && event.type !== "thinking.done") || event.under !== undefined) return;
  if (event.type === "text.done") turn.said.push(event.text);
  turn.partial = { text: "", thinking: "" };
}
