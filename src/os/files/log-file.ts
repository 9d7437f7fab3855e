/** An append-only file of JSON lines: lines are written before their events are told, synced in groups, and a torn last line is repaired. */
import { closeSync, fdatasync, openSync, readSync, fstatSync, ftruncateSync, writeSync } from "node:fs";
import { promisify } from "node:util";

const datasync = promisify(fdatasync);
const LF = 0x0a;
const CHUNK = 256 * 1024;

/** Whether the text behind the last LF is a whole line whose LF was damaged: a crash cannot leave that. */
type WasWhole = (rest: Buffer) => boolean;
const never: WasWhole = () => false;

export class LogFile {
  readonly #fd: number;
  #size: number;
  #synced: number;
  /** One sync at a time; calls during a sync share the next one. */
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  /** Guards against the descriptor number of a closed file, which may belong to another file by now. */
  #closed = false;

  private constructor(fd: number, size: number) {
    this.#fd = fd;
    this.#size = size;
    this.#synced = size;
  }

  /** Cuts off a last line that a crash left unfinished. A whole last line without its LF gets a new one. */
  static open(file: string, wasWhole: WasWhole = never): LogFile {
    const fd = openSync(file, "a+", 0o600);
    try {
      const size = fstatSync(fd).size;
      const whole = endOfLastLine(fd, size);
      if (whole === size) return new LogFile(fd, size);
      if (wasWhole(readAt(fd, whole, size - whole))) return new LogFile(fd, size + writeSync(fd, "\n"));
      ftruncateSync(fd, whole);
      return new LogFile(fd, whole);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  get size(): number {
    return this.#size;
  }

  /** Appends all of the text; when it throws, it has appended nothing. */
  append(line: string | Buffer): void {
    if (this.#closed) throw new Error("the log is closed");
    const bytes = typeof line === "string" ? Buffer.from(`${line}\n`) : Buffer.concat([line, Buffer.of(LF)]);
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(this.#fd, bytes, at);
    } catch (error) {
      this.#takeBack();
      throw error;
    }
    this.#size += bytes.length;
  }

  /** Empties a file that a writer created and did not finish. */
  clear(): void {
    ftruncateSync(this.#fd, 0);
    this.#size = this.#synced = 0;
  }

  /** At most that many bytes before a position. */
  before(position: number, most: number): Buffer {
    const length = Math.min(position, most);
    return readAt(this.#fd, position - length, length);
  }

  /** After this, all lines appended so far survive a power cut. Simultaneous calls share one sync. */
  sync(): Promise<void> {
    if (this.#synced === this.#size) return Promise.resolve();
    if (this.#running === undefined) {
      this.#running = this.#sync().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.sync();
    });
    return this.#next;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      await this.sync();
    } finally {
      closeSync(this.#fd);
    }
  }

  async #sync(): Promise<void> {
    const size = this.#size;
    await datasync(this.#fd);
    this.#synced = size;
  }

  /** If that fails, too, the next opening repairs the file. */
  #takeBack(): void {
    try {
      ftruncateSync(this.#fd, this.#size);
    } catch {
      return;
    }
  }
}

function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, position));
}

function endOfLastLine(fd: number, size: number): number {
  const chunk = Buffer.alloc(Math.min(CHUNK, size));
  for (let end = size; end > 0;) {
    const from = Math.max(0, end - chunk.length);
    const read = readSync(fd, chunk, 0, end - from, from);
    const at = chunk.subarray(0, read).lastIndexOf(LF);
    if (at !== -1) return from + at + 1;
    end = from;
  }
  return 0;
}

/** The whole lines from a position on; text behind the last LF is unfinished and left out. */
export function* readLines(file: string, from: number): Generator<string> {
  for (const line of readLineBytes(file, from)) yield line.toString();
}

/** The same as bytes, valid until the next line is requested; includes a whole last line that lost its LF. */
export function* readLineBytes(file: string, from: number, wasWhole: WasWhole = never): Generator<Buffer> {
  const fd = openSync(file, "r");
  try {
    const chunk = Buffer.alloc(CHUNK);
    let begun: Buffer[] = [];
    for (let at = from; ;) {
      const read = readSync(fd, chunk, 0, CHUNK, at);
      if (read === 0) {
        const rest = Buffer.concat(begun);
        if (wasWhole(rest)) yield rest;
        return;
      }
      at += read;
      let start = 0;
      for (let end = chunk.indexOf(LF); end !== -1 && end < read; end = chunk.indexOf(LF, start)) {
        const rest = chunk.subarray(start, end);
        yield begun.length === 0 ? rest : Buffer.concat([...begun, rest]);
        begun = [];
        start = end + 1;
      }
      // A copy, because the chunk's buffer is reused.
      if (start < read) begun.push(Buffer.from(chunk.subarray(start, read)));
    }
  } finally {
    closeSync(fd);
  }
}
