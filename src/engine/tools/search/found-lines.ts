/** Sorts ripgrep's lines by path: they come file by file, but the files in any order. */
import { byPath } from "./list-files.js";

const MOST_LINES = 20_000;
const MOST_CHARS = 8 * 2 ** 20;
/** Separates groups of lines that are not adjacent, within a file and between files. */
const PARTING = "--";

export class FoundLines {
  /** Lines by path. */
  readonly #files = new Map<string, string[]>();
  #count = 0;
  #chars = 0;
  /** The file of the last line. */
  #last: string[] = [];
  #isParted = false;

  /** Returns false if there is no room for more. */
  add(line: string): boolean {
    this.#chars += line.length;
    this.#count++;
    // Ripgrep ends this line as `--crlf` demands.
    if (line === PARTING || line === `${PARTING}\r`) {
      this.#isParted = true;
      this.#last.push(PARTING);
      return !this.isFull;
    }
    const path = line.split("\0", 1)[0] ?? line;
    const known = this.#files.get(path);
    this.#last = known ?? [];
    if (known === undefined) this.#files.set(path, this.#last);
    this.#last.push(shownLine(line));
    return !this.isFull;
  }

  get isFull(): boolean {
    return this.#count > MOST_LINES || this.#chars > MOST_CHARS;
  }

  *inOrder(): Generator<string> {
    let isFirst = true;
    for (const path of [...this.#files.keys()].sort(byPath)) {
      const lines = this.#files.get(path) ?? [];
      if (lines.at(-1) === PARTING) lines.pop();
      if (!isFirst && this.#isParted) yield PARTING;
      isFirst = false;
      yield* lines;
    }
  }
}

/** With `--null` a byte 0 follows the path, in place of the mark that people see before the line number. */
export function shownLine(line: string): string {
  const end = line.indexOf("\0");
  if (end === -1) return line;
  const rest = line.slice(end + 1);
  return `${line.slice(0, end)}${/^\d+-/.test(rest) ? "-" : ":"}${rest}`;
}
