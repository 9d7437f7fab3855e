/** Pasted text arrives as one text and never as keys: no line of it is sent, and no tab completes. A mark in the line stands for it. */

const START = "\u001b[200~";
const END = "\u001b[201~";
/** The beginning of a paste mark that has not arrived whole; a lone escape is a key. */
// oxlint-disable-next-line no-control-regex
const HALF_START = /\u001b\[(?:20{0,2})?$/;
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001f\u007f]/;
const MARK = /\[paste (\d+): \d+ lines?\]/g;

export class Pastes {
  readonly #texts: string[] = [];
  #waiting = "";
  #isPasting = false;

  /** Returns the terminal's input as keys, with marks in place of pasted text. */
  keys(input: string): string {
    this.#waiting += input;
    let keys = "";
    for (let next = this.#next(); next !== undefined; next = this.#next()) keys += next;
    return keys;
  }

  /** The line with pasted text in place of the marks. */
  expanded(line: string): string {
    return line.replace(MARK, (mark, index: string) => this.#texts[Number(index) - 1] ?? mark);
  }

  /** Undefined when the rest must wait for more input. */
  #next(): string | undefined {
    const text = this.#waiting;
    const at = text.indexOf(this.#isPasting ? END : START);
    if (at === -1) return this.#isPasting || text === "" ? undefined : this.#typed(text);
    const before = text.slice(0, at);
    this.#waiting = text.slice(at + START.length);
    this.#isPasting = !this.#isPasting;
    return this.#isPasting ? before : this.#pasted(before);
  }

  #typed(text: string): string | undefined {
    const half = HALF_START.exec(text)?.index ?? text.length;
    this.#waiting = text.slice(half);
    return half === 0 ? undefined : text.slice(0, half);
  }

  /** A single plain line is treated as typed. */
  #pasted(raw: string): string {
    const text = raw.replace(/\r\n?/g, "\n").replace(/\n+$/, "");
    if (!CONTROLS.test(text)) return text;
    this.#texts.push(text);
    const lines = text.split("\n").length;
    return `[paste ${this.#texts.length}: ${lines} ${lines === 1 ? "line" : "lines"}]`;
  }
}
