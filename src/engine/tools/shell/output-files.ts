/**
 * The files that hold the whole output of a session's commands. They lie in one folder that nobody else may enter, may be read unasked, and
 * are removed with the session. A command whose output fits its result gets none.
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BackgroundLog } from "./background-log.js";

/** Files of a session; the oldest that no running command writes is removed for the next. */
const MAX_FILES = 32;

export class OutputFiles {
  #folder: string | undefined;
  #count = 0;
  readonly #files = new Set<OutputFile>();

  /** `beyond`: characters of output up to which no file is made. */
  file(beyond: number): OutputFile {
    return new OutputFile(beyond, (file) => this.#place(file));
  }

  /** A path at which a shell may leave the folder that it ended in; undefined where the path cannot stand in quotes. */
  mark(): string | undefined {
    const path = this.#path(`folder-${++this.#count}`);
    return /['"$`\\\n]/.test(path) ? undefined : path;
  }

  /** Whether the path, with its links resolved, is one of these files. */
  has(path: string): boolean {
    return [...this.#files].some((file) => file.path === path);
  }

  remove(): void {
    for (const file of this.#files) file.close();
    this.#files.clear();
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = undefined;
  }

  #place(file: OutputFile): string {
    const old = [...this.#files].find(({ isClosed }) => isClosed);
    if (this.#files.size >= MAX_FILES && old !== undefined) {
      this.#files.delete(old);
      rmSync(old.path ?? "", { force: true });
    }
    this.#files.add(file);
    return this.#path(`output-${++this.#count}.log`);
  }

  #path(name: string): string {
    this.#folder ??= realpathSync(mkdtempSync(join(tmpdir(), "parley-bash-")));
    return join(this.#folder, name);
  }
}

export class OutputFile {
  /** Undefined as long as there is no file. */
  path: string | undefined;
  isClosed = false;
  readonly #beyond: number;
  readonly #place: (file: OutputFile) => string;
  #log: BackgroundLog | undefined;
  /** The output so far, as long as there is no file. */
  #early = "";

  constructor(beyond: number, place: (file: OutputFile) => string) {
    this.#beyond = beyond;
    this.#place = place;
  }

  push(text: string): void {
    if (this.isClosed) return;
    if (this.#log === undefined) this.#early += text;
    else this.#log.push(text);
    if (this.#log === undefined && this.#early.length > this.#beyond) this.open();
  }

  /** Makes the file now, whatever its length. Returns its path. */
  open(): string {
    this.path ??= this.#place(this);
    if (this.#log === undefined && !this.isClosed) {
      this.#log = new BackgroundLog(this.path);
      this.#log.push(this.#early);
      this.#early = "";
    }
    return this.path;
  }

  close(): void {
    this.isClosed = true;
    this.#log?.close();
  }
}
