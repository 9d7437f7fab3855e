/** The pieces of a conversation on the screen. Each draws itself for a width, and keeps the rows until something changes. */
import { Markdown, truncateToWidth, visibleWidth, wrapTextWithAnsi, type Component, type MarkdownTheme } from "@earendil-works/pi-tui";
import type { Theme } from "../theme.js";

/** Draws again only for another width, or after `invalidate`. */
export abstract class Block implements Component {
  #width = -1;
  #rows: string[] = [];

  render(width: number): string[] {
    if (width !== this.#width) {
      this.#width = width;
      this.#rows = clipped(this.draw(width), width);
    }
    return this.#rows;
  }

  invalidate(): void {
    this.#width = -1;
  }

  protected abstract draw(width: number): string[];
}

/** The renderer ends the program at a row that is too wide, so that none may be, however narrow the screen. */
export function clipped(rows: readonly string[], width: number): string[] {
  return rows.map((row) => (visibleWidth(row) > width ? truncateToWidth(row, width, "") : row));
}

/** Text in one style, wrapped at words, with a mark before its first row. */
export class TextBlock extends Block {
  readonly #text: string;
  readonly #paint: (text: string) => string;
  readonly #mark: string;

  constructor(text: string, paint: (text: string) => string = (same) => same, mark = "") {
    super();
    this.#text = text;
    this.#paint = paint;
    this.#mark = mark;
  }

  protected draw(width: number): string[] {
    return wrapped(this.#text, width, this.#mark).map(this.#paint);
  }
}

/** Rows with a mark before the first and as much space before the others. */
export function wrapped(text: string, width: number, mark = ""): string[] {
  const inset = " ".repeat(visibleWidth(mark));
  const rows = text.split("\n").flatMap((line) => wrapTextWithAnsi(line, Math.max(1, width - inset.length)));
  return rows.map((row, at) => `${at === 0 ? mark : inset}${row}`);
}

/**
 * An answer in Markdown while it comes. Paragraphs that are whole are drawn once and kept, so that a long answer costs no more with each
 * piece than its last paragraph does.
 */
export class AnswerBlock extends Block {
  readonly #theme: MarkdownTheme;
  readonly #done: Markdown[] = [];
  #open = "";

  constructor(theme: MarkdownTheme, text = "") {
    super();
    this.#theme = theme;
    this.add(text);
  }

  add(text: string): void {
    this.#open += text;
    const end = this.#open.length > LONG ? endOfWhole(this.#open) : 0;
    if (end > 0) {
      this.#done.push(new Markdown(this.#open.slice(0, end), 0, 0, this.#theme));
      this.#open = this.#open.slice(end).replace(/^\n+/, "");
    }
    super.invalidate();
  }

  override invalidate(): void {
    super.invalidate();
    for (const part of this.#done) part.invalidate();
  }

  protected draw(width: number): string[] {
    const open = this.#open.trim() === "" ? [] : [new Markdown(this.#open, 0, 0, this.#theme)];
    return [...this.#done, ...open].flatMap((part, at) => [...(at === 0 ? [] : [""]), ...part.render(width)]);
  }
}

const LONG = 2000;

/** The end of the last paragraph behind which no block of code, list, quote or table is open. */
function endOfWhole(text: string): number {
  let end = 0;
  let isCode = false;
  let at = 0;
  let before = "";
  for (const line of text.split("\n")) {
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode;
    const isPlain = /^[^\s>|*+-]/.test(before) && !/^\d+[.)]/.test(before);
    if (line === "" && !isCode && isPlain) end = at;
    if (line !== "") before = line;
    at += line.length + 1;
  }
  return end;
}

/** Thinking: dimmed while it comes, one row when it is over, whole where everything is unfolded. */
export class ThinkingBlock extends Block {
  readonly #theme: Theme;
  readonly #isUnfolded: () => boolean;
  #text = "";
  #isDone = false;

  constructor(theme: Theme, isUnfolded: () => boolean) {
    super();
    this.#theme = theme;
    this.#isUnfolded = isUnfolded;
  }

  add(text: string): void {
    this.#text += text;
    this.invalidate();
  }

  end(): void {
    this.#isDone = true;
    this.invalidate();
  }

  protected draw(width: number): string[] {
    const mark = `${this.#theme.marks.thought} `;
    const rows = wrapped(this.#text.trim(), width, mark);
    const paint = (row: string): string => this.#theme.paint("aside", row);
    if (this.#isUnfolded()) return rows.map(paint);
    if (!this.#isDone) return rows.slice(-THINKING_ROWS).map(paint);
    const [first = ""] = rows;
    const more = rows.length > 1 ? ` ${this.#theme.marks.more} (${rows.length} rows)` : "";
    return [paint(truncateToWidth(first, Math.max(1, width - visibleWidth(more)), "") + more)];
  }
}

const THINKING_ROWS = 6;
