/** Watches the bytes of an answer while they pass: whether they are an event stream, whether its last event came, and whether to go on. */
import { ANSWER_MIB } from "../../../core/limits.js";

/** An answer that came, but is none. The message is what the server at the address did. */
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
  /** The last event has come whole: nothing that follows counts. */
  readonly isOver: boolean;
  /** All may have come, and whole: what does not follow soon will not follow. */
  readonly mayBeOver?: boolean;
  /** The failure that the vendor told within the stream; nothing behind it is passed on. */
  readonly failure?: Error | undefined;
  /** Takes a chunk, and returns the part of it that is to be passed on. */
  pass(chunk: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>;
  /** The bytes ended, and nobody cut them. */
  end(): void;
}

/** A line break within the data of an event is escaped, so what looks like a field is one. */
const LAST_EVENT =
  /[\r\n](?:data: ?\[DONE\][\r\n]|event: ?(?:message_stop|response\.(?:completed|incomplete|failed))[\r\n]|data: ?\{"type": ?"response\.(?:completed|incomplete|failed)")/;
/**
 * Gemini's stream just ends, and its last event is the one with this field. But a call may have an argument of that name, and the reason
 * may be that more will follow: so after it the end may come at any time, but need not.
 */
const FINISH = /[^\\]"finishReason": ?"/;
const BLANK_LINE = /\n\r?\n|\r\r/;
const FIELD = /(?:[\r\n]|\u00EF\u00BB\u00BF)(?:data|event)(?::|[\r\n])/;
/** MiB of one event, which is whole before anybody reads it; a vendor may say all of an answer again in its last one. */
const SHORTEST_EVENT_MIB = 32;
const EVENT_PER_ANSWER = 2;
/** Behind a limit that grows with the answer's. */
export const SET_BY = "limits.answerMiB in config.yaml sets how much";
/** So many bytes may pass before anybody looks where the last event ended. */
const UNWATCHED = 2 ** 20;
/** So much of what came before is looked at again: longer than any mark, with the line ends around it. */
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
  /** Bytes since the end of an event was last seen. */
  #unended = 0;

  constructor(address: string, contentType: string | undefined, answerMiB = ANSWER_MIB) {
    this.address = address;
    this.#mostMiB = Math.max(SHORTEST_EVENT_MIB, EVENT_PER_ANSWER * answerMiB);
    this.#contentType = contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
    // A page is not read to its end.
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
