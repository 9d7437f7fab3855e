/** The events of a session: stamped and addressed, written to its log, and then sent to the host. */
import type { Fault } from "../../core/errors.js";
import type { Event } from "../../core/event.js";
import type { Op } from "../../core/op.js";
import { Recorder } from "../store/recorder.js";
import type { SessionLog } from "../store/store.js";
import type { EngineServices } from "./services.js";
import { Spending } from "./spending.js";

/** The place of an event: its turn, the op that it answers, and the Spawn call that it is under. */
export interface Address {
  turn: string;
  parent?: string;
  under?: string;
}

export interface Identity {
  sessionId?: string;
  name?: string;
}

interface Warning {
  text: string;
  kind: string;
}

export class SessionEvents {
  readonly recorder: Recorder;
  readonly identity: Identity;
  readonly spending = new Spending();
  /** The number of the last event. */
  seq = 0;
  readonly #handle: string;
  readonly #engine: Pick<EngineServices, "nextSeq" | "push">;
  /** Warnings held until `session.ready`; undefined afterwards. */
  #early: Warning[] | undefined = [];

  constructor(
    handle: string,
    identity: Identity,
    engine: Pick<EngineServices, "nextSeq" | "push">,
    log: SessionLog | undefined,
    firstSeq: number,
  ) {
    this.#handle = handle;
    this.identity = identity;
    this.#engine = engine;
    this.recorder = new Recorder(log, firstSeq, (why) => this.warn(why));
  }

  /**
   * Records an event and then sends it to the host: the only way to send events. `along` records entries that must be in the log before
   * the host gets the event.
   */
  tell(event: Event, address?: Address, along?: () => void): Promise<void> | undefined {
    this.record(event, address);
    if (event.type === "usage" && event.scope === "call") this.spending.add(event);
    along?.();
    return this.#push(event);
  }

  /** Records an event without sending it. */
  record(event: Event, address?: Address): void {
    this.recorder.event(this.#stamped(event, address));
  }

  /** Sends an event that is in the log since an earlier run. */
  replay(event: Event): Promise<void> | undefined {
    return this.#push({ ...event, session: this.#handle, replay: true });
  }

  reply(op: Op, status: "ok" | "noop" | "loading", data?: unknown): Promise<void> | undefined {
    return this.tell({ type: "reply", to: op.type, status, parent: op.id, ...(data !== undefined && { data }) });
  }

  refuse(op: Op, fault: Fault): Promise<void> | undefined {
    return this.tell({ type: "reply", to: op.type, status: "error", fault, parent: op.id });
  }

  warn(text: string, kind = "store"): void {
    if (this.#early !== undefined) return void this.#early.push({ text, kind });
    void this.tell({ type: "notice", level: "warning", text, kind });
  }

  /** `session.ready` is out: returns the held warnings. Later ones are sent at once. */
  opened(): Warning[] {
    const early = this.#early ?? [];
    this.#early = undefined;
    return early;
  }

  /** Deltas are not kept, so a delta does not wait for other records to be written. */
  #push(event: Event): Promise<void> | undefined {
    if (event.type !== "text.delta" && event.type !== "thinking.delta") this.recorder.write();
    return this.#engine.push(event);
  }

  /** Changes the event in place: a delta is one object from here to the wire. */
  #stamped(event: Event, address?: Address): Event {
    event.session = this.#handle;
    if (address !== undefined) {
      event.turn = address.turn;
      if (address.parent !== undefined) event.parent = address.parent;
      if (address.under !== undefined) event.under = address.under;
    }
    event.at = Date.now();
    event.seq = this.seq = this.#engine.nextSeq();
    return event;
  }
}
