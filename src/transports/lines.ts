/**
 * Lines: the only place where bytes become records. A line ends at byte 0x0A and nowhere else (so U+2028 is just a character); a last
 * line without LF counts; a line over the cap is dropped, told once, and reading goes on behind its end. Linear in the input.
 */
import { isUtf8 } from "node:buffer";
import type { Frame } from "../core/wire.js";
import { messageOf } from "../core/errors.js";

export type Framing = "json" | "text";

/** 16 MiB. */
export const LINE_CAP = 16 * 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;
/** How much of a dropped line its report repeats. */
const SAMPLE = 200;

export class FrameReader {
  readonly #framing: Framing;
  readonly #cap: number;
  #parts: Buffer[] = [];
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
      this.#hold(chunk.subarray(from, at));
      this.#cut(frames);
      from = at + 1;
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
    return frames;
  }

  /** At the end of input: a last line without LF. */
  end(): Frame[] {
    const frames: Frame[] = [];
    if (this.#size > 0 || this.#skipping !== undefined) this.#cut(frames);
    return frames;
  }

  #hold(bytes: Buffer): void {
    if (this.#skipping !== undefined || bytes.length === 0) return;
    this.#parts.push(bytes);
    this.#size += bytes.length;
    if (this.#size <= this.#cap) return;
    this.#skipping = Buffer.concat(this.#parts.map((part) => part.subarray(0, SAMPLE)))
      .subarray(0, SAMPLE)
      .toString();
    this.#parts = [];
    this.#size = 0;
  }

  #cut(frames: Frame[]): void {
    if (this.#skipping !== undefined) {
      frames.push({ bad: `The line is longer than ${this.#cap} bytes and was skipped`, line: this.#skipping });
      this.#skipping = undefined;
      return;
    }
    let line = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    if (line === undefined) return this.#empty(frames);
    if (line[line.length - 1] === CR) line = line.subarray(0, -1);
    frames.push(...this.#frame(line));
  }

  #empty(frames: Frame[]): void {
    if (this.#framing === "text") frames.push({ rec: "" });
  }

  #frame(line: Buffer): Frame[] {
    const text = line.toString();
    if (this.#framing === "text") return [{ rec: text }];
    if (text.trim() === "") return [];
    if (!isUtf8(line)) return [{ bad: "The line is not valid UTF-8", line: text }];
    try {
      const rec: unknown = JSON.parse(text);
      return [{ rec }];
    } catch (error) {
      return [{ bad: `The line is not JSON (${messageOf(error)})`, line: text }];
    }
  }
}

/** One record as a line. JSON.stringify escapes newlines and lone surrogates, so a record is one line of valid UTF-8 whatever it holds. */
export function encodeLine(framing: Framing, record: unknown): string {
  return framing === "json" ? `${JSON.stringify(record)}\n` : `${String(record)}\n`;
}
