/** The keys on their way from the terminal to readline, and the terminal's modes while we read it. */
import { Transform, type TransformCallback } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { ReadStream, WriteStream } from "node:tty";
import { Pastes } from "./pastes.js";

export class Keyboard extends Transform {
  readonly isTTY = true;
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #canPaste: boolean;
  readonly #decoder = new StringDecoder("utf8");
  readonly #pastes = new Pastes();

  /** `canPaste`: whether the terminal marks pasted text when it is asked to. */
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

  /** The line with its pasted text. */
  expanded(line: string): string {
    return this.#pastes.expanded(line);
  }

  /** Stops reading keys. */
  release(): void {
    this.#input.unpipe(this);
    this.#input.pause();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.push(this.#pastes.keys(this.#decoder.write(chunk)));
    done();
  }
}
