/** The log of a background command: a file with the newest output within a bound; its first line tells how much is missing. */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { systemReason } from "../../../core/errors.js";

/** The largest size of the file; then it is cut to its newest half. */
const MAX_BYTES = 8 * 1024 * 1024;
const KEPT_BYTES = MAX_BYTES / 2;
/** Bytes reserved for the first line. */
const NOTE_BYTES = 256;

export const KEPT_OUTPUT = `${KEPT_BYTES / 1024 / 1024} MiB`;

const LF = 0x0a;

/** Writes synchronously, so that no output piles up in memory before a slow disk: the command waits in its pipe. */
export class BackgroundLog {
  readonly #fd: number;
  #closed = false;
  #size = 0;
  /** Bytes of output that were cut from the file. */
  #leftOut = 0;
  /** Bytes of our own first line. */
  #noteBytes = 0;
  /** Bytes that the disk did not take. */
  #refused = { bytes: 0, why: "" };

  constructor(file: string) {
    this.#fd = openSync(file, "ax+", 0o600);
  }

  /** A full disk does not end the command: the file notes the gap as soon as there is room again. */
  push(text: string): void {
    if (this.#closed) return;
    const output = Buffer.from(text);
    const { bytes, why } = this.#refused;
    const gap = bytes === 0 ? "" : `\n… [${bytes} bytes could not be written: ${why}] …\n`;
    try {
      this.#append(Buffer.concat([Buffer.from(gap), output]));
      this.#refused = { bytes: 0, why: "" };
    } catch (error) {
      this.#refused = { bytes: bytes + output.length, why: systemReason(error) };
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#fd);
  }

  #append(bytes: Buffer): void {
    if (this.#size + bytes.length > MAX_BYTES - NOTE_BYTES) this.#cut(bytes);
    else this.#write(bytes);
  }

  /** Writes in place, for readers that follow the file. Edits by others are tolerated. */
  #cut(next: Buffer): void {
    const size = fstatSync(this.#fd).size;
    const noteBytes = Math.min(this.#noteBytes, size);
    const old = Buffer.alloc(Math.max(0, Math.min(size - noteBytes, KEPT_BYTES - next.length)));
    readSync(this.#fd, old, 0, old.length, size - old.length);
    const newest = fromLineStart(Buffer.concat([old, next]).subarray(-KEPT_BYTES));
    this.#leftOut += size - noteBytes + next.length - newest.length;
    const note = Buffer.from(
      `… [${this.#leftOut} bytes left out: the log of a background command keeps at least the newest ${KEPT_OUTPUT} of its output] …\n`,
    );
    ftruncateSync(this.#fd, 0);
    this.#size = 0;
    this.#noteBytes = note.length;
    this.#write(note);
    this.#write(newest);
  }

  #write(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) {
      const written = writeSync(this.#fd, bytes, at);
      at += written;
      this.#size += written;
    }
  }
}

/** Drops the rest of a cut line; if there is no other line, only the rest of a cut character. */
function fromLineStart(bytes: Buffer): Buffer {
  const line = bytes.indexOf(LF) + 1;
  if (line > 0 && line < bytes.length) return bytes.subarray(line);
  const character = bytes.findIndex((byte) => byte >> 6 !== 0b10);
  return bytes.subarray(Math.max(0, character));
}
