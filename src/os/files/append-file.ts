/**
 * A file that only grows, line by line. Lines wait in a bounded buffer, and writers wait when it is full. A full disk is
 * reported once; the lost lines are counted, and the file gets a line with the count as soon as there is room again.
 */
import { open, type FileHandle } from "node:fs/promises";
import { messageOf, ParleyError, systemCode } from "../../core/errors.js";

/** Buffered bytes beyond which writers have to wait. */
const HIGH_WATER = 1024 * 1024;

export interface AppendOptions {
  /** The line that stands for that many lost lines. */
  gap(lines: number, why: string): string;
  /** Called once, at the first failure. */
  onFailure(why: string): void;
}

export class AppendFile {
  readonly #file: FileHandle;
  readonly #options: AppendOptions;
  #pending: string[] = [];
  #size = 0;
  #writing: Promise<void> | undefined;
  #missing = 0;
  #why = "";
  /** The last write ended in the middle of a line. */
  #isTorn = false;
  #told = false;
  #isClosed = false;

  /** Opens the file; a new one is readable by its owner alone. Throws a fault that names the file. */
  static async open(path: string, options: AppendOptions): Promise<AppendFile> {
    try {
      return new AppendFile(await open(path, "a", 0o600), options);
    } catch (error) {
      throw new ParleyError({ code: "config", message: `Cannot write to ${path}: ${reasonOf(error)}`, retryable: false });
    }
  }

  constructor(file: FileHandle, options: AppendOptions) {
    this.#file = file;
    this.#options = options;
  }

  /** Returns a promise if the buffer is full. A closed file takes no more lines. */
  line(text: string): Promise<void> | undefined {
    if (this.#isClosed) return undefined;
    this.#pending.push(text);
    this.#size += text.length;
    this.#writing ??= this.#write();
    return this.#size > HIGH_WATER ? this.#writing : undefined;
  }

  /** Resolves when all lines are written, or lost. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
    if (this.#missing > 0) await this.#append([]);
    await this.#file.close().catch(() => {});
  }

  async #write(): Promise<void> {
    // All lines of one tick go out in one write.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#pending.length > 0) {
      const lines = this.#pending;
      this.#pending = [];
      this.#size = 0;
      await this.#append(lines);
    }
    this.#writing = undefined;
  }

  async #append(lines: readonly string[]): Promise<void> {
    const gap = this.#missing === 0 ? [] : [this.#options.gap(this.#missing, this.#why)];
    const bytes = Buffer.from(`${this.#isTorn ? "\n" : ""}${[...gap, ...lines].map((line) => `${line}\n`).join("")}`);
    let written = 0;
    try {
      while (written < bytes.length) written += (await this.#file.write(bytes, written)).bytesWritten;
      this.#missing = 0;
      this.#isTorn = false;
    } catch (error) {
      this.#fail(bytes.subarray(0, written), gap.length, lines.length, reasonOf(error));
    }
  }

  /** Of the bytes written before the failure, only whole lines count. */
  #fail(taken: Buffer, gaps: number, lines: number, why: string): void {
    const whole = taken.subarray(this.#isTorn ? 1 : 0).reduce((count, byte) => count + (byte === LF ? 1 : 0), 0);
    this.#missing = (whole >= gaps ? 0 : this.#missing) + lines - Math.max(0, whole - gaps);
    this.#isTorn = taken.length === 0 ? this.#isTorn : taken.at(-1) !== LF;
    this.#why = why;
    if (!this.#told) this.#options.onFailure(why);
    this.#told = true;
  }
}

const LF = 0x0a;

function reasonOf(error: unknown): string {
  switch (systemCode(error)) {
    case "ENOENT":
      return "its folder does not exist";
    case "EISDIR":
      return "it is a folder";
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return "the system does not allow it";
    case "ENOSPC":
      return "no space is left on the disk";
    default:
      return messageOf(error);
  }
}
