/** The keyboard as lines: an edited line with history and completion at the bottom, questions that can be withdrawn, and output above. */
import { clearScreenDown, cursorTo, moveCursor } from "node:readline";
import { createInterface, type Interface } from "node:readline/promises";
import type { Redactor } from "../../core/secrets/redact.js";
import { asker, type Asker } from "./asker.js";
import type { Sink } from "./screen.js";
import { HistoryFile } from "./history-file.js";
import { Keyboard } from "./keyboard.js";
import { OutputRows } from "./output-rows.js";

const MOST_HISTORY = 1000;
const CONTINUED = /(?:^|[^\\])(?:\\\\)*\\$/;

/** Completions for the end of a line; `typed` is the part that they replace. */
export interface Completion {
  typed: string;
  values: string[];
}

/** An entered line: as typed, and with its pasted text. */
export interface Entry {
  typed: string;
  text: string;
}

export interface Listener {
  entered(entry: Entry): void;
  /** Called on Ctrl-C. */
  interrupted(): void;
}

export class LineInput implements Asker {
  /** The terminal that shows everything. */
  readonly rows: Sink;
  /** Called when no line can come any more. */
  readonly closed: Promise<void>;
  readonly #terminal: Interface;
  readonly #keyboard: Keyboard;
  readonly #rows: OutputRows;
  readonly #asker: Asker;
  /** Whether the terminal can do more than print. */
  readonly #canMove: boolean;
  #listener: Listener | undefined;
  /** Lines that came before there was a listener. */
  #early: Entry[] = [];
  #code = 0;
  #complete: (line: string) => Promise<Completion> = () => Promise.resolve({ typed: "", values: [] });
  #label = "> ";
  /** Lines that ended in a backslash. */
  #begun: string[] = [];
  #isWriting = false;
  #isAsking = false;
  #isWanted = false;
  #isClosed = false;

