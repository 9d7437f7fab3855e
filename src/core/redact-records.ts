/**
 * Records redacted as the stream that they are: a secret may be split over several of them, as deltas are. A record whose text may be the
 * beginning of one waits until that is known, and what came after it waits behind it; so the order stays.
 */
import type { Redactor } from "./redact.js";

/** So many records of the same direction may come between two pieces of one secret. */
const APART = 4;
/** Records that wait; then the oldest goes as it is. */
const MOST = 64;

/** A record on its way, and what it belongs to: only texts of one lane continue each other. */
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
  /** The mask stands where a secret begins. */
  mask: string;
}

/** A beginning of a secret at the end of a text, and where its pieces are. */
interface Opening<T, E> {
  lane: string;
  path: string;
  secret: string;
  matched: number;
  pieces: { entry: Entry<T, E>; from: number; to: number }[];
  /** Records of the lane that it still waits for. */
  patience: number;
}

/** `E` goes with a record unread. */
export class RecordRedactor<T, E = undefined> {
  readonly #redactor: Redactor;
  #waiting: Entry<T, E>[] = [];
  #openings: Opening<T, E>[] = [];

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** What may go out now, in order. */
  push(lane: string, value: T, envelope: E): { value: T; envelope: E }[] {
    const entry: Entry<T, E> = { lane, value, envelope, cuts: [] };
    this.#waiting.push(entry);
    if (this.#redactor.secrets.length > 0) this.#look(entry);
    if (this.#waiting.length > MOST) this.#openings = this.#openings.filter(({ pieces }) => pieces[0]?.entry !== this.#waiting[0]);
    return this.#release();
  }

  /** The rest: nothing follows. */
  flush(): { value: T; envelope: E }[] {
    this.#openings = [];
    return this.#release();
  }

  #look(entry: Entry<T, E>): void {
    const fresh: Opening<T, E>[] = [];
    for (const [path, text] of textsIn(entry.value)) {
      for (const opening of this.#openings)
        if (opening.lane === entry.lane && opening.path === path) this.#continue(opening, entry, text, fresh);
      this.#open(entry, path, text, fresh);
    }
    for (const opening of this.#openings) if (opening.lane === entry.lane) opening.patience--;
    // Of several that have come as far, the last one counts: without that their number would double with each record.
    const open = [...this.#openings.filter(({ patience }) => patience > 0), ...fresh];
    this.#openings = [...new Map(open.map((opening) => [keyOf(opening), opening])).values()];
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
    for (const secret of this.#redactor.secrets) {
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
    const end = this.#waiting.findIndex((entry) => held.has(entry));
    const free = end === -1 ? this.#waiting : this.#waiting.slice(0, end);
    this.#waiting = end === -1 ? [] : this.#waiting.slice(end);
    return free.map(({ value, cuts, envelope }) => ({
      value: this.#redactor.value(cuts.length === 0 ? value : masked(value, cuts)),
      envelope,
    }));
  }
}

function keyOf({ lane, path, secret, matched }: Opening<unknown, unknown>): string {
  return [lane, path, matched, secret].join("\n");
}

/** Every text of a record that is not empty, with the way to it. */
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
