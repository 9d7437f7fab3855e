/** What a session says: stamped and addressed, in its log first and then to the host. */
import type { Fault } from "../../core/errors.js";
import type { Event } from "../../core/event.js";
import type { Op } from "../../core/op.js";
import { Recorder } from "../store/recorder.js";
import type { SessionLog } from "../store/store.js";

/** Whose event it is. */
export interface Address {
  turn: string;
  parent?: string;
  under?: string;
}

interface VoiceDeps {
  handle: string;
  sessionId?: string | undefined;
  name?: string | undefined;
  log?: SessionLog | undefined;
  nextSeq(): number;
  push(event: Event): Promise<void> | undefined;
}

export class SessionVoice {
  readonly recorder: Recorder;
  /** The last number that was given. */
  seq = 0;
  readonly #deps: VoiceDeps;
  /** Warnings that wait for the opener to be told first. */
  #early: string[] | undefined = [];

  constructor(deps: VoiceDeps, firstSeq: number) {
    this.#deps = deps;
    this.recorder = new Recorder(deps.log, firstSeq, (why) => this.warn(why));
  }

  /** The log first, then the host. */
  emit(event: Event, address?: Address): Promise<void> | undefined {
    this.recorder.event(this.stamped(event, address));
    return this.push(event);
  }

  /** To the host alone: it was recorded. A piece of a text does not wait for what others recorded. */
  push(event: Event): Promise<void> | undefined {
    if (event.type !== "text.delta" && event.type !== "thinking.delta") this.recorder.write();
    return this.#deps.push(event);
  }

  /** In place: a delta is one object from here to the wire. */
  stamped(event: Event, address?: Address): Event {
    event.session = this.#deps.handle;
    if (address !== undefined) {
      event.turn = address.turn;
      if (address.parent !== undefined) event.parent = address.parent;
      if (address.under !== undefined) event.under = address.under;
    }
    event.at = Date.now();
    event.seq = this.seq = this.#deps.nextSeq();
    return event;
  }

  reply(op: Op, status: "ok" | "noop" | "loading", data?: unknown): Promise<void> | undefined {
    return this.emit({ type: "reply", to: op.type, status, parent: op.id, ...(data !== undefined && { data }) });
  }

  refuse(op: Op, fault: Fault): Promise<void> | undefined {
    return this.emit({ type: "reply", to: op.type, status: "error", fault, parent: op.id });
  }

  warn(text: string): void {
    if (this.#early !== undefined) return void this.#early.push(text);
    void this.emit({ type: "notice", level: "warning", text, kind: "store" });
  }

  /** The opener has been told: warnings need no longer wait. Those that did. */
  opened(): string[] {
    const early = this.#early ?? [];
    this.#early = undefined;
    return early;
  }

  identity(): { sessionId?: string; name?: string } {
    const { sessionId, name } = this.#deps;
    return { ...(sessionId !== undefined && { sessionId }), ...(name !== undefined && { name }) };
  }
}
