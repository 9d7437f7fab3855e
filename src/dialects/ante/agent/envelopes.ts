/**
 * The envelope of every record: its time, its id, and the operation that it answers. The id is derived from the
 * event alone, so that a replay is the same bytes.
 */
import type { Event } from "../../../core/event.js";
import type { SideEnv } from "../../dialect.js";
import { digits, hash, opId, wireId } from "../wire/ids.js";
import type { Tagged } from "./write-events.js";

/** The largest time that a date can hold. */
const LAST_MOMENT = 8.64e15;

export class Envelopes {
  readonly #env: SideEnv;
  /** The time of the last live record, and the event of that record. */
  #latest = 0;
  #from = { session: "", at: -1, seq: -1, index: 0 };
  /** One session may write many records within one millisecond. */
  #moment = { at: -1, timestamp: "", digits: "" };
  #session = { name: "", digits: "" };

  constructor(env: SideEnv) {
    this.#env = env;
  }

  /** Wraps a live event: times never go backwards, though an event may be older than `session.ready`. */
  live(event: Event, variants: readonly Tagged[]): unknown[] {
    if (variants.length === 0) return [];
    const at = momentOf(event.at);
    if (at === undefined || event.seq === undefined) return variants.map((variant) => this.own(variant, event.parent));
    this.#latest = Math.max(this.#latest, at);
    const timestamp = this.#at(this.#latest).timestamp;
    const first = this.#continued(event.session ?? "", at, event.seq, variants.length);
    return variants.map((variant, index) => this.#record(timestamp, this.#id(event, at, first + index), variant, event.parent));
  }

  /** Wraps a replayed event, with its original time and ids. */
  replayed(event: Event, variants: readonly Tagged[]): unknown[] {
    const at = momentOf(event.at) ?? 0;
    const { timestamp } = this.#at(at);
    return variants.map((variant, index) => this.#record(timestamp, this.#id(event, at, index), variant, event.parent));
  }

  /** Wraps an answer of this side that has no event. */
  own(variant: Tagged, parent: string | undefined): unknown {
    const { id, at } = this.#env.stamp();
    this.#latest = Math.max(this.#latest, at);
    return this.#record(this.#at(this.#latest).timestamp, wireId("evt", id), variant, parent);
  }

  #record(timestamp: string, id: string, event: Tagged, parent: string | undefined): unknown {
    return { timestamp, id, event, parent: parent === undefined ? null : opId(parent) };
  }

  /** The link's own events repeat the number of the agent's last event: their records are counted on behind it. */
  #continued(session: string, at: number, seq: number, count: number): number {
    const from = this.#from;
    const first = from.session === session && from.at === at && from.seq === seq ? from.index : 0;
    this.#from = { session, at, seq, index: first + count };
    return first;
  }

  #id({ session = "", seq = 0 }: Event, at: number, index: number): string {
    if (this.#session.name !== session || this.#session.digits === "")
      this.#session = { name: session, digits: digits(hash(session, 0), 3) };
    return `evt_${this.#at(at).digits}${digits(Math.max(0, Math.trunc(seq)), 11)}${digits(index, 2)}${this.#session.digits}`;
  }

  #at(at: number): { timestamp: string; digits: string } {
    if (this.#moment.at !== at) this.#moment = { at, timestamp: new Date(at).toISOString(), digits: digits(at, 10) };
    return this.#moment;
  }
}

function momentOf(at: number | undefined): number | undefined {
  return at === undefined || !(at >= 0 && at <= LAST_MOMENT) ? undefined : Math.trunc(at);
}
