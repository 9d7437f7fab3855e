/** Text goes out as it comes. While somebody writes a line, text goes above that line: whole rows for good, the last row anew with each piece. */
import type { Sink } from "./screen.js";

/** The line at the bottom. */
interface Line {
  /** Whether rows that are on the screen can be taken off again; where not, the last row waits until it is whole. */
  canErase: boolean;
  /** Takes the line and so many rows above it off the screen; the cursor is where they began. */
  erase(rowsAbove: number): void;
  draw(): void;
}

export class Paper implements Sink {
  readonly isTTY = true;
  readonly #output: Sink;
  #line: Line | undefined;
  /** The row that is not whole yet. It came while somebody writes. */
  #held = "";
  /** The held row stands above the line. */
  #isHeldShown = false;
  #isMidLine = false;
  /** A line was broken off for the one at the bottom: its own end, when it comes, is no line more. */
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

  /** From here on the bottom belongs to this line. */
  lend(line: Line): void {
    if (this.#isMidLine) this.#output.write("\n");
    this.#isBroken ||= this.#isMidLine;
    this.#isMidLine = false;
    this.#line = line;
  }

  /** The line is done, and the cursor is below it. */
  takeBack(): void {
    this.#line = undefined;
    if (this.#isHeldShown) this.#isBroken = true;
    else this.#put(this.#held);
    this.#held = "";
    this.#isHeldShown = false;
  }

  /** The held row is shown as it is. */
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

/** Its last line in rows that fit the terminal for certain: what is not ASCII may be two cells wide. */
function inRows(text: string, columns: number | undefined): string {
  if (!columns) return text;
  let rows = text.slice(0, text.lastIndexOf("\n") + 1);
  let row = "";
  let cells = 0;
  for (const [letter] of text.slice(rows.length).matchAll(COLOUR_OR_LETTER)) {
    cells += cellsOf(letter);
    if (cells >= columns) {
      // A word that began in this row goes into the next one whole.
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
