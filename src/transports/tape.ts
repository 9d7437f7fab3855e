/**
 * A tape: every message of a wire in both directions, and its ops and events, in order, redacted, one JSON line each
 * (docs/observability.md). It wraps a transport and an agent: reading and writing wait for a slow disk, so no message is
 * dropped and memory stays bounded.
 */
import type { Agent } from "../core/agent.js";
import type { Event } from "../core/event.js";
import type { Op } from "../core/op.js";
import { RecordRedactor } from "../core/secrets/redact-records.js";
import { Redactor } from "../core/secrets/redact.js";
import type { Frame, Transport } from "../core/wire.js";
import { AppendFile } from "../os/files/append-file.js";
import type { Framing } from "../os/lines.js";

type Direction = "in" | "out";

/** A record of one direction, or the end of the direction. */
type Said =
  | { turn: Readonly<Record<string, string>> }
  | { rec: unknown }
  | { text: string }
  | { bad: string; line: string }
  | { op: Op }
  | { event: Event }
  | { end: true };

interface Envelope {
  at: number;
  dir?: Direction;
  conn?: string;
  wire?: "host" | "agent";
}

export interface TapeOptions {
  /** Learns the secrets of a message before it is written. */
  secretsIn(message: unknown): Iterable<string>;
  /** Called once, when the disk takes no more. */
  onFailure(why: string): void;
}

export interface Taped {
  framing: Framing;
  /** Names the connection, where there may be several. */
  conn?: string | undefined;
  /** The side of a relay that this wire belongs to. */
  wire?: "host" | "agent" | undefined;
  /** Knows the secrets to redact; it may learn more. */
  redactor: Redactor;
  /** The prompt in the launch of a process: its environment variables, and all its input if that is known. */
  begun?: { dir: Direction; turn: Readonly<Record<string, string>>; input?: string | undefined } | undefined;
}

export class Tape {
  readonly #file: AppendFile;
  readonly #options: TapeOptions;
  readonly #open = new Set<() => void>();
  /** Writers by connection. */
  readonly #writers = new Map<string, Writer>();

  /** `start` describes the recording, as a file may hold several. Throws a fault that names the file. */
  static async open(path: string, start: Record<string, unknown>, options: TapeOptions): Promise<Tape> {
    const gap = (lines: number, why: string): string => JSON.stringify({ at: Date.now(), gap: lines, why });
    const tape = new Tape(await AppendFile.open(path, { gap, onFailure: (why) => options.onFailure(why) }), options);
    void tape.#file.line(JSON.stringify({ at: Date.now(), start }));
    return tape;
  }

  constructor(file: AppendFile, options: TapeOptions) {
    this.#file = file;
    this.#options = options;
  }

