/** The screen of a terminal, as a person sees it: the output of a program is drawn, and rows that scrolled away can be looked at. */
import { Terminal } from "@xterm/headless";

export interface Size {
  columns: number;
  rows: number;
}

const SCROLLBACK_ROWS = 20_000;

export class Screen {
  readonly #terminal: Terminal;
  /** Desktop notifications, the newest last. */
  readonly notified: string[] = [];
  bells = 0;
  title = "";
  /** The last text that was written to the clipboard. */
  clipboard: string | undefined;

  /** `answer` takes the replies of the terminal to questions of the program. */
  constructor({ columns, rows }: Size, answer: (reply: string) => void) {
    this.#terminal = new Terminal({ cols: columns, rows, scrollback: SCROLLBACK_ROWS, allowProposedApi: true });
    this.#terminal.onData(answer);
    this.#terminal.onBell(() => this.bells++);
    this.#terminal.onTitleChange((title) => (this.title = title));
    for (const code of [9, 777]) this.#terminal.parser.registerOscHandler(code, (text) => this.notified.push(`${code};${text}`) > 0);
    this.#terminal.parser.registerOscHandler(52, (text) => {
      this.clipboard = Buffer.from(text.replace(/^c;/, ""), "base64").toString();
      return true;
    });
  }

  draw(output: string): void {
    this.#terminal.write(output);
  }

  /** Resolves when everything that came so far is drawn. */
  drawn(): Promise<void> {
    return new Promise((resolve) => this.#terminal.write("", resolve));
  }

  resize({ columns, rows }: Size): void {
    this.#terminal.resize(columns, rows);
  }

  /** Every row, those that scrolled away first. */
  get history(): string[] {
    return this.#rows(0);
  }

  /** The rows in sight. */
  get rows(): string[] {
    return this.#rows(this.#terminal.buffer.active.baseY);
  }

  /** The colour of the first place where this stands, as a number of the palette; -1 where it has none. Undefined where it is not there. */
  colourOf(text: string): number | undefined {
    const buffer = this.#terminal.buffer.active;
    const y = this.history.findIndex((row) => row.includes(text));
    const line = buffer.getLine(y);
    if (line === undefined) return undefined;
    const before = line.translateToString(true).indexOf(text);
    return line.getCell(before)?.getFgColor();
  }

  #rows(from: number): string[] {
    const buffer = this.#terminal.buffer.active;
    return Array.from({ length: buffer.length - from }, (_, at) => buffer.getLine(from + at)?.translateToString(true) ?? "");
  }
}
