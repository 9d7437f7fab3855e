/**
 * Redacts a stream of records: a secret may be split over several of them, as deltas are. A record that may hold the beginning of a
 * secret waits until that is decided, and later records wait behind it, so the order stays.
 */
import type { Redactor } from "./redact.js";
import { ShapeStream, type Range } from "./secret-shapes.js";

/** The number of records of the same lane that may come between two pieces of one secret. */
const APART = 4;
/** The most waiting records; then the oldest goes out undecided. */
const MOST = 64;

/** A waiting record and its lane: only texts of one lane continue each other. */
interface Entry<T, E> {
  lane: string;
  value: T;
  envelope: E;
  cuts: Cut[];
}

interface Cut {
  path: string;
  from: number;
  to: number;
  /** The mask replaces the first piece of a secret; further pieces get none. */
  mask: string;
}

/** A possible beginning of a secret at the end of a text, with the places of its pieces. */
interface Opening<T, E> {
  lane: string;
  path: string;
  secret: string;
  matched: number;
  pieces: { entry: Entry<T, E>; from: number; to: number }[];
  /** The number of further records of the lane to wait for. */
  patience: number;
}

/** The texts at one path that may continue with a secret of some shape, or with the rest of a shape's beginning. */
interface OpenShape<T, E> {
  lane: string;
  path: string;
  stream: ShapeStream;
  /** The undecided pieces and the last piece, by their place in the joined texts. */
  pieces: { entry: Entry<T, E>; from: number; to: number }[];
  /** The secret was in several pieces, as in deltas; otherwise the next text may be unrelated. */
  isSplit: boolean;
  patience: number;
}

/** `E` is passed along with a record. */
export class RecordRedactor<T, E = undefined> {
  readonly #redactor: Redactor;
  #waiting: Entry<T, E>[] = [];
  #openings: Opening<T, E>[] = [];
  #shapes: OpenShape<T, E>[] = [];

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** Returns the records that can go out now, in order. */
  push(lane: string, value: T, envelope: E): { value: T; envelope: E }[] {
    const entry: Entry<T, E> = { lane, value, envelope, cuts: [] };
    this.#waiting.push(entry);
    this.#look(entry);
    if (this.#waiting.length > MOST) {
      this.#openings = this.#openings.filter(({ pieces }) => pieces[0]?.entry !== this.#waiting[0]);
      this.#shapes = this.#shapes.filter(({ pieces }) => pieces[0]?.entry !== this.#waiting[0]);
    }
    return this.#release();
  }

  /** Returns the rest, at the end of the stream. */
  flush(): { value: T; envelope: E }[] {
    this.#openings = [];
    this.#shapes = [];
    return this.#release();
  }

  #look(entry: Entry<T, E>): void {
    const fresh: Opening<T, E>[] = [];
    for (const open of this.#shapes) if (open.lane === entry.lane) open.patience--;
    for (const [path, text] of textsIn(entry.value)) {
      this.#lookForShapes(entry, path, text);
      for (const opening of this.#openings)
        if (opening.lane === entry.lane && opening.path === path) this.#continue(opening, entry, text, fresh);
      this.#open(entry, path, text, fresh);
    }
    for (const opening of this.#openings) if (opening.lane === entry.lane) opening.patience--;
    // Of openings with the same progress the last one is kept: otherwise their number would double with each record.
    const open = [...this.#openings.filter(({ patience }) => patience > 0), ...fresh];
    this.#openings = [...new Map(open.map((opening) => [keyOf(opening), opening])).values()];
    this.#shapes = this.#shapes.filter(({ patience, stream }) => patience > 0 && !stream.isIdle);
  }

  /** Shapes within one text are found when the record goes out. */
  #lookForShapes(entry: Entry<T, E>, path: string, text: string): void {
    const before = this.#shapes.find((open) => open.lane === entry.lane && open.path === path);
    if (before !== undefined && mayContinue(before, text)) return this.#continueShape(before, entry, text);
    this.#shapes = this.#shapes.filter((open) => open !== before);
    const stream = new ShapeStream();
    stream.push(text);
    if (stream.isIdle) return;
    const pieces = [{ entry, from: 0, to: text.length }];
    this.#shapes.push({ lane: entry.lane, path, stream, pieces, isSplit: stream.decided < text.length, patience: APART });
  }

  #continueShape(open: OpenShape<T, E>, entry: Entry<T, E>, text: string): void {
    const from = open.pieces.at(-1)?.to ?? 0;
    open.pieces.push({ entry, from, to: from + text.length });
    for (const range of open.stream.push(text)) for (const piece of open.pieces) this.#cutShape(open, range, piece);
    open.pieces = open.pieces.filter(({ to }, at) => to > open.stream.decided || at === open.pieces.length - 1);
    open.isSplit = true;
    open.patience = APART;
  }

  /** A growing range has one cut in each piece. */
  #cutShape({ path }: OpenShape<T, E>, range: Range, piece: OpenShape<T, E>["pieces"][number]): void {
    if (range.to <= piece.from || range.from >= piece.to) return;
    const from = Math.max(range.from, piece.from) - piece.from;
    const to = Math.min(range.to, piece.to) - piece.from;
    const mask = range.from < piece.from ? "" : this.#redactor.mask;
    const same = piece.entry.cuts.find((cut) => cut.path === path && cut.from === from && cut.mask === mask);
    if (same === undefined) piece.entry.cuts.push({ path, from, to, mask });
    else same.to = Math.max(same.to, to);
  }

