/** The terminal itself: what it can show, whether it is looked at, and that it keeps what has scrolled away. */
import { stripVTControlCharacters } from "node:util";
import { ProcessTerminal } from "@earendil-works/pi-tui";
import { inAscii } from "../theme.js";

const FOCUS_ON = "\u001b[?1004h";
const FOCUS_OFF = "\u001b[?1004l";
export const FOCUS_IN = "\u001b[I";
export const FOCUS_OUT = "\u001b[O";

/** The library writes each frame between these. */
const FRAME = "\u001b[?2026h";
const END_OF_FRAME = "\u001b[?2026l";
/** The library begins a frame that has all rows with it: the window is cleared, and so is what scrolled away. */
const CLEAR_ALL = "\u001b[2J\u001b[H\u001b[3J";
const HOME = "\u001b[H";
const CLEAR_ROW = "\u001b[2K";
const CLEAR_BELOW = "\u001b[J";

/** Long enough for the last frame to be drawn. */
export const LAST_FRAME_MS = 50;

interface Frame {
  rows: readonly string[];
  columns: number;
  height: number;
}

export class ChatTerminal extends ProcessTerminal {
  readonly #hasUnicode: boolean;
  /** Undefined until the terminal tells: many never do. */
  isFocused: boolean | undefined;

  /** The frames before and now. */
  #before: Frame = { rows: [], columns: 0, height: 0 };
  #now: Frame = this.#before;
  #next: "window" | "all" | "below" = "window";

  constructor(hasUnicode: boolean) {
    super();
    this.#hasUnicode = hasUnicode;
  }

  /** A frame of these rows follows. */
  lay(rows: readonly string[]): void {
    this.#before = this.#now;
    this.#now = { rows: [...rows], columns: this.columns, height: this.rows };
  }

  /** If the next frame has to draw the window anew, it prints all rows, or it goes on below what others printed there. */
  draw(next: "all" | "below"): void {
    this.#next = next;
  }

  override start(onInput: (data: string) => void, onResize: () => void): void {
    super.start(onInput, onResize);
    this.write(FOCUS_ON);
  }

  override stop(): void {
    this.write(FOCUS_OFF);
    super.stop();
  }

  override write(data: string): void {
    const kept = data.startsWith(FRAME) ? this.#keepScrolled(data) : data;
    super.write(this.#hasUnicode ? kept : inAscii(kept));
  }

  /** A frame that would clear everything draws the window alone, and the rows that scroll away with it. */
  #keepScrolled(frame: string): string {
    const next = this.#next;
    this.#next = "window";
    const at = frame.indexOf(CLEAR_ALL);
    if (at === -1) return frame;
    const rows = frame.slice(at + CLEAR_ALL.length, frame.lastIndexOf(END_OF_FRAME)).split("\r\n");
    const shown = rows.slice(next === "all" ? 0 : this.#firstRow(next === "below"));
    // Row by row: some terminals keep a window that is cleared at once among what scrolled away.
    const last = CLEAR_BELOW + (shown.pop() ?? "");
    const drawn = [...shown.map((row) => CLEAR_ROW + row), last].join("\r\n");
    return `${frame.slice(0, at)}${next === "below" ? "" : HOME}${drawn}${END_OF_FRAME}`;
  }

  /** Rows scroll away from where the window began: a terminal with a smaller window may have cut them off, or moved them away itself. */
  #firstRow(isFresh: boolean): number {
    const [before, now] = [this.#before, this.#now];
    const fitting = Math.max(0, now.rows.length - now.height);
    if (isFresh) return fitting;
    const top = Math.max(0, before.rows.length - before.height);
    return Math.min(fitting, before.columns === now.columns ? top : rowWithLetters(now.rows, lettersIn(before.rows.slice(top))));
  }

  /** Copies to the clipboard of the terminal, where it lets us: it never says whether it did. */
  copy(text: string): void {
    this.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`);
  }

  /** Calls for the user, unless the terminal is in front. */
  notify(text: string): void {
    if (this.isFocused !== false) return;
    // oxlint-disable-next-line no-control-regex
    const words = text.replace(/[\u0000-\u001f\u007f-\u009f;]/g, " ").slice(0, 200);
    this.write(`\u0007\u001b]9;${words}\u0007\u001b]777;notify;parley;${words}\u0007`);
  }
}

/** The row from which on there are so many letters: words wrap elsewhere at another width, but they are the same words. */
function rowWithLetters(rows: readonly string[], letters: number): number {
  let at = rows.length;
  for (let found = 0; at > 0 && found < letters;) found += lettersIn([rows[--at] ?? ""]);
  return at;
}

function lettersIn(rows: readonly string[]): number {
  return stripVTControlCharacters(rows.join("")).match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}
