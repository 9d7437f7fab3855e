/** Watches the bytes of an answer: whether they are an event stream, whether the last event has come, and whether to go on. */
import { ANSWER_MIB } from "../../../core/limits.js";

/** An answer that is no event stream. The message tells what the server at the address sent. */
export class BadAnswer extends Error {
  override readonly name = "BadAnswer";
  readonly address: string;

  constructor(address: string, message: string) {
    super(message);
    this.address = address;
  }
}

/** Looks at an answer's bytes while they pass. */
export interface Watch {
  /** The address of the server that answers. */
  readonly address: string;
  /** The last event is complete: later bytes do not count. */
  readonly isOver: boolean;
  /** The answer may be complete: bytes that do not follow soon will not follow. */
  readonly mayBeOver?: boolean;
  /** The failure that the vendor reported in the stream; bytes after it are not passed on. */
  readonly failure?: Error | undefined;
  /** Takes a chunk; returns the part to pass on. */
  pass(chunk: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>;
  /** The bytes ended normally. */
  end(): void;
}

/** A line break within the data of an event is escaped, so text that looks like a field is one. */
const LAST_EVENT =
  /[\r\n](?:data: ?\[DONE\][\r\n]|event: ?(?:message_stop|response\.(?:completed|incomplete|failed))[\r\n]|data: ?\{"type": ?"response\.(?:completed|incomplete|failed)")/;
/**
 * Gemini's stream has no mark at its end; its last event has this field. But a call may have an argument of that name, and the reason
 * may be one after which more follows: so the end may come at any time after it, but need not.
 */
const FINISH = /[^\\]"finishReason": ?"/;
const BLANK_LINE = /\n\r?\n|\r\r/;
const FIELD = /(?:[\r\n]|\u00EF\u00BB\u00BF)(?:data|event)(?::|[\r\n])/;
/** The largest event in MiB: it is read whole; a vendor may repeat the whole answer in the last one. */
const SHORTEST_EVENT_MIB = 32;
const EVENT_PER_ANSWER = 2;
/** The bound grows with that of the answer. */
export const SET_BY = "limits.answerMiB in config.yaml sets how much";
/** The bytes that may pass before the end of the last event is looked for. */
const UNWATCHED = 2 ** 20;
/** The bytes before that are searched again: more than any mark with its line ends. */
const SEAM = 64;

export class EventBytes implements Watch {
  readonly address: string;
  readonly #contentType: string;
  #seam = "\n";
  #any = false;
  #hasField = false;
  #isLast = false;
  #isOver = false;
  #hasFinish = false;
  #mayBeOver = false;
  readonly #mostMiB: number;
  /** Bytes since the last known end of an event. */
  #unended = 0;

  constructor(address: string, contentType: string | undefined, answerMiB = ANSWER_MIB) {
    this.address = address;
    this.#mostMiB = Math.max(SHORTEST_EVENT_MIB, EVENT_PER_ANSWER * answerMiB);
    this.#contentType = contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
    // A web page is not read to its end.
    if (this.#contentType === "text/html") throw this.#noEvents(this.#contentType);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get mayBeOver(): boolean {
    return this.#mayBeOver;
  }

  pass(chunk: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#any ||= bytes.length > 0;
    const text = this.#seam + bytes.toString("latin1");
    this.#unended += bytes.length;
    if (this.#unended > UNWATCHED) this.#checkEvent(text);
    this.#hasField ||= FIELD.test(text);
    const finish = this.#hasFinish ? 0 : text.search(FINISH);
    this.#hasFinish = finish !== -1;
    this.#mayBeOver ||= this.#hasFinish && BLANK_LINE.test(text.slice(finish));
    const last = this.#isLast ? 0 : text.search(LAST_EVENT);
    if (last === -1) {
      this.#seam = text.slice(Math.max(0, finish, text.length - SEAM));
      return chunk;
    }
    this.#isLast = true;
    const rest = text.slice(last);
    this.#isOver ||= BLANK_LINE.test(rest);
    this.#seam = rest.slice(-2);
    return chunk;
  }

  end(): void {
    if (!this.#any) throw this.#noEvents("nothing came");
    if (!this.#hasField && this.#contentType !== "text/event-stream") throw this.#noEvents(this.#contentType || "of no content type");
  }

  #checkEvent(text: string): void {
    const end = Math.max(text.lastIndexOf("\n\n"), text.lastIndexOf("\n\r\n"), text.lastIndexOf("\r\r"));
    if (end !== -1) this.#unended = text.length - end;
    if (this.#unended > this.#mostMiB * 2 ** 20)
      throw new BadAnswer(this.address, `sent an event of more than ${this.#mostMiB} MiB in one answer (${SET_BY})`);
  }

  #noEvents(what: string): BadAnswer {
    return new BadAnswer(this.address, `did not answer with an event stream (${what}); check --base-url`);
  }
}
