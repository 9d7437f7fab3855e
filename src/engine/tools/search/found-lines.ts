/** Lines of ripgrep, which come file by file but in any order of the files, put in the order of their paths. */
import { byPath } from "./list-files.js";

const MOST_LINES = 20_000;
const MOST_CHARS = 8 * 2 ** 20;
/** Parts groups of lines that do not touch, within a file and between files. */
const PARTING = "--";

export class FoundLines {
  /** By path, each with its lines. */
  readonly #files = new Map<string, string[]>();
  #count = 0;
  #chars = 0;
  /** The file that the last line belongs to. */
  #last: string[] = [];
  #isParted = false;

  /** False when there is no room for more. */
  add(line: string): boolean {
    this.#chars += line.length;
    this.#count++;
    // Within a file ripgrep ends it as `--crlf` wants.
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

/** With `--null` a byte 0 stands behind the path, where people see the mark that stands behind the number of the line. */
export function shownLine(line: string): string {
  const end = line.indexOf("\0");
  if (end === -1) return line;
  const rest = line.slice(end + 1);
  return `${line.slice(0, end)}${/^\d+-/.test(rest) ? "-" : ":"}${rest}`;
}
