/** The one place that redacts secrets, known by value or by shape, for disk, wire and log, whole or split over two deltas. */
import { formsOf } from "./secret-forms.js";
import { ShapeStream, shapesIn, type Range } from "./secret-shapes.js";

/** The first mask that shares no text with a secret is used, so that a mask and the text beside it never spell a secret. */
export const MASKS = ["[redacted]", "<redacted>", "█"] as const;
/** Shorter values would mask ordinary words. */
const SHORTEST = 8;
/** Longer texts are searched for one secret after the other, which the engine does faster than we can look at each character. */
const SHORT_TEXT = 256;

/** Whether a text contains a mask; the original text is lost. */
export function holdsMask(text: string): boolean {
  return MASKS.some((mask) => text.includes(mask));
}

const NONE: readonly Range[] = [];

export class Redactor {
  readonly #secrets: string[] = [];
  /** Every form of every secret. */
  readonly #forms: string[] = [];
  /** The forms by the code of their first character. */
  readonly #byFirst: string[][] = [];
  #shortest = Infinity;
  #longest = 0;
  #mask: string = MASKS[0];

  constructor(secrets: Iterable<string> = []) {
    for (const secret of secrets) this.add(secret);
  }

  /** Adds the secret in every form in which programs show it (secret-forms.ts). */
  add(secret: string): void {
    if (this.#secrets.includes(secret)) return;
    this.#secrets.push(secret);
    for (const form of formsOf(secret)) this.#addForm(form);
  }

  #addForm(form: string): void {
    if (form.length < SHORTEST || this.#forms.includes(form)) return;
    this.#forms.push(form);
    (this.#byFirst[form.charCodeAt(0)] ??= []).push(form);
    this.#shortest = Math.min(this.#shortest, form.length);
    this.#longest = Math.max(this.#longest, form.length);
    if (meets(this.#mask, form)) this.#mask = MASKS.find((mask) => !this.#forms.some((known) => meets(mask, known))) ?? MASKS[2];
  }

  get secrets(): readonly string[] {
    return this.#secrets;
  }

  get forms(): readonly string[] {
    return this.#forms;
  }

  get mask(): string {
    return this.#mask;
  }

  text(text: string): string {
    const ranges = this.ranges(text);
    return ranges.length === 0 ? text : masked(text, ranges, this.#mask, 0);
  }

  /** The value with all its strings (and keys) redacted; the same value if there was nothing to redact. */
  value<T>(value: T): T;
  value(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      const items = value.map((item: unknown) => this.value(item));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    let changed = false;
    const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
      const safeKey = this.text(key);
      const safeItem: unknown = this.value(item);
      changed ||= safeKey !== key || safeItem !== item;
      return [safeKey, safeItem];
    });
    return changed ? Object.fromEntries(entries) : value;
  }

  /** For text in pieces: holds back an end that may be the beginning of a secret. */
  stream(): RedactingStream {
    return new RedactingStream(this);
  }

  /** The ranges of secrets in order; overlapping ones are joined. */
  ranges(text: string): Range[] {
    const found = shapesIn(text);
    this.#find(text, found);
    return found.length < 2 ? found : joined(found);
  }

  /** The ranges of secrets known by value, unordered. */
  known(text: string): readonly Range[] {
    if (text.length < this.#shortest) return NONE;
    const found: Range[] = [];
    this.#find(text, found);
    return found;
  }

  #find(text: string, found: Range[]): void {
    if (text.length > SHORT_TEXT) {
      for (const secret of this.#forms) {
        for (let from = text.indexOf(secret); from !== -1; from = text.indexOf(secret, from + 1))
          found.push({ from, to: from + secret.length });
      }
      return;
    }
    for (let from = 0; from <= text.length - this.#shortest; from++) {
      const possible = this.#byFirst[text.charCodeAt(from)];
      if (possible === undefined) continue;
      for (const secret of possible) if (text.startsWith(secret, from)) found.push({ from, to: from + secret.length });
    }
  }

  /** The position at the end of the text where a secret known by value may begin; the text's length if there is none. */
  openEnd(text: string): number {
    for (let from = Math.max(0, text.length - this.#longest + 1); from < text.length; from++) {
      const possible = this.#byFirst[text.charCodeAt(from)];
      if (possible === undefined) continue;
      const left = text.length - from;
      for (const secret of possible) if (secret.length > left && secret.startsWith(text.slice(from))) return from;
    }
    return text.length;
  }
}

export class RedactingStream {
  readonly #redactor: Redactor;
  readonly #shapes = new ShapeStream();
  /** The undecided end of the text. */
  #held = "";
  /** The position of `#held` in the whole text. */
  #from = 0;
  /** The number of held characters whose mask is out already; an overlapping secret may continue behind them. */
  #masked = 0;
  /** Found shapes by their place in the whole text: those that are not out, and the last one, which may grow. */
  #found: Range[] = [];

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** Returns the text that can go out now; empty if all is held back. */
  push(piece: string): string {
    const found = this.#shapes.push(piece);
    const text = this.#held === "" ? piece : this.#held + piece;
    const end = this.#redactor.openEnd(text);
    const known = this.#redactor.known(text);
    const isPlain = end === text.length && known.length + found.length + this.#found.length === 0 && this.#shapes.isIdle;
    if (isPlain && this.#masked === 0) {
      this.#held = "";
      this.#from += text.length;
      return text;
    }
    this.#found = [...new Set([...this.#found, ...found])];
    return this.#release(text, known, Math.min(end, this.#shapes.decided - this.#from));
  }

  /** Returns the rest, at the end of the text. */
  flush(): string {
    this.#found = [...new Set([...this.#found, ...this.#shapes.flush()])];
    const rest = this.#release(this.#held, this.#redactor.known(this.#held), this.#held.length);
    this.#found = [];
    return rest;
  }

  #release(text: string, known: readonly Range[], end: number): string {
    const shapes = this.#found.map(({ from, to }) => ({ from: from - this.#from, to: to - this.#from }));
    // The mask of a range that began earlier is out already.
    const before = shapes.reduce((most, { from, to }) => (from < 0 ? Math.max(most, to) : most), this.#masked);
    const fresh = shapes.filter(({ from, to }) => from >= 0 && to > 0);
    const ranges = joined([...(before > 0 ? [{ from: 0, to: before }] : []), ...fresh, ...known]);
    const open = ranges.filter((range) => range.from < end || range.from < before);
    this.#held = text.slice(end);
    this.#masked = Math.max(0, (open.at(-1)?.to ?? 0) - end);
    this.#from += end;
    const last = this.#found.at(-1);
    this.#found = this.#found.filter((range) => range === last || range.to > this.#from);
    if (this.#shapes.isIdle && last !== undefined && last.to <= this.#from) this.#found = [];
    return masked(text.slice(0, end), open, this.#redactor.mask, before);
  }
}

/** The text with a mask for each range; a range that begins within the first `done` characters has its mask already. */
function masked(text: string, ranges: readonly Range[], mask: string, done: number): string {
  let safe = "";
  let at = 0;
  for (const { from, to } of ranges) {
    safe += text.slice(at, from) + (from < done ? "" : mask);
    at = to;
  }
  return safe + text.slice(at);
}

/** The ranges in order; overlapping ones are joined, adjacent ones are not. */
function joined(ranges: readonly Range[]): Range[] {
  const all: Range[] = [];
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = all.at(-1);
    if (last !== undefined && from < last.to) last.to = Math.max(last.to, to);
    else all.push({ from, to });
  }
  return all;
}

/** Whether a mask could contain a secret, or could complete one together with the text beside it. */
function meets(mask: string, secret: string): boolean {
  return mask.includes(secret) || secret.includes(mask.charAt(0)) || secret.includes(mask.slice(-1));
}