  /** The same transport, recorded. */
  of(transport: Transport, { framing, conn, wire, redactor: others, begun }: Taped): Transport {
    const place = { ...(conn !== undefined && { conn }), ...(wire !== undefined && { wire }) };
    // Both wires of a relay share a recording.
    const writer = this.#writer(wire === undefined ? conn : undefined);
    const note = (dir: Direction, said: Said): Promise<void> | undefined =>
      writer.write(`${wire ?? ""} ${conn ?? ""} ${dir}`, said, { dir, ...place }, others);
    const over = (): void => {
      if (!this.#open.delete(over)) return;
      void note("out", { end: true });
      writer.leave();
    };
    this.#open.add(over);
    void transport.closed.then(over);
    if (begun !== undefined && Object.keys(begun.turn).length > 0) void note(begun.dir, { turn: begun.turn });
    if (begun?.input) void note(begun.dir, { text: begun.input });
    return {
      frames: heard(transport.frames, framing, note),
      isShared: transport.isShared,
      write(written) {
        let full: Promise<void> | undefined;
        for (const record of written) full = note("out", saidBy(record, framing)) ?? full;
        const slow = transport.write(written);
        return full === undefined ? slow : Promise.all([full, slow]).then(() => {});
      },
      flush: () => transport.flush?.(),
      close: (how) => transport.close(how),
      closed: transport.closed,
    };
  }

  /** The same agent, with its ops and events recorded. */
  agent(agent: Agent, seen: Pick<Taped, "conn" | "redactor">): Agent {
    const { op, event, over } = this.seam(seen);
    return {
      async send(sent) {
        await op(sent);
        await agent.send(sent);
      },
      events: told(agent.events, event, over),
      close: () => agent.close(),
    };
  }

  /** Records ops and events as they pass, and the end of both. */
  seam({ conn, redactor }: Pick<Taped, "conn" | "redactor">): Seam {
    const place = conn === undefined ? {} : { conn };
    const writer = this.#writer(conn);
    const over = (): void => {
      if (this.#open.delete(over)) writer.leave();
    };
    this.#open.add(over);
    return {
      op: (op) => writer.write("op", { op }, place, redactor),
      event: (event) => writer.write("event", { event }, place, redactor),
      over,
    };
  }

  /** The writer of a connection: its messages are written in order. */
  #writer(conn = ""): Writer {
    const known = this.#writers.get(conn);
    const writer =
      known ??
      new Writer(
        this.#options,
        (line) => this.#file.line(line),
        () => this.#writers.delete(conn),
      );
    writer.enter();
    this.#writers.set(conn, writer);
    return writer;
  }

  /** Resolves when all messages are written. */
  async close(): Promise<void> {
    for (const over of this.#open) over();
    await this.#file.close();
  }
}

export interface Seam {
  op(op: Op): Promise<void> | undefined;
  event(event: Event): Promise<void> | undefined;
  over(): void;
}

/** Writes messages redacted; a secret may be split over messages of one lane. */
class Writer {
  readonly #redactor = new Redactor();
  readonly #records = new RecordRedactor<Said, Envelope>(this.#redactor);
  /** The number of secrets known from each other redactor. */
  readonly #learnt = new Map<Redactor, number>();
  readonly #options: TapeOptions;
  readonly #line: (line: string) => Promise<void> | undefined;
  readonly #forsaken: () => void;
  #users = 0;

  constructor(options: TapeOptions, line: (line: string) => Promise<void> | undefined, forsaken: () => void) {
    this.#forsaken = forsaken;
    this.#options = options;
    this.#line = line;
  }

  enter(): void {
    this.#users++;
  }

  /** Records after the end of the last user are dropped. */
  leave(): void {
    if (--this.#users > 0) return;
    void this.#put(this.#records.flush());
    this.#forsaken();
  }

  write(lane: string, said: Said, place: Omit<Envelope, "at">, others: Redactor): Promise<void> | undefined {
    for (const secret of [...others.secrets.slice(this.#learnt.get(others) ?? 0), ...this.#options.secretsIn(said)])
      this.#redactor.add(secret);
    this.#learnt.set(others, others.secrets.length);
    const free = this.#records.push(lane, said, { at: Date.now(), ...place });
    return this.#put(this.#users > 0 ? free : [...free, ...this.#records.flush()]);
  }

  #put(records: readonly { value: Said; envelope: Envelope }[]): Promise<void> | undefined {
    let full: Promise<void> | undefined;
    for (const { value, envelope } of records) full = this.#line(JSON.stringify({ ...envelope, ...value })) ?? full;
    return full;
  }
}

async function* told(events: AsyncIterable<Event>, note: Seam["event"], over: () => void): AsyncIterable<Event> {
  for await (const event of events) {
    await note(event);
    yield event;
  }
  over();
}

async function* heard(
  frames: AsyncIterable<Frame>,
  framing: Framing,
  note: (dir: Direction, said: Said) => Promise<void> | undefined,
): AsyncIterable<Frame> {
  for await (const frame of frames) {
    // A launch is not a message.
    if (!("launch" in frame)) await note("in", "rec" in frame ? saidBy(frame.rec, framing) : { bad: frame.bad, line: frame.line });
    yield frame;
  }
  await note("in", { end: true });
}

function saidBy(record: unknown, framing: Framing): Said {
  return framing === "text" && typeof record === "string" ? { text: record } : { rec: record };
}
