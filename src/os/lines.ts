/**
 * Lines: the only place where bytes become records. A line ends at byte 0x0A only (so U+2028 is a plain character); a last
 * line without LF counts; a line over the cap is dropped and reported once, and reading resumes behind it. Linear in the input.
 */
import { isUtf8 } from "node:buffer";
import type { Frame } from "../core/wire.js";
import { messageOf, ParleyError } from "../core/errors.js";
import { LINE_CAP } from "../core/limits.js";

export type Framing = "json" | "text";

/** The treatment of a record longer than our own readers take: refuse it, or cut the middle out of its long texts. */
export type TooLong = "refuse" | "shorten";

const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = [0x5b, 0x7b] as const;
const CLOSE = [0x5d, 0x7d] as const;
/** The length of the beginning that the report of a dropped line repeats. */
const SAMPLE = 200;
/** Deeper records are refused: code that walks them would overflow its stack. */
const DEPTH = 500;
/** A larger buffer is not kept for the next line. */
const KEPT = 64 * 1024;

export class FrameReader {
  readonly #framing: Framing;
  readonly #cap: number;
  /** The beginning of a line whose end has not arrived, in a buffer that doubles. */
  #held = Buffer.alloc(0);
  #size = 0;
  /** Set while the rest of a line over the cap is skipped. */
  #skipping: string | undefined;

  constructor(framing: Framing, cap: number = LINE_CAP) {
    this.#framing = framing;
    this.#cap = cap;
  }

  push(chunk: Buffer): Frame[] {
    const frames: Frame[] = [];
    let from = 0;
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, from)) {
      this.#cut(chunk.subarray(from, at), frames);
      from = at + 1;
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
    return frames;
  }

  /** Call it at the end of input: returns a last line without LF. */
  end(): Frame[] {
    const frames: Frame[] = [];
    if (this.#size > 0 || this.#skipping !== undefined) this.#cut(Buffer.alloc(0), frames);
    return frames;
  }

  #hold(bytes: Buffer): void {
    if (this.#skipping !== undefined) return;
    const size = this.#size + bytes.length;
    if (size > this.#cap) {
      this.#skipping = Buffer.concat([this.#held.subarray(0, Math.min(this.#size, SAMPLE)), bytes.subarray(0, SAMPLE)])
        .subarray(0, Math.min(SAMPLE, this.#cap))
        .toString();
      return this.#drop();
    }
    if (size > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(size, Math.min(2 * this.#held.length, this.#cap)));
      this.#held.copy(larger, 0, 0, this.#size);
      this.#held = larger;
    }
    bytes.copy(this.#held, this.#size);
    this.#size = size;
  }

  #drop(): void {
    this.#size = 0;
    if (this.#held.length > KEPT) this.#held = Buffer.alloc(0);
  }

  /** Completes a line whose end is in this chunk. A line within one chunk is not copied. */
  #cut(rest: Buffer, frames: Frame[]): void {
    const whole = this.#size === 0 && this.#skipping === undefined && rest.length <= this.#cap;
    if (!whole) this.#hold(rest);
    if (this.#skipping !== undefined) {
      frames.push(overlong("line", this.#cap, this.#skipping));
      this.#skipping = undefined;
      return;
    }
    const line = whole ? rest : this.#held.subarray(0, this.#size);
    frames.push(...this.#frame(line.at(-1) === CR ? line.subarray(0, -1) : line));
    this.#drop();
  }

  #frame(line: Buffer): Frame[] {
    return this.#framing === "text" ? [{ rec: line.toString() }] : jsonFrames(line, "line");
  }
}

export function overlong(what: "line" | "frame", cap: number, sample: string): Frame {
  return { bad: `The ${what} is longer than ${cap} bytes and was skipped`, line: sample.slice(0, SAMPLE), overlong: true };
}

/** Parses one line; a blank line has no record. A byte order mark at its beginning is skipped. */
export function jsonFrames(bytes: Buffer, what: "line" | "frame"): Frame[] {
  const whole = bytes.toString();
  const text = whole.startsWith("\uFEFF") ? whole.slice(1) : whole;
  if (text.trim() === "") return [];
  if (!isUtf8(bytes)) return [{ bad: `The ${what} is not valid UTF-8`, line: text }];
  if (isTooDeep(bytes)) return [{ bad: `The ${what} is nested more than ${DEPTH} levels deep`, line: text.slice(0, SAMPLE) }];
  try {
    const rec: unknown = JSON.parse(text);
    return [{ rec }];
  } catch (error) {
    return [{ bad: `The ${what} is not JSON (${messageOf(error)})`, line: text }];
  }
}

/** Checks the nesting of a line that has many brackets. */
function isTooDeep(line: Buffer): boolean {
  if (count(line, OPEN[0]) + count(line, OPEN[1]) <= DEPTH) return false;
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < line.length; at++) {
    const byte = line[at];
    if (byte === QUOTE) quoted = !quoted;
    else if (quoted) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === OPEN[0] || byte === OPEN[1]) depth++;
    else if (byte === CLOSE[0] || byte === CLOSE[1]) depth--;
    if (depth > DEPTH) return true;
  }
  return false;
}

function count(line: Buffer, byte: number): number {
  let found = 0;
  for (let at = line.indexOf(byte); at !== -1 && found <= DEPTH; at = line.indexOf(byte, at + 1)) found++;
  return found;
}

/**
 * One record as a line. JSON.stringify escapes newlines and lone surrogates, so a record is one line of valid UTF-8 whatever it holds.
 * A text record is written unchanged, newlines included. Throws a `limit` fault for a record that is too long.
 */
export function encodeLine(framing: Framing, record: unknown, tooLong: TooLong = "refuse"): string {
  if (framing === "text" && typeof record === "string") return `${record}\n`;
  const line = `${JSON.stringify(record)}\n`;
  if (isShort(line)) return line;
  return tooLong === "shorten" ? shortened(record) : refuse(line);
}

/** A character has at most three bytes, so most lines need no exact count. */
function isShort(line: string): boolean {
  return 3 * line.length <= LINE_CAP || Buffer.byteLength(line) <= LINE_CAP;
}

/** Cuts the middle out of texts over a bound; the bound is lower if there are many. */
function shortened(record: unknown): string {
  for (let most = LINE_CAP / 16; most >= SAMPLE; most /= 4) {
    const line = `${JSON.stringify(record, (_, value: unknown) => (typeof value === "string" ? ends(value, most) : value))}\n`;
    if (isShort(line)) return line;
  }
  return refuse(JSON.stringify(record));
}

function ends(text: string, most: number): string {
  if (text.length <= most) return text;
  const note = `… [${text.length - most} characters left out: a line has ${LINE_CAP} bytes at most] …`;
  return text.slice(0, most / 2) + note + text.slice(-most / 2);
}

function refuse(line: string): never {
  const message = `The message would be a line of ${Buffer.byteLength(line)} bytes, and ${LINE_CAP} are the limit`;
  throw new ParleyError({ code: "limit", message, retryable: false });
}
