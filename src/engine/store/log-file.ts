/** An append-only file of JSON lines: written before anybody is told, synced in groups, its torn last line repaired. */
import { closeSync, fdatasync, openSync, readSync, fstatSync, ftruncateSync, writeSync } from "node:fs";
import { promisify } from "node:util";

const datasync = promisify(fdatasync);
const LF = 0x0a;
const CHUNK = 1024 * 1024;

export class LogFile {
  readonly #fd: number;
  #size: number;
  #synced: number;
  /** One at a time; whoever comes while it runs shares the next. */
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  private constructor(fd: number, size: number) {
    this.#fd = fd;
    this.#size = size;
    this.#synced = size;
  }

  /** Cuts off a last line that a crash left unfinished. */
  static open(file: string): LogFile {
    const fd = openSync(file, "a+", 0o600);
    const size = fstatSync(fd).size;
    const whole = endOfLastLine(fd, size);
    if (whole < size) ftruncateSync(fd, whole);
    return new LogFile(fd, whole);
  }

  get size(): number {
    return this.#size;
  }

  append(line: string): void {
    const bytes = Buffer.from(`${line}\n`);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at);
    this.#size += bytes.length;
  }

  /** Everything appended so far survives a power cut. Calls that come together share one sync. */
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
    await this.sync();
    closeSync(this.#fd);
  }

  async #sync(): Promise<void> {
    const size = this.#size;
    await datasync(this.#fd);
    this.#synced = size;
  }
}

function endOfLastLine(fd: number, size: number): number {
  const chunk = Buffer.alloc(Math.min(CHUNK, size));
  for (let end = size; end > 0; ) {
    const from = Math.max(0, end - chunk.length);
    readSync(fd, chunk, 0, end - from, from);
    const at = chunk.subarray(0, end - from).lastIndexOf(LF);
    if (at !== -1) return from + at + 1;
    end = from;
  }
  return 0;
}

/** The lines from a position on, as text. */
export function readLines(file: string, from: number): string[] {
  const fd = openSync(file, "r");
  try {
    const size = fstatSync(fd).size;
    const bytes = Buffer.alloc(Math.max(0, size - from));
    for (let at = 0; at < bytes.length; ) {
      const read = readSync(fd, bytes, at, bytes.length - at, from + at);
      if (read === 0) break;
      at += read;
    }
    return bytes.toString().split("\n").slice(0, -1);
  } finally {
    closeSync(fd);
  }
}
