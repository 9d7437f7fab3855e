/** Writes text as it comes. While the user edits a line, text goes above that line: whole rows once, the last row again with each piece. */
import type { Sink } from "./screen.js";

/** The line at the bottom. */
interface Line {
  /** Whether written rows can be erased; otherwise the last row waits until it is whole. */
  canErase: boolean;
  /** Erases the line and this number of rows above it; the cursor stands where they began. */
  erase(rowsAbove: number): void;
  draw(): void;
}

export class OutputRows implements Sink {
  readonly isTTY = true;
  readonly #output: Sink;
  #line: Line | undefined;
  /** The row that is not whole yet, while the user edits a line. */
  #held = "";
  /** Whether the held row stands above the line. */
  #isHeldShown = false;
  #isMidLine = false;
  /** Whether a line was broken off for the edited line: its own line end then adds no line. */
  #isBroken = false;

  constructor(output: Sink) {
    this.#output = output;
  }

  get columns(): number | undefined {
    return this.#output.columns;
  }

  write(text: string): void {
    if (this.#line === undefined) return this.#put(text);
    this.#held += text;
    this.#showAbove(this.#line);
  }

  /** The bottom of the screen belongs to this line from now on. */
  lend(line: Line): void {
    if (this.#isMidLine) this.#output.write("\n");
    this.#isBroken ||= this.#isMidLine;
    this.#isMidLine = false;
    this.#line = line;
  }

  /** The line is finished, and the cursor stands below it. */
  takeBack(): void {
    this.#line = undefined;
    if (this.#isHeldShown) this.#isBroken = true;
    else this.#put(this.#held);
    this.#held = "";
    this.#isHeldShown = false;
  }

  /** Writes the held row as it is. */
  flush(): void {
    if (this.#held === "" || this.#line === undefined) return;
    this.#held += "\n";
    this.#showAbove(this.#line);
    this.#isBroken = true;
  }

  #showAbove(line: Line): void {
    const text = inRows(this.#held, this.#output.columns);
    const whole = text.lastIndexOf("\n") + 1;
    this.#held = text.slice(whole);
    if (whole === 0 && !line.canErase) return;
    line.erase(this.#isHeldShown ? 1 : 0);
    this.#put(text.slice(0, whole));
    this.#isHeldShown = line.canErase && this.#held !== "";
    if (this.#isHeldShown) this.#output.write(`${this.#held}\n`);
    line.draw();
  }

  #put(written: string): void {
    if (written === "") return;
    const text = this.#isBroken && written.startsWith("\n") ? written.slice(1) : written;
    this.#isBroken = false;
    if (text === "") return;
    this.#output.write(text);
    this.#isMidLine = !text.endsWith("\n");
  }
}

// oxlint-disable-next-line no-control-regex
const COLOUR_OR_LETTER = /\u001b\[[\d;]*m|[^]/gu;

/** Breaks the last line into rows that fit the terminal: a character that is not ASCII may be two cells wide. */
function inRows(text: string, columns: number | undefined): string {
  if (!columns) return text;
  let rows = text.slice(0, text.lastIndexOf("\n") + 1);
  let row = "";
  let cells = 0;
  for (const [letter] of text.slice(rows.length).matchAll(COLOUR_OR_LETTER)) {
    cells += cellsOf(letter);
    if (cells >= columns) {
      // A word that began in this row moves to the next row as a whole.
      const end = row.lastIndexOf(" ") + 1 || row.length;
      rows += `${row.slice(0, end)}\n`;
      row = row.slice(end);
      cells = [...row.matchAll(COLOUR_OR_LETTER)].reduce((sum, [each]) => sum + cellsOf(each), cellsOf(letter));
    }
    row += letter;
  }
  return rows + row;
}

function cellsOf(letter: string): number {
  if (letter.startsWith("\u001b")) return 0;
  if (letter === "\t") return 8;
  return letter >= " " && letter <= "~" ? 1 : 2;
}
