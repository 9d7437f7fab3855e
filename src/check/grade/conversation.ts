/** A conversation with an agent that is graded: every line in both directions is kept, and every wait has an end. */
import * as v from "valibot";
import type { Closed } from "../../core/event.js";
import type { Frame, Transport } from "../../core/wire.js";
import type { Dialect } from "../../dialects/dialect.js";
import { Failed, type ShownLine, type WireLine } from "./outcome.js";

/** A record of the wire, as far as every dialect has one. */
export type WireRecord = Readonly<Record<string, unknown>>;

/** A line that no agent of the dialect writes. */
export interface Breach {
  /** The record; undefined where the line is none. */
  rec: unknown;
  why: string;
  lines: ShownLine[];
}

/** An agent that writes more than this in one scene floods its host. */
const LINES = 20_000;
const BYTES = 64 * 1024 * 1024;
/** Lines shown before and behind an offending one. */
const AROUND = 4;
const SHOWN_CHARS = 500;

const Record = v.record(v.string(), v.unknown());

export class Conversation {
  readonly records: WireRecord[] = [];
  readonly breaches: Breach[] = [];
  readonly #lines: WireLine[] = [];
  /** The line of each record. */
  readonly #lineOf = new Map<WireRecord, number>();
  readonly #transport: Transport;
  readonly #dialect: Dialect;
  readonly #signal: AbortSignal;
  readonly #read: Promise<void>;
  #bytes = 0;
  #flooded = false;
  #closed: Closed | undefined;
  #wake: () => void = () => {};
  #woken = new Promise<void>(() => {});

  /** `signal` ends every wait; its reason is a sentence. */
  constructor(transport: Transport, dialect: Dialect, signal: AbortSignal) {
    this.#transport = transport;
    this.#dialect = dialect;
    this.#signal = signal;
    this.#rearm();
    this.#read = this.#listen();
    signal.addEventListener("abort", () => this.#tell(), { once: true });
  }

  /** A record, or a line as it is. */
  say(...said: (WireRecord | string)[]): void {
    for (const one of said) this.#lines.push({ from: "host", text: typeof one === "string" ? one : JSON.stringify(one) });
    void this.#transport.write(said);
    this.#transport.flush?.();
  }

  /** The nth record that matches, heard already or yet to come; the time's end and the agent's end are failures. */
  async next(what: string, matches: (rec: WireRecord) => boolean, nth = 1): Promise<WireRecord> {
    for (;;) {
      const found = this.records.filter(matches)[nth - 1];
      if (found !== undefined) return found;
      const over = this.#flooded
        ? "the agent floods its host"
        : this.#closed !== undefined
          ? (this.#closed.reason ?? "the agent had left")
          : this.#signal.aborted
            ? String(this.#signal.reason)
            : undefined;
      if (over !== undefined) throw new Failed(`Expected ${what}, but ${over}.`, this.lines());
      await this.#woken;
    }
  }

  all(matches: (rec: WireRecord) => boolean): WireRecord[] {
    return this.records.filter(matches);
  }

  /** Throws unless it holds; `at` is the offending record. */
  expect(holds: boolean, what: string, at?: WireRecord): void {
    if (!holds) throw new Failed(`Expected ${what}.`, this.lines(at));
  }

  /** The lines around a record, which is marked; the last ones without it. */
  lines(at?: WireRecord): ShownLine[] {
    const index = at === undefined ? undefined : this.#lineOf.get(at);
    return index === undefined ? this.#lines.slice(-AROUND).map(shown) : this.#around(index);
  }

  /** The host has nothing more to say. */
  leave(): void {
    this.#transport.close("eof");
  }

  /** How the agent ended, once it has. */
  async left(): Promise<Closed> {
    while (this.#closed === undefined) {
      if (this.#signal.aborted) throw new Failed(`Expected the agent to leave, but ${String(this.#signal.reason)}.`, this.lines());
      await this.#woken;
    }
    return this.#closed;
  }

  /** Ends the agent with everything that it started. */
  async end(): Promise<void> {
    this.#transport.close("term");
    await this.#transport.closed;
    await this.#read;
  }

  async #listen(): Promise<void> {
    for await (const frame of this.#transport.frames) {
      if (this.#flooded) continue;
      this.#hear(frame);
      this.#tell();
    }
    this.#closed = await this.#transport.closed;
    this.#tell();
  }

  #hear(frame: Frame): void {
    if ("launch" in frame) return;
    const text = "rec" in frame ? JSON.stringify(frame.rec) : frame.line;
    const at = this.#lines.push({ from: "agent", text }) - 1;
    this.#bytes += text.length;
    this.#flooded = this.#lines.length > LINES || this.#bytes > BYTES;
    if ("bad" in frame) return void this.breaches.push({ rec: undefined, why: `${frame.bad}.`, lines: this.#around(at) });
    const read = v.safeParse(Record, frame.rec);
    if (read.success) {
      this.records.push(read.output);
      this.#lineOf.set(read.output, at);
    }
    const known = v.safeParse(this.#dialect.wire.event, frame.rec);
    if (known.success) return;
    const [issue] = known.issues;
    const why = `${this.#dialect.id} has no such line: ${v.getDotPath(issue) ?? "the record"}: ${issue.message}.`;
    this.breaches.push({ rec: frame.rec, why, lines: this.#around(at) });
  }

  #around(at: number): ShownLine[] {
    const from = Math.max(0, at - AROUND);
    return this.#lines
      .slice(from, at + AROUND + 1)
      .map((line, n) => ({ ...shown(line), ...(from + n === at && { isMarked: true as const }) }));
  }

  #tell(): void {
    const wake = this.#wake;
    this.#rearm();
    wake();
  }

  #rearm(): void {
    this.#woken = new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

function shown({ from, text }: WireLine): ShownLine {
  return { from, text: text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text };
}
