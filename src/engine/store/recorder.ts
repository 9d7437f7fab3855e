/** What of a session goes into its log, and when. A log that fails is told once, and the session goes on without it. */
import { messageOf } from "../../core/errors.js";
import type { Event, EventType } from "../../core/event.js";
import type { Message } from "../models/model.js";
import type { Entry } from "./entry.js";
import type { SessionLog, StoredSession } from "./store.js";

/** Whole items; deltas, progress and replies are not kept. */
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

/** How long streamed text may be missing from the log. */
const PARTIAL_MS = 250;
/** Entries after which a snapshot is worth its while. */
const SNAPSHOT_ENTRIES = 500;

export class Recorder {
  readonly #onBroken: (why: string) => void;
  #log: SessionLog | undefined;
  #entries = 0;
  #turn = "";
  #partial = { text: "", thinking: "" };
  #timer: NodeJS.Timeout | undefined;

  constructor(log: SessionLog | undefined, onBroken: (why: string) => void) {
    this.#log = log;
    this.#onBroken = onBroken;
  }

  /** Before anybody else hears of it. */
  event(event: Event): void {
    if (this.#log === undefined) return;
    if (event.type === "text.delta" || event.type === "thinking.delta") return this.#delta(event.type === "text.delta" ? "text" : "thinking", event);
    if (!KEPT.has(event.type)) return;
    if (event.type === "turn.started") this.#turn = event.turn ?? "";
    if (event.under === undefined && (event.type === "text.done" || event.type === "thinking.done")) this.#forgetPartial();
    this.#append({ kind: "event", event });
  }

  message(message: Message): void {
    this.#append({ kind: "message", message });
  }

  /** What was recorded survives a power cut. */
  async sync(): Promise<void> {
    await this.#try((log) => log.sync());
  }

  /** Between turns: makes a later opening fast. */
  async settle(session: () => Omit<StoredSession, "crash">): Promise<void> {
    if (this.#entries < SNAPSHOT_ENTRIES) return;
    this.#entries = 0;
    await this.#try((log) => log.snapshot(session()));
  }

  async close(session: () => Omit<StoredSession, "crash">): Promise<void> {
    this.#forgetPartial();
    if (this.#entries > 0) await this.#try((log) => log.snapshot(session()));
    await this.#try((log) => log.close());
    this.#log = undefined;
  }

  #delta(block: "text" | "thinking", event: { text: string; under?: string | undefined }): void {
    if (event.under !== undefined) return;
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
    this.#partial = { text: "", thinking: "" };
  }

  #append(entry: Entry): void {
    if (this.#log === undefined) return;
    try {
      this.#log.append(entry);
      this.#entries++;
    } catch (error) {
      this.#broken(error);
    }
  }

  async #try(work: (log: SessionLog) => Promise<void>): Promise<void> {
    if (this.#log === undefined) return;
    try {
      await work(this.#log);
    } catch (error) {
      this.#broken(error);
    }
  }

  #broken(error: unknown): void {
    this.#log = undefined;
    this.#forgetPartial();
    this.#onBroken(`This session can no longer be saved: ${messageOf(error)}`);
  }
}
