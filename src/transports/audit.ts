/**
 * The record of a wire: every message of both directions, in order, redacted, a JSON line each (docs/observability.md). A wrapper around a
 * transport: where the disk is slow, reading and writing wait for it, so nothing is dropped and memory stays bounded.
 */
import { RecordRedactor } from "../core/redact-records.js";
import { Redactor } from "../core/redact.js";
import type { Frame, Transport } from "../core/wire.js";
import { AppendFile } from "../os/append-file.js";
import type { Framing } from "../os/lines.js";

type Direction = "in" | "out";

/** A record of one direction, or its end. */
type Said =
  | { turn: Readonly<Record<string, string>> }
  | { rec: unknown }
  | { text: string }
  | { bad: string; line: string }
  | { end: true };

interface Envelope {
  at: number;
  dir: Direction;
  conn?: string;
}

export interface AuditOptions {
  /** The secrets that a message brings along: they are known before it is written. */
  secretsIn(message: unknown): Iterable<string>;
  /** Told once, when the disk takes no more. */
  onFailure(why: string): void;
}

export interface Audited {
  framing: Framing;
  /** Tells connections apart, where there may be several. */
  conn?: string | undefined;
  /** Knows the secrets that are not written; it may learn more of them. */
  redactor: Redactor;
  /** The turn that the start of a process says: variables of its environment, and all of its input where that is known. */
  begun?: { dir: Direction; turn: Readonly<Record<string, string>>; input?: string | undefined } | undefined;
}

export class Audit {
  readonly #file: AppendFile;
  readonly #options: AuditOptions;
  readonly #open = new Set<() => void>();

  /** `start` says what this is a record of, for files are appended to. Throws a fault that names the file. */
  static async open(path: string, start: Record<string, unknown>, options: AuditOptions): Promise<Audit> {
    const gap = (lines: number, why: string): string => JSON.stringify({ at: Date.now(), gap: lines, why });
    const audit = new Audit(await AppendFile.open(path, { gap, onFailure: (why) => options.onFailure(why) }), options);
    void audit.#file.line(JSON.stringify({ at: Date.now(), start }));
    return audit;
  }

  constructor(file: AppendFile, options: AuditOptions) {
    this.#file = file;
    this.#options = options;
  }

  /** The same transport, written down. */
  of(transport: Transport, { framing, conn, redactor: others, begun }: Audited): Transport {
    const redactor = new Redactor();
    const records = new RecordRedactor<Said, Envelope>(redactor);
    const line = ({ value, envelope }: { value: Said; envelope: Envelope }): Promise<void> | undefined =>
      this.#file.line(JSON.stringify({ ...envelope, ...value }));
    let learnt = 0;
    const note = (dir: Direction, said: Said): Promise<void> | undefined => {
      for (const secret of [...others.secrets.slice(learnt), ...this.#options.secretsIn(said)]) redactor.add(secret);
      learnt = others.secrets.length;
      let full: Promise<void> | undefined;
      const free = records.push(dir, said, { at: Date.now(), dir, ...(conn !== undefined && { conn }) });
      // Nobody waits for records that come after the end.
      for (const one of this.#open.has(over) ? free : [...free, ...records.flush()]) full = line(one) ?? full;
      return full;
    };
    const over = (): void => {
      if (this.#open.delete(over)) void note("out", { end: true });
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

  /** When all is written. */
  async close(): Promise<void> {
    for (const over of this.#open) over();
    await this.#file.close();
  }
}

async function* heard(
  frames: AsyncIterable<Frame>,
  framing: Framing,
  note: (dir: Direction, said: Said) => Promise<void> | undefined,
): AsyncIterable<Frame> {
  for await (const frame of frames) {
    // How we were started is no message.
    if (!("launch" in frame)) await note("in", "rec" in frame ? saidBy(frame.rec, framing) : { bad: frame.bad, line: frame.line });
    yield frame;
  }
  await note("in", { end: true });
}

function saidBy(record: unknown, framing: Framing): Said {
  return framing === "text" && typeof record === "string" ? { text: record } : { rec: record };
}
