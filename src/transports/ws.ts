/**
 * A WebSocket as a transport, at either end: a record is a text frame. Unread frames stop the reading from the socket, and a full
 * socket makes writers wait. ws-server.ts decides who may connect.
 */
import type { Duplex } from "node:stream";
import { WebSocket, type RawData } from "ws";
import { ParleyError } from "../core/errors.js";
import type { Closed } from "../core/event.js";
import { Queue } from "../core/queue.js";
import type { Frame, Transport } from "../core/wire.js";
import { LINE_CAP } from "../core/limits.js";
import { encodeLine, jsonFrames, overlong, type Framing, type TooLong } from "../os/lines.js";

/** The bound of unread bytes, and the least weight of a frame: at most 256 frames wait. */
const UNREAD_BYTES = 1024 * 1024;
const LIGHTEST = UNREAD_BYTES / 256;
/** Bytes that may wait in the socket before writers have to wait. */
const HIGH_WATER = 256 * 1024;
/** The longest wait for the other side's answer to a close frame. */
const GRACE_MS = 2000;
const HANDSHAKE_MS = 10_000;
/** The default for connections beyond this machine: proxies forget a silent connection after about a minute. */
export const KEEP_ALIVE_MS = 30_000;
/** The number of pings that may stay unanswered. */
const UNANSWERED = 2;

const NORMAL = 1000;
const TRY_AGAIN_LATER = 1013;
/** Close codes of an ordinary end: done, going away, none given. */
const ORDINARY: ReadonlySet<number> = new Set([NORMAL, 1001, 1005]);

export interface SocketOptions {
  framing: Framing;
  tooLong?: TooLong;
  /** A longer frame is answered with an error and skipped. */
  frameCap?: number | undefined;
  /** How long the other side may leave our output unread; undefined: for ever. */
  patienceMs?: number | undefined;
  /** The interval of pings; a side without any sign of life for two intervals is given up. */
  keepAliveMs?: number | undefined;
  /** The socket below, so that the frames of one tick go out in one write. */
  stream?: Duplex;
}

/** Options of every socket. A longer frame ends the connection with code 1009. */
export function socketSettings(frameCap: number = LINE_CAP): { maxPayload: number; perMessageDeflate: false; autoPong: false } {
  return { maxPayload: Math.min(4 * frameCap, 2 ** 31 - 1), perMessageDeflate: false, autoPong: false };
}

export interface DialOptions extends SocketOptions {
  token?: string | undefined;
}

/** Connects to a running agent. Rejects with a `launch` fault that names the problem. */
export async function dialSocket(url: string, options: DialOptions): Promise<Transport> {
  const socket = new WebSocket(url, {
    ...socketSettings(options.frameCap),
    handshakeTimeout: HANDSHAKE_MS,
    headers: options.token === undefined ? {} : { authorization: `Bearer ${options.token}` },
  });
  // Attached before the socket is open, so that an early frame is not lost.
  const transport = new SocketTransport(socket, options);
  await new Promise<void>((resolve, reject) => {
    const failed = (why: string): void =>
      reject(new ParleyError({ code: "launch", message: `Could not connect to ${url}: ${why}`, retryable: true }));
    socket.once("open", resolve);
    socket.once("error", (error) => failed(error.message === "" ? "nobody answers there" : error.message));
    socket.once("unexpected-response", (request, response) => {
      failed(`the server answered ${response.statusCode ?? 0} ${response.statusMessage ?? ""}`.trim());
      request.destroy();
    });
  });
  return transport;
}

export class SocketTransport implements Transport {
  readonly frames: AsyncIterable<Frame>;
  readonly isShared = true;
  readonly closed: Promise<Closed>;
  readonly #socket: WebSocket;
  readonly #framing: Framing;
  readonly #tooLong: TooLong | undefined;
  readonly #cap: number;
  readonly #patienceMs: number | undefined;
  readonly #stream: Duplex | undefined;
  readonly #unread = new Queue<{ frame: Frame; size: number }>(UNREAD_BYTES, ({ size }) => Math.max(LIGHTEST, size));
  #isCorked = false;
  #isEnded = false;
  #settle!: (closed: Closed) => void;
  /** Writers wait for this promise until the socket is empty. */
  #waiting: { empty: Promise<void>; release: () => void } | undefined;
  #patience: NodeJS.Timeout | undefined;
  #asking: NodeJS.Timeout | undefined;
  /** Pings since the last sign of life. */
  #unanswered = 0;
  #isPonging = false;
  /** The newest ping that arrived while a pong was being sent. */
  #owed: Buffer | undefined;

