/**
 * The files with the whole output of a session's commands. They are in one folder that only the user may enter, may be read unasked, and
 * are removed with the session. A command whose output fits into its result has no file.
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Sandbox } from "../../sandbox/sandbox.js";
import { BackgroundLog } from "./background-log.js";

/** The most files of a session; for a new one the oldest without a running command is removed. */
const MAX_FILES = 32;

/** The file that a shell writes its final folder to, as the shell sees it and as we do. */
export interface FolderMark {
  inside: string;
  outside: string;
}

export class OutputFiles {
  #folder: string | undefined;
  readonly #sandbox: Pick<Sandbox, "folder" | "temp"> | undefined;
  #count = 0;
  readonly #files = new Set<OutputFile>();

  /** Commands in a sandbox can read the files of its folder. */
  constructor(sandbox?: Pick<Sandbox, "folder" | "temp">) {
    this.#sandbox = sandbox;
    if (sandbox !== undefined) this.#folder = join(sandbox.folder, "outputs");
  }

  /** `beyond`: the characters of output up to which no file is made. */
  file(beyond: number): OutputFile {
    return new OutputFile(beyond, (file) => this.#place(file));
  }

  /** Undefined if the path cannot be quoted. */
  mark(): FolderMark | undefined {
    const name = `folder-${++this.#count}`;
    const mark = this.#sandbox === undefined ? { inside: this.#path(name), outside: this.#path(name) } : markIn(this.#sandbox, name);
    return /['"$`\\\n]/.test(mark.inside) ? undefined : mark;
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

/** Sessions may have the folder for temporary files in common. */
function markIn({ folder, temp }: Pick<Sandbox, "folder" | "temp">, name: string): FolderMark {
  const file = `.${basename(folder)}-${name}`;
  return { inside: join(temp.inside, file), outside: join(temp.outside, file) };
}

export class OutputFile {
  /** Undefined until there is a file. */
  path: string | undefined;
  isClosed = false;
  readonly #beyond: number;
  readonly #place: (file: OutputFile) => string;
  #log: BackgroundLog | undefined;
  /** The output so far, until there is a file. */
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

  /** Makes the file now, whatever the length of the output. Returns its path. */
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
