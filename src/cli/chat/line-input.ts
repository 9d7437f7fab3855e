/** The keyboard: lines with history and completion, and questions that can be withdrawn. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline/promises";
import { clearScreenDown, cursorTo } from "node:readline";
import { makeFolder } from "../../os/folders.js";

const PROMPT = "> ";
const HISTORY_LINES = 1000;

/** What could stand in place of the end of a line; `typed` is the part that they replace. */
export interface Completion {
  typed: string;
  values: string[];
}

export class LineInput {
  readonly terminal: Interface;
  readonly #historyFile: string;
  #history: string[];
  #asking = false;
  #isPrompting = false;
  #isClosed = false;
  #complete: (line: string) => Promise<Completion> = () => Promise.resolve({ typed: "", values: [] });

  constructor(home: string) {
    this.#historyFile = join(home, "history");
    this.#history = readHistory(this.#historyFile);
    this.terminal = createInterface({
      input: process.stdin,
      output: process.stdout,
      prompt: PROMPT,
      history: this.#history,
      historySize: HISTORY_LINES,
      removeHistoryDuplicates: true,
      completer: async (line: string): Promise<[string[], string]> => {
        const { typed, values } = await this.#complete(line);
        return [values, typed];
      },
    });
    // Answers to questions are not worth keeping.
    this.terminal.on("history", (history: string[]) => {
      if (this.#asking) history.shift();
      this.#history = [...history];
    });
    this.terminal.once("close", () => {
      this.#isClosed = true;
      keepHistory(home, this.#historyFile, this.#history);
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  completeWith(complete: (line: string) => Promise<Completion>): void {
    this.#complete = complete;
  }

  /** Shows that a line may come. */
  prompt(): void {
    if (this.#isClosed || this.#asking) return;
    this.#isPrompting = true;
    process.stdout.write("\n");
    this.terminal.prompt();
  }

  /** A line has come. */
  prompted(): void {
    this.#isPrompting = false;
  }

  /** Something is shown while a line is being written: above that line. */
  above(show: () => void): void {
    if (!this.#isPrompting || this.#isClosed) return show();
    cursorTo(process.stdout, 0);
    clearScreenDown(process.stdout);
    show();
    this.terminal.prompt(true);
  }

  /** Undefined when the question was withdrawn, or there is nobody to answer it. */
  async ask(question: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.#isClosed) return undefined;
    const closed = new AbortController();
    const close = (): void => closed.abort();
    this.terminal.once("close", close);
    this.#asking = true;
    try {
      return await this.terminal.question(question, { signal: AbortSignal.any([signal, closed.signal]) });
    } catch (error) {
      if (signal.aborted || closed.signal.aborted) return undefined;
      throw error;
    } finally {
      this.#asking = false;
      this.terminal.off("close", close);
    }
  }

  close(): void {
    this.terminal.close();
  }
}

/** Newest first, as readline has it. */
function readHistory(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean).toReversed().slice(0, HISTORY_LINES);
  } catch {
    return [];
  }
}

/** A home that cannot be written costs the history, not the chat. */
function keepHistory(home: string, file: string, history: readonly string[]): void {
  try {
    makeFolder(home, 0o700);
    writeFileSync(
      file,
      history
        .toReversed()
        .map((line) => `${line}\n`)
        .join(""),
      { mode: 0o600 },
    );
  } catch {
    return;
  }
}