  constructor(socket: WebSocket, { framing, tooLong, frameCap, patienceMs, keepAliveMs, stream }: SocketOptions) {
    this.#socket = socket;
    this.#framing = framing;
    this.#tooLong = tooLong;
    this.#cap = frameCap ?? LINE_CAP;
    this.#patienceMs = patienceMs;
    this.#stream = stream;
    this.frames = this.#read();
    this.closed = new Promise((resolve) => {
      this.#settle = resolve;
    });
    if (keepAliveMs !== undefined) this.#keepAlive(keepAliveMs);
    socket.on("message", (data, isBinary) => this.#hear(data, isBinary));
    socket.on("ping", (data) => this.#pong(data));
    for (const sign of ["message", "ping", "pong"]) socket.on(sign, () => (this.#unanswered = 0));
    socket.on("close", (code, reason) => this.#over(code, reason.toString()));
    // The `close` event reports it.
    socket.on("error", () => {});
  }

  // --- reading ---

  async *#read(): AsyncIterable<Frame> {
    for await (const { frame } of this.#unread) yield frame;
  }

  #hear(data: RawData, isBinary: boolean): void {
    const bytes = Buffer.isBuffer(data) ? data : Buffer.concat(Array.isArray(data) ? data : [Buffer.from(data)]);
    for (const frame of this.#framesOf(bytes, isBinary)) {
      const full = this.#unread.push({ frame, size: bytes.length });
      if (full === undefined) continue;
      this.#socket.pause();
      void full.then(() => this.#socket.resume());
    }
  }

  #framesOf(bytes: Buffer, isBinary: boolean): Frame[] {
    if (isBinary) return [{ bad: "Binary frames are not understood; send text frames", line: `${bytes.length} bytes` }];
    if (bytes.length > this.#cap) return [overlong("frame", this.#cap, bytes.toString("utf8", 0, 1024))];
    return this.#framing === "text" ? [{ rec: bytes.toString() }] : jsonFrames(bytes, "frame");
  }

  /** One pong at a time, then one for the newest ping, as the standard allows: a side that pings and does not read costs no memory. */
  #pong(data: Buffer): void {
    if (this.#isPonging) {
      this.#owed = data;
      return;
    }
    this.#isPonging = true;
    this.#socket.pong(data, undefined, () => {
      this.#isPonging = false;
      const owed = this.#owed;
      this.#owed = undefined;
      if (owed !== undefined) this.#pong(owed);
    });
  }

  #keepAlive(everyMs: number): void {
    if (this.#socket.readyState === WebSocket.CONNECTING) return void this.#socket.once("open", () => this.#keepAlive(everyMs));
    this.#asking = setInterval(() => this.#ask(everyMs), everyMs);
  }

  /** While we do not read, the other side's silence does not count. */
  #ask(everyMs: number): void {
    if (this.#socket.readyState !== WebSocket.OPEN || this.#socket.isPaused) return;
    if (this.#unanswered >= UNANSWERED) return this.#giveUp(`Nothing was heard for ${seconds(UNANSWERED * everyMs)}`);
    this.#unanswered++;
    this.#socket.ping();
  }

  // --- writing ---

  write(records: readonly unknown[]): void | Promise<void> {
    if (this.#isEnded || this.#socket.readyState !== WebSocket.OPEN) return;
    this.#cork();
    for (const record of records) this.#socket.send(encodeLine(this.#framing, record, this.#tooLong).slice(0, -1), this.#sent);
    if (this.#socket.bufferedAmount > HIGH_WATER) return this.#untilEmpty();
  }

  #cork(): void {
    if (this.#isCorked || this.#stream === undefined) return;
    this.#isCorked = true;
    this.#stream.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      this.#stream?.uncork();
    });
  }

  readonly #sent = (): void => {
    if (this.#socket.bufferedAmount === 0) return this.#release();
    // The other side reads, if slowly.
    this.#unanswered = 0;
    if (this.#patience !== undefined) this.#losePatienceLater();
  };

  #untilEmpty(): Promise<void> {
    if (this.#waiting !== undefined) return this.#waiting.empty;
    let release = (): void => {};
    const empty = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#waiting = { empty, release };
    this.#losePatienceLater();
    return empty;
  }

  #release(): void {
    clearTimeout(this.#patience);
    this.#patience = undefined;
    this.#waiting?.release();
    this.#waiting = undefined;
  }

  #losePatienceLater(): void {
    if (this.#patienceMs === undefined) return;
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => this.#giveUp(`Nothing was read for ${seconds(this.#patienceMs ?? 0)}`), this.#patienceMs);
  }

  /** A reader that wakes up soon still gets the written records and the reason of the end. */
  #giveUp(reason: string): void {
    this.#isEnded = true;
    this.#socket.close(TRY_AGAIN_LATER, reason);
    this.#over(TRY_AGAIN_LATER, reason);
  }

  // --- the end ---

  /** A WebSocket cannot be half closed: the end of our output ends the connection, once all is sent. */
  close(how: "eof" | "term"): void {
    this.#isEnded = true;
    if (how === "term") {
      this.#socket.close(NORMAL);
      setTimeout(() => this.#socket.terminate(), GRACE_MS).unref();
      return;
    }
    if (this.#socket.bufferedAmount === 0) this.#socket.close(NORMAL);
    else void this.#untilEmpty().then(() => this.#socket.close(NORMAL));
  }

  #over(code: number, reason: string): void {
    this.#isEnded = true;
    clearInterval(this.#asking);
    this.#release();
    this.#unread.end();
    this.#settle(
      ORDINARY.has(code) ? {} : { code: null, reason: `The connection was closed with ${code}${reason === "" ? "" : `: ${reason}`}` },
    );
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
