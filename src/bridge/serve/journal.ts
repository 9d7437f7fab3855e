/**
 * The bridge's write-ahead log: an append-only file with one writer. Everything that must survive a crash is written here first, and
 * `durable` is awaited before the outside learns of it.
 */
import { appendFileSync, closeSync, fsyncSync, openSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf, ParleyError } from "../../core/errors.js";
import { makeFolder } from "../../os/files/folders.js";
import { takeLock } from "../../os/files/lock.js";
import { LogFile, readLines } from "../../os/files/log-file.js";
import { parseEntry, type Entry } from "./entry.js";
import { Ledger } from "./ledger.js";

/** A smaller file is not rewritten. */
const SMALL = 1024 * 1024;

export interface JournalOptions {
  /** Called once when a write fails; no promise holds from then on. */
  onFailure(error: unknown): void;
}

export class Journal {
  readonly ledger = new Ledger();
  /** Unreadable lines, and the file that keeps them: another program or a later version may have written them. */
  readonly unreadable: number;
  readonly aside: string;
  readonly #folder: string;
  readonly #release: () => Promise<void>;
  readonly #onFailure: (error: unknown) => void;
  #file: LogFile;
  #compactAt = SMALL;
  #failed = false;

  private constructor(folder: string, release: () => Promise<void>, { onFailure }: JournalOptions) {
    this.#folder = folder;
    this.#release = release;
    this.#onFailure = onFailure;
    this.#file = LogFile.open(fileIn(folder));
    this.aside = join(folder, "unreadable.jsonl");
    const unreadable: string[] = [];
    for (const line of readLines(fileIn(folder), 0)) {
      const entry = parseEntry(line);
      if (entry === undefined) unreadable.push(`${line}\n`);
      else this.ledger.apply(entry);
    }
    this.unreadable = unreadable.length;
    if (unreadable.length > 0) appendFileSync(this.aside, unreadable.join(""), { mode: 0o600, flush: true });
  }

  /** Throws when another process holds the journal, or the folder is not writable. Cuts off a last line that a crash tore. */
  static async open(folder: string, options: JournalOptions): Promise<Journal> {
    try {
      return await Journal.#open(folder, options);
    } catch (error) {
      if (error instanceof ParleyError) throw error;
      const message = `The bridge's state cannot be kept in ${folder} (${messageOf(error)}); 'stateFolder' names another folder`;
      throw new ParleyError({ code: "config", message, retryable: false }, { cause: error });
    }
  }

  static async #open(folder: string, options: JournalOptions): Promise<Journal> {
    makeFolder(folder, 0o700);
    const release = await takeLock(join(folder, "lock"), `The bridge's state in ${folder}`);
    try {
      const journal = new Journal(folder, release, options);
      journal.#compact();
      return journal;
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** Writes all entries or, when it throws, none. */
  write(...entries: readonly Entry[]): void {
    if (entries.length === 0) return;
    this.#trying(() => this.#file.append(entries.map((entry) => JSON.stringify(entry)).join("\n")));
    for (const entry of entries) this.ledger.apply(entry);
    if (this.#file.size > this.#compactAt) this.#trying(() => this.#compact());
  }

  /** Everything written so far survives a power cut. */
  async durable(): Promise<void> {
    try {
      await this.#file.sync();
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  async close(): Promise<void> {
    try {
      await this.#file.close();
    } finally {
      await this.#release();
    }
  }

  /** The new file is whole and on disk before it takes the old one's name. */
  #compact(): void {
    const draft = `${fileIn(this.#folder)}.draft`;
    const text = [...this.ledger.entries()].map((entry) => `${JSON.stringify(entry)}\n`).join("");
    writeFileSync(draft, text, { mode: 0o600, flush: true });
    renameSync(draft, fileIn(this.#folder));
    syncNow(this.#folder);
    const old = this.#file;
    this.#file = LogFile.open(fileIn(this.#folder));
    void old.close().catch(() => {});
    this.#compactAt = Math.max(SMALL, 4 * this.#file.size);
  }

  #trying(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  #fail(error: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#onFailure(error);
  }
}

function fileIn(folder: string): string {
  return join(folder, "journal.jsonl");
}

/** A system may not sync folders; there is no other way. */
function syncNow(folder: string): void {
  let handle: number | undefined;
  try {
    handle = openSync(folder, "r");
    fsyncSync(handle);
  } catch {
    return;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