  constructor(home: string, redactor: Redactor, term: string | undefined) {
    this.#canMove = term !== "dumb";
    this.#rows = new OutputRows(process.stdout);
    this.rows = this.#rows;
    this.#keyboard = new Keyboard(process.stdin, process.stdout, this.#canMove);
    const history = new HistoryFile(home);
    this.#terminal = createInterface({
      input: this.#keyboard,
      output: process.stdout,
      terminal: true,
      history: history.read(),
      historySize: MOST_HISTORY,
      removeHistoryDuplicates: true,
      completer: async (line: string): Promise<[string[], string]> => {
        const { typed, values } = await this.#complete(line);
        return [values, typed];
      },
    });
    this.#asker = asker(this.#terminal);
    this.closed = new Promise((resolve) => this.#terminal.once("close", resolve));
    this.#terminal.once("close", () => this.#end());
    this.#terminal.on("history", (lines: string[]) => this.#remember(lines, history, redactor));
    this.#terminal.on("line", (line) => this.#entered(line));
    this.#terminal.on("SIGINT", () => this.#interrupted());
    this.#terminal.on("SIGTSTP", () => this.#stop());
    process.on("SIGCONT", this.#goOn);
    // This listener runs before readline handles the key.
    this.#keyboard.prependListener("keypress", (_text: unknown, key: { name?: string; ctrl?: boolean }) => this.#pressed(key));
  }

  listen(listener: Listener): void {
    this.#listener = listener;
    for (const entry of this.#early.splice(0)) listener.entered(entry);
  }

  /** Whether the user has left, and the exit code. */
  get left(): number | undefined {
    return this.#isClosed ? this.#code : undefined;
  }

  completeWith(complete: (line: string) => Promise<Completion>): void {
    this.#complete = complete;
  }

  /** Sets the text before the line, from the next line on. */
  label(label: string): void {
    this.#label = label;
  }

  /** Shows that the user may write a line. */
  prompt(): void {
    if (this.#isClosed) return;
    if (this.#isAsking) this.#isWanted = true;
    else if (this.#isWriting) this.#rows.flush();
    else {
      this.#rows.write("\n");
      this.#begin();
    }
  }

  /** Asks a question, and sets a half-written line aside for it. */
  async ask(question: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.#isClosed) return undefined;
    const half = this.#setAside();
    this.#lend();
    this.#isAsking = true;
    const answer = await this.#asker.ask(question, signal);
    this.#isAsking = false;
    if (this.#isClosed) return answer;
    this.#done();
    if (half !== undefined) this.#takeUp(half);
    if (this.#isWanted) this.prompt();
    this.#isWanted = false;
    return answer === undefined ? undefined : this.#keyboard.expanded(answer);
  }

  /** Drops a half-written line; false when there was none. */
  drop(): boolean {
    if (this.#isAsking || !this.#canMove || (this.#terminal.line === "" && this.#begun.length === 0)) return false;
    this.#begun = [];
    this.#setAside();
    this.#begin();
    return true;
  }

  close(): void {
    this.#terminal.close();
  }

  // --- keys ---

  /** The user begins to write while output continues: output goes above the line from here on. */
  #pressed({ name, ctrl }: { name?: string; ctrl?: boolean }): void {
    if (this.#isWriting || ctrl === true || name === "return" || name === "enter") return;
    this.#begin();
  }

  #entered(line: string): void {
    this.#done();
    this.#begun.push(line);
    if (CONTINUED.test(line)) return this.#begin();
    const typed = this.#begun.map((part, at, all) => (at < all.length - 1 ? part.slice(0, -1) : part)).join("\n");
    this.#begun = [];
    const entry = { typed, text: this.#keyboard.expanded(typed) };
    if (this.#listener === undefined) this.#early.push(entry);
    else this.#listener.entered(entry);
  }

  #interrupted(): void {
    if (this.#listener !== undefined) return this.#listener.interrupted();
    this.#code = 130;
    this.close();
  }

  /** Ctrl-Z stops our whole process group, as the terminal would do it. */
  #stop(): void {
    if (this.#isWriting) this.#erase();
    this.#keyboard.setRawMode(false);
    process.kill(0, "SIGTSTP");
    // A process group without a shell is not stopped, because nothing would continue it.
    setImmediate(this.#goOn);
  }

  /** The shell has changed the terminal's mode meanwhile. */
  readonly #goOn = (): void => {
    if (this.#isClosed) return;
    // Node sets a mode only when it believes to have another mode.
    this.#keyboard.setRawMode(false).setRawMode(true);
    if (this.#isWriting) this.#draw();
  };

  // --- the line at the bottom ---

  #begin(): void {
    this.#lend();
    this.#terminal.setPrompt(this.#begun.length === 0 ? this.#label : "… ");
    this.#terminal.prompt();
  }

  #lend(): void {
    this.#isWriting = true;
    this.#rows.lend({ canErase: this.#canMove, erase: (rowsAbove) => this.#erase(rowsAbove), draw: () => this.#draw() });
  }

  #done(): void {
    this.#isWriting = false;
    this.#rows.takeBack();
  }

  #erase(rowsAbove = 0): void {
    if (!this.#canMove) return void process.stdout.write("\n");
    moveCursor(process.stdout, 0, -this.#terminal.getCursorPos().rows - rowsAbove);
    cursorTo(process.stdout, 0);
    clearScreenDown(process.stdout);
  }

  /** Readline draws from the row where it believes the line to begin: the rows above are those that the cursor was down. */
  #draw(): void {
    if (!this.#canMove) return void process.stdout.write(`${this.#terminal.getPrompt()}${this.#terminal.line}`);
    process.stdout.write("\n".repeat(this.#terminal.getCursorPos().rows));
    this.#terminal.prompt(true);
  }

  /** Takes a half-written line off the screen; undefined when the user writes nothing, or the line cannot be erased. */
  #setAside(): string | undefined {
    if (!this.#isWriting || !this.#canMove) return undefined;
    const { line } = this.#terminal;
    this.#terminal.write(null, { ctrl: true, name: "e" });
    this.#terminal.write(null, { ctrl: true, name: "u" });
    this.#erase();
    this.#done();
    return line;
  }

  /** The text is written letter by letter: readline miscounts the rows of a longer text. */
  #takeUp(half: string): void {
    this.#begin();
    for (const letter of half) this.#terminal.write(letter);
  }

  #end(): void {
    this.#isClosed = true;
    process.off("SIGCONT", this.#goOn);
    this.#keyboard.release();
    if (this.#isWriting && !this.#isAsking) process.stdout.write("\n");
    this.#done();
  }

  /** Answers and lines with a key in them are not kept; a line with pasted text is kept for this chat only. */
  #remember(lines: string[], file: HistoryFile, redactor: Redactor): void {
    const line = lines[0] ?? "";
    if (this.#isAsking || redactor.ranges(line).length > 0) lines.shift();
    else if (this.#keyboard.expanded(line) === line) file.add(line);
  }
}
