/**
 * AWS's event stream (application/vnd.amazon.eventstream): binary frames with headers and a payload. The package reads the events; this
 * file keeps the name of an exception among them, and finds the last event before the connection ends.
 */
import * as v from "valibot";
import { BadAnswer, type Watch } from "./event-bytes.js";

export const FRAMES_TYPE = "application/vnd.amazon.eventstream";

/** A failure that the vendor reported in its answer, by the vendor's name. */
export class StreamException extends Error {
  override readonly name = "StreamException";
  readonly type: string;

  constructor(type: string, message: string) {
    super(message);
    this.type = type;
  }
}

/** Two lengths and a checksum before the headers, a checksum behind the payload. The package checks the sums. */
const PRELUDE = 12;
const CHECKSUM = 4;
/** AWS sends 24 MiB of payload and 128 KiB of headers at most. */
const LONGEST_FRAME = 25 * 2 ** 20;

export class EventFrames implements Watch {
  readonly address: string;
  /** The beginning of an incomplete frame. */
  #rest = Buffer.alloc(0);
  #any = false;
  isOver = false;
  failure: StreamException | undefined;

  constructor(address: string) {
    this.address = address;
  }

  pass(chunk: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    this.#any ||= chunk.length > 0;
    const before = this.#rest.length;
    const bytes = Buffer.concat([this.#rest, chunk]);
    let at = 0;
    for (let length = this.#lengthAt(bytes, at); length !== undefined; length = this.#lengthAt(bytes, at)) {
      this.#read(bytes.subarray(at, at + length));
      if (this.failure !== undefined) return chunk.subarray(0, Math.max(0, at - before));
      at += length;
    }
    this.#rest = bytes.subarray(at);
    return chunk;
  }

  end(): void {
    if (!this.#any) throw this.#noFrames("nothing came");
    if (this.#rest.length > 0) throw Object.assign(new Error("The stream ended within a frame"), { code: "ECONNRESET" });
  }

  /** Undefined while the frame is incomplete. */
  #lengthAt(bytes: Buffer, at: number): number | undefined {
    if (bytes.length - at < PRELUDE) return undefined;
    const length = bytes.readUInt32BE(at);
    const headers = bytes.readUInt32BE(at + 4);
    if (length > LONGEST_FRAME || headers + PRELUDE + CHECKSUM > length) throw this.#noFrames("no frames");
    return bytes.length - at < length ? undefined : length;
  }

  #read(frame: Buffer): void {
    const payloadAt = PRELUDE + frame.readUInt32BE(4);
    const headers = headersIn(frame.subarray(PRELUDE, payloadAt));
    const payload = frame.subarray(payloadAt, -CHECKSUM);
    const kind = headers.get(":message-type");
    if (kind === "exception") this.failure = new StreamException(headers.get(":exception-type") ?? "", wordsIn(payload));
    else if (kind === "error") this.failure = new StreamException(headers.get(":error-code") ?? "", headers.get(":error-message") ?? "");
    else this.isOver ||= isLast(headers.get(":event-type"), payload);
  }

  #noFrames(what: string): BadAnswer {
    return new BadAnswer(this.address, `did not answer with an event stream (${what}); check --base-url`);
  }
}

/** Claude's own events are in base64, where the last one always has the same beginning. */
const MESSAGE_STOP = Buffer.from('{"type":"message_stop').toString("base64");

function isLast(event: string | undefined, payload: Buffer): boolean {
  return event === "metadata" || (event === "chunk" && payload.includes(`"bytes":"${MESSAGE_STOP}`));
}

/** The text headers; the needed ones are all text. */
function headersIn(bytes: Buffer): Map<string, string> {
  const found = new Map<string, string>();
  for (let at = 0; at < bytes.length;) {
    const typeAt = at + 1 + bytes.readUInt8(at);
    const type = bytes.readUInt8(typeAt);
    const valueAt = typeAt + 1 + (hasLength(type) ? 2 : 0);
    const valueEnd = valueAt + (hasLength(type) ? bytes.readUInt16BE(typeAt + 1) : (FIXED[type] ?? bytes.length));
    if (type === TEXT) found.set(bytes.toString("utf8", at + 1, typeAt), bytes.toString("utf8", valueAt, valueEnd));
    at = valueEnd;
  }
  return found;
}

const TEXT = 7;
/** The lengths of the values of other types: two booleans, four numbers, (bytes and text,) a time, an id. */
const FIXED: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };

function hasLength(type: number): boolean {
  return type === TEXT || type === 6;
}

const Explained = v.pipe(v.string(), v.parseJson(), v.looseObject({ message: v.string() }));

function wordsIn(payload: Buffer): string {
  const text = payload.toString();
  const parsed = v.safeParse(Explained, text);
  return parsed.success ? parsed.output.message : text;
}
