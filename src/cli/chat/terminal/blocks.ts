/** The pieces of a conversation on the screen. Each draws itself for a width, and keeps the rows until something changes. */
import { Markdown, truncateToWidth, visibleWidth, wrapTextWithAnsi, type Component, type MarkdownTheme } from "@earendil-works/pi-tui";
import type { Theme } from "../theme.js";
import { CODE_BORDER } from "./markdown-theme.js";

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

class MarkdownBlock extends Block {
  readonly #markdown: Markdown;

  constructor(text: string, theme: MarkdownTheme) {
    super();
    this.#markdown = new Markdown(text, 0, 0, theme);
  }

  override invalidate(): void {
    super.invalidate();
    this.#markdown.invalidate();
  }

  /** The library fills its rows with spaces, which would be copied along. */
  protected draw(width: number): string[] {
    return this.#markdown
      .render(width)
      .filter((row) => !row.includes(CODE_BORDER))
      .map((row) => row.trimEnd());
  }
}

/**
 * An answer in Markdown while it comes. Paragraphs that are whole are drawn once and kept. A part that goes on, as a list of thousands of items, is
 * drawn less often the longer that takes, so that it holds up neither the answer nor the keys.
 */
export class AnswerBlock implements Component {
  readonly #theme: MarkdownTheme;
  readonly #whole: MarkdownBlock[] = [];
  #open = "";
  #isEnded = false;
  #width = -1;
  #rows: string[] = [];
  /** Whether text came that is not drawn yet. */
  #isStale = true;
  /** The time before which it is not drawn. */
  #drawnFrom = 0;

  constructor(theme: MarkdownTheme) {
    this.#theme = theme;
  }

  add(text: string): void {
    this.#open += text;
    this.#isStale = true;
  }

  end(): void {
    this.#isEnded = true;
  }

  render(width: number): string[] {
    const began = performance.now();
    const isDue = this.#isStale && (this.#isEnded || began >= this.#drawnFrom);
    if (width === this.#width && !isDue) return this.#rows;
    this.#width = width;
    this.#isStale = false;
    this.#rows = this.#draw(width);
    const now = performance.now();
    this.#drawnFrom = now + PAUSES_FOR * (now - began);
    return this.#rows;
  }

  invalidate(): void {
    this.#width = -1;
    for (const part of this.#whole) part.invalidate();
  }

  #draw(width: number): string[] {
    const end = this.#open.length > LONG ? endOfWhole(this.#open) : 0;
    if (end > 0) {
      this.#whole.push(new MarkdownBlock(this.#open.slice(0, end), this.#theme));
      this.#open = this.#open.slice(end).replace(/^\n+/, "");
    }
    const open = this.#open.trim() === "" ? [] : [new MarkdownBlock(this.#open, this.#theme)];
    return [...this.#whole, ...open].flatMap((part, at) => [...(at === 0 ? [] : [""]), ...part.render(width)]);
  }
}

/** A long part is drawn a quarter of the time at most. */
const PAUSES_FOR = 3;
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
