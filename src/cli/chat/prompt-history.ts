/** The prompts of earlier chats in PARLEY_HOME/history: one a line, the newest last, readable by the user only. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import type { Redactor } from "../../core/secrets/redact.js";
import { withoutSteering } from "../../core/text/terminal-text.js";
import { makeFolder } from "../../os/files/folders.js";

const MOST_PROMPTS = 1000;
const MOST_CHARS = 10_000;

/** A home that is not writable costs the history, not the chat. */
export class PromptHistory {
  readonly #home: string;
  readonly #file: string;
  readonly #redactor: Redactor;
  /** Of this chat, the newest first. */
  readonly #own: string[] = [];

  constructor(home: string, redactor: Redactor) {
    this.#home = home;
    this.#file = join(home, "history");
    this.#redactor = redactor;
  }

  /** The newest first, each once. Shortens a file that has grown long. */
  read(): string[] {
    return [...new Set([...this.#own, ...this.#kept()])].slice(0, MOST_PROMPTS);
  }

  /** Written at once, so that chats side by side keep each other's prompts. A prompt with a key in it, or a very long one, is kept for this chat only. */
  add(text: string): void {
    this.#own.unshift(text);
    if (text.length > MOST_CHARS || this.#redactor.ranges(text).length > 0) return;
    try {
      makeFolder(this.#home, 0o700);
      appendFileSync(this.#file, `${lineOf(text)}\n`, { mode: 0o600 });
    } catch {
      return;
    }
  }

  #kept(): string[] {
    try {
      const lines = readFileSync(this.#file, "utf8").split("\n").filter(Boolean);
      if (lines.length > 2 * MOST_PROMPTS) writeFileSync(this.#file, `${lines.slice(-MOST_PROMPTS).join("\n")}\n`, { mode: 0o600 });
      return lines.toReversed().map((line) => withoutSteering(promptOf(line)));
    } catch {
      return [];
    }
  }
}

/** A prompt of several lines is one JSON string, and so is one that could be taken for such. */
function lineOf(text: string): string {
  return text.includes("\n") || text.startsWith('"') ? JSON.stringify(text) : text;
}

function promptOf(line: string): string {
  const read = line.startsWith('"') ? v.safeParse(v.pipe(v.string(), v.parseJson(), v.string()), line) : undefined;
  return read?.success === true ? read.output : line;
}
