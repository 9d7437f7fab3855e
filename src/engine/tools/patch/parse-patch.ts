/** Reads the text of a patch: `*** Begin Patch`, sections that add, update, move and delete files, `*** End Patch`. */

interface HunkLine {
  /** A blank for an unchanged line. */
  mark: " " | "-" | "+";
  text: string;
}

export interface Hunk {
  /** Lines above the hunk that locate it, the outermost first. */
  anchors: string[];
  lines: HunkLine[];
  /** The hunk's last line is the file's last. */
  atEnd: boolean;
}

export type Section =
  | { do: "add"; path: string; content: string }
  | { do: "delete"; path: string }
  | { do: "update"; path: string; to?: string; hunks: Hunk[] };

const MAX_SECTIONS = 100;
const BEGIN = "*** Begin Patch";
const END = "*** End Patch";

/** Lines around the patch, such as a fence or a shell command, are ignored. */
export function parsePatch(input: string): Section[] | { problem: string } {
  const lines = input.split("\n").map((line) => line.replace(/\r$/, ""));
  const begin = lines.findIndex((line) => line.trim() === BEGIN);
  if (begin === -1) return { problem: `the patch must begin with the line "${BEGIN}"` };
  const end = lines.findLastIndex((line) => line.trim() === END);
  if (end < begin) return { problem: `the patch has no line "${END}": it was cut off, or is not whole` };
  const reader = new Reader(lines.slice(begin + 1, end));
  try {
    const sections = reader.sections();
    if (sections.length === 0) return { problem: "the patch changes no file" };
    if (sections.length > MAX_SECTIONS) return { problem: `the patch has ${sections.length} files, and ${MAX_SECTIONS} are the limit` };
    return sections;
  } catch (error) {
    if (error instanceof Malformed) return { problem: `line ${begin + 1 + error.line} of the patch: ${error.message}` };
    throw error;
  }
}

class Malformed extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

const HEADER = /^\*\*\* (Add File|Update File|Delete File|Move to): *(.*)$/;
const SECTION = /^\*\*\* (?:Add|Update|Delete) File:/;
const LAST_LINE = "*** End of File";

class Reader {
  readonly #lines: readonly string[];
  #at = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  sections(): Section[] {
    const sections: Section[] = [];
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at] ?? "";
      if (line.trim() === "") this.#at++;
      else sections.push(this.#section(line.trimEnd()));
    }
    return sections;
  }

  #section(line: string): Section {
    const [, kind, path = ""] = HEADER.exec(line) ?? [];
    if (kind === undefined || kind === "Move to")
      throw this.#malformed(`expected "*** Add File: PATH", "*** Update File: PATH" or "*** Delete File: PATH"`);
    if (path === "") throw this.#malformed("the path is missing");
    this.#at++;
    if (kind === "Delete File") return { do: "delete", path };
    if (kind === "Add File") return { do: "add", path, content: this.#content() };
    return this.#update(path);
  }

  #content(): string {
    let content = "";
    let blank = "";
    for (; this.#isInSection(); this.#at++) {
      const line = this.#lines[this.#at] ?? "";
      if (line.trim() === "") blank += "\n";
      else if (line.startsWith("+")) {
        content += `${blank}${line.slice(1)}\n`;
        blank = "";
      } else throw this.#malformed('each line of an added file begins with "+"');
    }
    return content;
  }

  #update(path: string): Section {
    const [, kind, to = ""] = HEADER.exec(this.#lines[this.#at]?.trimEnd() ?? "") ?? [];
    const isMove = kind === "Move to";
    if (isMove && to === "") throw this.#malformed("the path is missing");
    if (isMove) this.#at++;
    const hunks: Hunk[] = [];
    while (this.#isInSection()) {
      const hunk = this.#hunk();
      if (hunk.lines.length > 0) hunks.push(hunk);
    }
    if (hunks.length === 0 && !isMove) throw this.#malformed(`nothing is changed in ${path}`);
    return { do: "update", path, ...(isMove && { to }), hunks };
  }

  #hunk(): Hunk {
    const hunk: Hunk = { anchors: [], lines: [], atEnd: false };
    let blanks = 0;
    for (; this.#isInSection(); this.#at++) {
      const line = this.#lines[this.#at] ?? "";
      if (line.startsWith("@@")) {
        if (hunk.lines.length > 0) break;
        const anchor = anchorOf(line);
        if (anchor !== "") hunk.anchors.push(anchor);
      } else if (line.trimEnd() === LAST_LINE) {
        hunk.atEnd = true;
        blanks = 0;
        this.#at++;
        break;
      } else {
        hunk.lines.push(this.#hunkLine(line));
        blanks = line === "" ? blanks + 1 : 0;
      }
    }
    // Blank lines between sections are ignored.
    if (!this.#isInSection()) hunk.lines.splice(hunk.lines.length - blanks, blanks);
    return hunk;
  }

  #hunkLine(line: string): HunkLine {
    const mark = line.charAt(0);
    if (mark === "") return { mark: " ", text: "" };
    if (mark === " " || mark === "-" || mark === "+") return { mark, text: line.slice(1) };
    throw this.#malformed('each line of a hunk begins with " ", "-" or "+"');
  }

  #isInSection(): boolean {
    const line = this.#lines[this.#at];
    return line !== undefined && !SECTION.test(line);
  }

  #malformed(message: string): Malformed {
    return new Malformed(this.#at + 1, `${message}, not ${JSON.stringify((this.#lines[this.#at] ?? "").slice(0, 80))}`);
  }
}

/** Line numbers, as in other patch formats, are not used as an anchor. */
function anchorOf(line: string): string {
  return line
    .slice(2)
    .replace(/^ *-\d+(?:,\d+)? \+\d+(?:,\d+)? *@@/, "")
    .replace(/@@ *$/, "")
    .trim();
}
