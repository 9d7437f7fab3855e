/** What is shown goes above the line that somebody writes, in whole lines; while nobody writes, it goes out as it comes. */
import type { Sink } from "../screen.js";

/** The line at the bottom. */
interface Line {
  /** Takes it off the screen; the cursor is where it began. */
  erase(): void;
  draw(): void;
}

export class Paper implements Sink {
  readonly isTTY = true;
  readonly #output: Sink;
  #line: Line | undefined;
  /** Came while somebody writes, and is not a whole line yet. */
  #held = "";
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
    this.#showAbove(this.#held.lastIndexOf("\n") + 1);
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
    this.#put(this.#held);
    this.#held = "";
  }

  /** What was held back is shown, whole or not. */
  flush(): void {
    if (this.#held === "") return;
    this.#held += "\n";
    this.#showAbove(this.#held.length);
    this.#isBroken = true;
  }

  #showAbove(count: number): void {
    const text = this.#held.slice(0, count);
    if (text === "") return;
    this.#held = this.#held.slice(count);
    this.#line?.erase();
    this.#put(text);
    this.#line?.draw();
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
