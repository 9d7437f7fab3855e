/** Decides which events of a session are logged, and when. A failing log is reported once, and the session goes on without it. */
import type { Part } from "../../core/content.js";
import { messageOf } from "../../core/errors.js";
import type { Event, EventType } from "../../core/event.js";
import type { Message, ModelCall } from "../models/model.js";
import type { Entry } from "./entry.js";
import { nextSeq } from "./seq.js";
import type { KeptSession, SessionLog } from "./store.js";

/** Logged events: whole items, and no deltas, progress or replies. */
const KEPT: ReadonlySet<EventType> = new Set<EventType>([
  "session.updated",
  "turn.started",
  "turn.ended",
  "user.message",
  "text.done",
  "thinking.done",
  "tool.requested",
  "tool.started",
  "tool.ended",
  "approval.requested",
  "usage",
  "compaction",
  "notice",
  "error",
]);

/** The longest time for which streamed text may be missing from the log. */
const PARTIAL_MS = 250;
/** The most characters of an open block in the log; a crash loses text beyond that. */
const PARTIAL_CHARS = 1024 * 1024;

export class Recorder {
  readonly #onBroken: (why: string) => void;
  /** The log; undefined if the session is not stored, or the log failed. */
  #log: SessionLog | undefined;
  /** A failed log stays locked until the end, so that no other process continues it. */
  #broken: SessionLog | undefined;
  #failure: unknown;
  #turn = "";
  #partial = { text: "", thinking: "" };
  #partialChars = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Whether records wait to be written. */
  #unwritten = false;
  #scheduled = false;
  #wantsSync = false;
  /** From this number on the log needs a mark: the next run numbers its events after those in the log. */
  #unmarked: number;

  constructor(log: SessionLog | undefined, firstSeq: number, onBroken: (why: string) => void) {
    this.#log = log;
    this.#unmarked = nextSeq(firstSeq);
    this.#onBroken = onBroken;
  }

  /** The error that ended the logging. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Records an event. `write` must follow before the host gets it. */
  event(event: Event): void {
    if (this.#log === undefined) return;
    const isKept = KEPT.has(event.type);
    if (event.seq !== undefined && event.seq >= this.#unmarked) this.#mark(event.seq, isKept);
    if (event.type === "text.delta" || event.type === "thinking.delta")
      return this.#delta(event.type === "text.delta" ? "text" : "thinking", event);
    if (!isKept) return;
    if (event.type === "turn.started") this.#turn = event.turn ?? "";
    if (event.under === undefined && (event.type === "text.done" || event.type === "thinking.done")) this.#forgetPartial();
    this.#append({ kind: "event", event });
  }

  message(message: Message): void {
    this.#append({ kind: "message", message });
  }

  reset(messages: readonly Message[]): void {
    this.#append({ kind: "reset", messages: [...messages] });
  }

  /** Records calls with their prompt: a crash must not lose an acknowledged prompt. */
  asked(calls: ModelCall[]): void {
    this.#append({ kind: "asked", calls });
  }

  /** Records steered text: it is acknowledged, so a crash must not lose it before the model has it. */
  steered(parts: Part[]): void {
    this.#append({ kind: "steered", parts });
  }

  seen(path: string, stamp: string): void {
    this.#append({ kind: "seen", path, stamp });
  }

  change(change: Omit<Extract<Entry, { kind: "change" }>, "kind">): void {
    this.#append({ kind: "change", ...change });
  }

  rewind(rewind: Omit<Extract<Entry, { kind: "rewind" }>, "kind">): void {
    this.#append({ kind: "rewind", ...rewind });
  }

  reopened(session: Omit<Extract<Entry, { kind: "opened" }>, "kind">): void {
    this.#append({ kind: "opened", ...session });
  }

  /**
   * Writes the records, which then outlive the process. Events are sent after that; other records follow within a turn of
   * the event loop.
   */
  write(): void {
    if (!this.#unwritten) return;
    this.#unwritten = false;
    try {
      this.#log?.flush();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Makes the records survive a power cut. */
  async sync(): Promise<void> {
    await this.#try((log) => log.sync());
  }

  /** Syncs soon, for callers that do not wait: after the present events are on their way. */
  syncSoon(): void {
    this.#wantsSync = true;
    this.#schedule();
  }

  /** Between turns: prepares a snapshot that makes a later opening fast. */
  async settle(session: () => KeptSession): Promise<void> {
    await this.#try((log) => log.settle(session));
  }

  async close(session: () => KeptSession): Promise<void> {
    this.#forgetPartial();
    this.write();
    await this.settle(session);
    await this.#try((log) => log.close());
    await this.#broken?.close().catch(() => {});
    this.#log = this.#broken = undefined;
  }

  #mark(seq: number, isKept: boolean): void {
    this.#unmarked = nextSeq(seq);
    if (isKept) return;
    this.#append({ kind: "mark", seq });
    this.write();
  }

  #delta(block: "text" | "thinking", event: { text: string; under?: string | undefined }): void {
    if (event.under !== undefined || this.#partialChars > PARTIAL_CHARS) return;
    this.#partialChars += event.text.length;
    this.#partial[block] += event.text;
    this.#timer ??= setTimeout(() => this.#writePartial(), PARTIAL_MS);
  }

  #writePartial(): void {
    this.#timer = undefined;
    for (const block of ["thinking", "text"] as const) {
      const text = this.#partial[block];
      if (text !== "") this.#append({ kind: "partial", turn: this.#turn, block, text });
    }
    this.#partial = { text: "", thinking: "" };
  }

  #forgetPartial(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#partialChars = 0;
    this.#partial = { text: "", thinking: "" };
  }

  #append(entry: Entry): void {
    if (this.#log === undefined) return;
    try {
      this.#log.append(entry);
      this.#unwritten = true;
    } catch (error) {
      this.#fail(error);
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.write();
      if (!this.#wantsSync) return;
      this.#wantsSync = false;
      void this.sync();
    });
  }

  async #try(work: (log: SessionLog) => Promise<void>): Promise<void> {
    this.write();
    if (this.#log === undefined) return;
    try {
      await work(this.#log);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#log === undefined) return;
    this.#broken = this.#log;
    this.#failure = error;
    this.#log = undefined;
    this.#forgetPartial();
    this.#broken.giveUp();
    this.#onBroken(`This session can no longer be saved: ${messageOf(error)}`);
  }
}