  #continue(opening: Opening<T, E>, entry: Entry<T, E>, text: string, fresh: Opening<T, E>[]): void {
    const { path, secret, matched, pieces } = opening;
    const rest = secret.slice(matched);
    if (text.startsWith(rest)) {
      const all = [...pieces, { entry, from: 0, to: rest.length }];
      for (const [at, piece] of all.entries())
        piece.entry.cuts.push({ path, from: piece.from, to: piece.to, mask: at === 0 ? this.#redactor.mask : "" });
      opening.patience = 0;
    } else if (rest.startsWith(text)) {
      fresh.push({ ...opening, matched: matched + text.length, pieces: [...pieces, { entry, from: 0, to: text.length }], patience: APART });
    }
  }

  #open(entry: Entry<T, E>, path: string, text: string, fresh: Opening<T, E>[]): void {
    for (const secret of this.#redactor.forms) {
      const first = secret.charAt(0);
      for (let at = text.indexOf(first, Math.max(0, text.length - secret.length + 1)); at !== -1; at = text.indexOf(first, at + 1)) {
        if (!secret.startsWith(text.slice(at))) continue;
        const pieces = [{ entry, from: at, to: text.length }];
        fresh.push({ lane: entry.lane, path, secret, matched: text.length - at, pieces, patience: APART });
      }
    }
  }

  #release(): { value: T; envelope: E }[] {
    const held = new Set(this.#openings.flatMap(({ pieces }) => pieces.map(({ entry }) => entry)));
    for (const { stream, pieces } of this.#shapes) for (const { entry, to } of pieces) if (to > stream.decided) held.add(entry);
    const end = this.#waiting.findIndex((entry) => held.has(entry));
    const free = end === -1 ? this.#waiting : this.#waiting.slice(0, end);
    this.#waiting = end === -1 ? [] : this.#waiting.slice(end);
    return free.map(({ value, cuts, envelope }) => ({
      value: this.#redactor.value(cuts.length === 0 ? value : masked(value, cuts)),
      envelope,
    }));
  }
}

/** After a whole secret at the end of a text, the next text is usually unrelated and seldom the rest of the secret. */
function mayContinue<T, E>({ stream, isSplit }: OpenShape<T, E>, text: string): boolean {
  if (isSplit || !stream.isOpen) return true;
  const [run = ""] = /^[\w.+/=-]*/.exec(text) ?? [];
  return run.length >= 8 && /\d/.test(run) && /[A-Za-z]/.test(run);
}

function keyOf({ lane, path, secret, matched }: Opening<unknown, unknown>): string {
  return [lane, path, matched, secret].join("\n");
}

/** Each non-empty text of a record, with its path. */
function* textsIn(value: unknown, path = ""): Iterable<[path: string, text: string]> {
  if (typeof value === "string") {
    if (value !== "") yield [path, value];
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) yield* textsIn(item, `${path}/${key}`);
  }
}

function masked<T>(value: T, cuts: readonly Cut[], path?: string): T;
function masked(value: unknown, cuts: readonly Cut[], path = ""): unknown {
  if (typeof value === "string")
    return cut(
      value,
      cuts.filter((one) => one.path === path),
    );
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown, at) => masked(item, cuts, `${path}/${at}`));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, masked(item, cuts, `${path}/${key}`)]));
}

function cut(text: string, cuts: readonly Cut[]): string {
  let safe = "";
  let at = 0;
  for (const { from, to, mask } of cuts.toSorted((a, b) => a.from - b.from)) {
    safe += text.slice(at, Math.max(at, from)) + mask;
    at = Math.max(at, to);
  }
  return safe + text.slice(at);
}
