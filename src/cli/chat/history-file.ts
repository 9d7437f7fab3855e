/** The lines of earlier chats in PARLEY_HOME/history: one line each, the newest last, readable by the user only. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../os/files/folders.js";

const MOST_LINES = 1000;

/** A home that is not writable costs the history, not the chat. */
export class HistoryFile {
  readonly #home: string;
  readonly #file: string;

  constructor(home: string) {
    this.#home = home;
    this.#file = join(home, "history");
  }

  /** The lines in readline's order: newest first, each once. Shortens a file that has grown long. */
  read(): string[] {
    try {
      const lines = readFileSync(this.#file, "utf8").split("\n").filter(Boolean);
      if (lines.length > 2 * MOST_LINES) writeFileSync(this.#file, `${lines.slice(-MOST_LINES).join("\n")}\n`, { mode: 0o600 });
      return [...new Set(lines.toReversed())].slice(0, MOST_LINES);
    } catch {
      return [];
    }
  }

  /** Appends the line at once, so that chats side by side keep each other's lines. */
  add(line: string): void {
    try {
      makeFolder(this.#home, 0o700);
      appendFileSync(this.#file, `${line}\n`, { mode: 0o600 });
    } catch {
      return;
    }
  }
}
