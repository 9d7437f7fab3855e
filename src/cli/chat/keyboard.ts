/** The keys on their way to readline. What is pasted comes as one text and never as keys: no line of it is sent, no tab completes. */
import { Transform, type TransformCallback } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { ReadStream, WriteStream } from "node:tty";

const START = "\u001b[200~";
const END = "\u001b[201~";
/** A mark that has not come whole; a lone escape is a key. */
// oxlint-disable-next-line no-control-regex
const HALF_START = /\u001b\[(?:20{0,2})?$/;
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001f\u007f]/;

export class Keyboard extends Transform {
  readonly isTTY = true;
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #canPaste: boolean;
  readonly #decoder = new StringDecoder("utf8");
  readonly #pastes: string[] = [];
  #waiting = "";
  #isPasting = false;

  /** `canPaste`: whether the terminal understands that it should mark what is pasted. */
  constructor(input: ReadStream, output: WriteStream, canPaste: boolean) {
    super();
    this.#input = input;
    this.#output = output;
    this.#canPaste = canPaste;
    input.pipe(this);
  }

  get isRaw(): boolean {
    return this.#input.isRaw;
  }

  /** Readline calls this when it begins, ends, and around a stop with Ctrl-Z. */
  setRawMode(isRaw: boolean): this {
    this.#input.setRawMode(isRaw);
    if (this.#canPaste) this.#output.write(isRaw ? "\u001b[?2004h" : "\u001b[?2004l");
    return this;
  }

  /** With what was pasted in place of the marks that stand for it. */
  expanded(line: string): string {
    return line.replace(/\[paste (\d+): \d+ lines?\]/g, (mark, index: string) => this.#pastes[Number(index) - 1] ?? mark);
  }

  /** Nothing more is read. */
  release(): void {
    this.#input.unpipe(this);
    this.#input.pause();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#waiting += this.#decoder.write(chunk);
    while (this.#step());
    done();
  }

  /** False when there is nothing to do before more comes. */
  #step(): boolean {
    const text = this.#waiting;
    const at = text.indexOf(this.#isPasting ? END : START);
    if (at === -1) {
      if (this.#isPasting) return false;
      const half = HALF_START.exec(text)?.index ?? text.length;
      this.#waiting = text.slice(half);
      this.push(text.slice(0, half));
      return false;
    }
    const before = text.slice(0, at);
    this.#waiting = text.slice(at + START.length);
    this.push(this.#isPasting ? this.#pasted(before) : before);
    this.#isPasting = !this.#isPasting;
    return true;
  }

  /** One plain line is as good as typed. */
  #pasted(raw: string): string {
    const text = raw.replace(/\r\n?/g, "\n").replace(/\n+$/, "");
    if (!CONTROLS.test(text)) return text;
    this.#pastes.push(text);
    const lines = text.split("\n").length;
    return `[paste ${this.#pastes.length}: ${lines} ${lines === 1 ? "line" : "lines"}]`;
  }
}
