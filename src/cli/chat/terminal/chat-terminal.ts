/** The terminal itself: what it can show, whether it is looked at, and how the chat is stopped and goes on. */
import { ProcessTerminal } from "@earendil-works/pi-tui";

const FOCUS_ON = "\u001b[?1004h";
const FOCUS_OFF = "\u001b[?1004l";
export const FOCUS_IN = "\u001b[I";
export const FOCUS_OUT = "\u001b[O";

/** Long enough for the last frame to be drawn. */
export const LAST_FRAME_MS = 50;

const ASCII: Readonly<Record<string, string>> = {
  "─": "-",
  "│": "|",
  "┌": "+",
  "┐": "+",
  "└": "+",
  "┘": "+",
  "├": "+",
  "┤": "+",
  "┬": "+",
  "┴": "+",
  "┼": "+",
  "→": ">",
  "↑": "^",
  "↓": "v",
  "…": "...",
  "⋯": "...",
  "•": "*",
  "·": "-",
  "—": "-",
};

export class ChatTerminal extends ProcessTerminal {
  readonly #hasUnicode: boolean;
  /** Undefined until the terminal tells: many never do. */
  isFocused: boolean | undefined;

  constructor(hasUnicode: boolean) {
    super();
    this.#hasUnicode = hasUnicode;
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
    super.write(this.#hasUnicode ? data : data.replace(/[─│┌┐└┘├┤┬┴┼→↑↓…⋯•·—]/g, (mark) => ASCII[mark] ?? "?"));
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
