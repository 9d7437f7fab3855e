/**
 * `fetch` for the provider packages, on Node's plain HTTP client: it starts faster than Node's own fetch, and the data of one socket
 * read is one chunk. It fails with the errors of Node's fetch. Redirects are refused: they would carry the key elsewhere.
 * scripts/stand-ins.mjs puts ours in place of `ReadableStream`, `Headers` and `Response` in this file.
 */
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Readable } from "node:stream";
import { ParleyError, systemCode } from "../../../core/errors.js";
import { proxyFor } from "../../../os/proxy/proxy.js";
import { ANSWER_MIB, timerMs } from "../../../core/limits.js";
import { BadAnswer, EventBytes, SET_BY, type Watch } from "./event-bytes.js";
import { EventFrames, FRAMES_TYPE, StreamException } from "./event-frames.js";
import type { TimeLimits } from "../../../core/limits.js";
import { TimedOut, type ModelLimits } from "../time-limits.js";

interface Client {
  request(url: URL, options: RequestOptions): ClientRequest;
  agent: Agent;
}

interface Question {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
  signal: AbortSignal | undefined;
}

/** How long a server may take to end an answer that is complete; then the connection is given up. */
const GRACE_MS = 1000;
/** The same if more may follow. */
const SOON_MS = 3000;
/** The most bytes of an answer on the wire: many times its content, as a few letters may come in an event of hundreds. */
const SHORTEST_STREAM_MIB = 128;
const STREAM_PER_ANSWER = 8;
/** The most bytes of any other response, such as a failure. */
const LONGEST_BODY = 2 ** 20;

/** Connections by protocol and proxy; they are kept for later requests. */
const clients = new Map<string, Promise<Client>>();

/** For requests whose good answers are event streams: server-sent events, or AWS's frames by the content type. */
export function httpFetch(limits: ModelLimits): typeof fetch {
  return fetchOver(limits, "events");
}

/** For requests that a server answers at once. */
export const jsonFetch = fetchOver({ connectSeconds: 10, firstByteSeconds: 30, idleSeconds: 30 });

export function fetchOver(limits: ModelLimits, expected: "anything" | "events" = "anything"): typeof fetch {
  return async (input, init = {}) => {
    const question = questionOf(input, init);
    const { protocol } = question.url;
    const proxy = proxyFor(question.url);
    const key = `${protocol} ${proxy ?? ""}`;
    const client = clients.get(key) ?? loadClient(protocol, proxy);
    clients.set(key, client);
    const answer = await ask(await client, question, limits);
    const { location } = answer.headers;
    if (location !== undefined && isRedirect(answer) && init.redirect !== "manual") {
      answer.destroy();
      throw new TypeError(
        `The server at ${question.url.origin} redirects to ${location}. Use that address as the base URL if you trust it`,
      );
    }
    try {
      const isGood = answer.statusCode !== undefined && answer.statusCode >= 200 && answer.statusCode < 300;
      const address = `${question.url.origin}${question.url.pathname}`;
      const events = isGood && expected === "events" ? watchOver(address, answer.headers["content-type"], limits) : undefined;
      return await toResponse(answer, question, { ...limits, events });
    } catch (error) {
      // Destroyed here: otherwise its socket would stay open, and with it the process.
      answer.destroy();
      throw error;
    }
  };
}

function watchOver(address: string, contentType: string | undefined, { answerMiB }: ModelLimits): Watch {
  if (contentType?.toLowerCase().startsWith(FRAMES_TYPE) === true) return new EventFrames(address);
  return new EventBytes(address, contentType, answerMiB);
}

function questionOf(input: Parameters<typeof fetch>[0], init: RequestInit): Question {
  const url = new URL(typeof input === "string" || input instanceof URL ? input : input.url);
  const body = init.body ?? undefined;
  if (body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array)) throw new TypeError("A body must be text or bytes");
  const headers: Record<string, string> = { accept: "*/*", "accept-encoding": "identity" };
  new Headers(init.headers).forEach((value, name) => (headers[name] = value));
  return { url, method: init.method ?? "GET", headers, body, signal: init.signal ?? undefined };
}

async function loadClient(protocol: string, proxy: string | undefined): Promise<Client> {
  if (protocol !== "http:" && protocol !== "https:") throw new TypeError(`'${protocol}' is no address for HTTP; use http: or https:`);
  const { Agent, request } = protocol === "http:" ? await import("node:http") : await import("node:https");
  if (proxy === undefined) return { request, agent: new Agent({ keepAlive: true }) };
  const { proxyAgent } = await import("../../../os/proxy/proxy-agent.js");
  return { request, agent: proxyAgent(proxy, protocol) };
}

async function ask({ request, agent }: Client, question: Question, limits: TimeLimits): Promise<IncomingMessage> {
  const { url, method, headers, body, signal } = question;
  while (true) {
    if (isAborted(signal)) throw abortError(signal);
    const asking = request(url, { method, headers, agent });
    try {
      const answered = answerTo(asking, signal, limits);
      asking.end(body);
      return await inTime("firstByteSeconds", limits, answered, (error) => asking.destroy(error));
    } catch (error) {
      if (isAborted(signal)) throw abortError(signal);
      if (error instanceof ParleyError) throw error;
      // The server closed a kept connection while the request was on its way: using a new one is no retry.
      if (asking.reusedSocket && ["ECONNRESET", "EPIPE"].includes(systemCode(error) ?? "")) continue;
      throw new TypeError("fetch failed", { cause: error });
    }
  }
}

/** The signal ends the exchange until its last byte has come. */
function answerTo(asking: ClientRequest, signal: AbortSignal | undefined, { connectSeconds }: TimeLimits): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | undefined;
    const connecting = setTimeout(() => asking.destroy(new TimedOut("connectSeconds", connectSeconds)), timerMs(connectSeconds));
    const connected = (): void => clearTimeout(connecting);
    const stop = (): void => void (answer ?? asking).destroy(abortError(signal));
    signal?.addEventListener("abort", stop, { once: true });
    asking.once("socket", (socket) => (socket.connecting ? socket.once("connect", connected) : connected()));
    asking.once("response", (response) => {
      answer = response;
      resolve(response);
    });
    // After several addresses the first error tells most: the aggregate has no message.
    asking.on("error", (error) => reject(error instanceof AggregateError ? error.errors[0] : error));
    asking.once("close", () => {
      // After a protocol switch there is neither an answer nor an error.
      if (answer === undefined)
        reject(Object.assign(new Error("The server closed the connection without an answer"), { code: "ECONNRESET" }));
      connected();
      signal?.removeEventListener("abort", stop);
    });
  });
}

type Reading = ModelLimits & {
  /** For an answer that is an event stream. */
  events: Watch | undefined;
};

async function toResponse(answer: IncomingMessage, { signal }: Question, reading: Reading): Promise<Response> {
  const { statusCode: status = 200, statusMessage: statusText = "", rawHeaders } = answer;
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  if (BODILESS.has(status)) {
    reading.events?.end();
    answer.resume();
    return new Response(null, { status, statusText, headers });
  }
  const bytes = await decoded(answer);
  const nextChunk = chunksOf(bytes, reading);
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          const chunk = await nextChunk();
          if (chunk === undefined) controller.close();
          else controller.enqueue(chunk);
        } catch (error) {
          bytes.destroy();
          if (error instanceof BadAnswer || error instanceof StreamException) throw error;
          throw isAborted(signal) ? abortError(signal) : new TypeError("terminated", { cause: error });
        }
      },
      cancel() {
        bytes.destroy();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status, statusText, headers });
}

type NextChunk = () => Promise<Uint8Array<ArrayBuffer> | undefined>;

/** Returns the next chunk; undefined at the end. */
function chunksOf(bytes: Readable, { events, answerMiB = ANSWER_MIB, ...limits }: Reading): NextChunk {
  const next = readerOf(bytes);
  const fail = (error: Error): void => void bytes.destroy(error);
  const longest = events === undefined ? LONGEST_BODY : Math.max(SHORTEST_STREAM_MIB, STREAM_PER_ANSWER * answerMiB) * 2 ** 20;
  let left = longest;
  let limit: keyof TimeLimits = "firstByteSeconds";
  return async () => {
    if (left === 0) {
      bytes.destroy();
      if (events === undefined) return undefined;
      throw new BadAnswer(events.address, `sent more than ${longest / 2 ** 20} MiB in one answer (${SET_BY})`);
    }
    if (events?.failure !== undefined) throw events.failure;
    if (events?.isOver === true) {
      void readRest(bytes, next);
      return undefined;
    }
    const value = events?.mayBeOver === true ? await nextSoon(bytes, next) : await inTime(limit, limits, next(), fail);
    limit = "idleSeconds";
    if (value === undefined) {
      events?.end();
      return undefined;
    }
    const chunk = (events?.pass(value) ?? value).subarray(0, left);
    left -= chunk.length;
    return chunk;
  };
}

/**
 * Reads a stream like its own iterator, at a small part of the cost. A server sends an answer in many small pieces; as text with one character
 * for each byte, the pieces of one read are joined at a tenth of the cost of joining buffers.
 */
function readerOf(bytes: Readable): NextChunk {
  bytes.setEncoding("latin1");
  let ending: "end" | Error | undefined;
  let wake = (): void => undefined;
  const end = (how: "end" | Error): void => {
    ending ??= how;
    wake();
  };
  bytes.on("readable", () => wake());
  bytes.once("end", () => end("end"));
  bytes.on("error", end);
  bytes.once("close", () => end(new Error("The answer broke off")));
  return async () => {
    while (true) {
      const text: string | null = bytes.destroyed ? null : bytes.read();
      if (text !== null) return Buffer.from(text, "latin1");
      if (ending instanceof Error) throw ending;
      if (ending === "end") return undefined;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
}

/** After a possible last event: the next chunk, or the end if none follows soon. */
async function nextSoon(bytes: Readable, next: NextChunk): ReturnType<NextChunk> {
  try {
    return await within(SOON_MS, next(), () => bytes.destroy());
  } catch {
    return undefined;
  }
}

/** Reads the bytes after the last event, so that the connection can be used again. They do not count, nor does a failure. */
async function readRest(bytes: Readable, next: NextChunk): Promise<void> {
  const timer = setTimeout(() => bytes.destroy(), GRACE_MS).unref();
  try {
    while ((await next()) !== undefined);
  } catch {
    // All events that count have come.
  } finally {
    clearTimeout(timer);
  }
}

/** Responses with these statuses have no body, and the Response constructor refuses one. */
const BODILESS = new Set([204, 205, 304]);

function isRedirect({ statusCode = 200 }: IncomingMessage): boolean {
  return statusCode >= 300 && statusCode < 400 && statusCode !== 304;
}

/** The request asks for plain bytes, but some proxies compress all the same. */
async function decoded(answer: IncomingMessage): Promise<Readable> {
  const encoding = answer.headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (["", "none", "identity"].includes(encoding)) return answer;
  const [zlib, { pipeline }] = await Promise.all([import("node:zlib"), import("node:stream")]);
  const make = { gzip: zlib.createGunzip, "x-gzip": zlib.createGunzip, deflate: zlib.createInflate, br: zlib.createBrotliDecompress };
  const decoder = Object.hasOwn(make, encoding) ? make[encoding as keyof typeof make]() : undefined;
  if (decoder === undefined) throw new TypeError(`The server encodes its answer as '${encoding}', which nobody asked for`);
  // The last stream of the pipeline has the error.
  return pipeline(answer, decoder, () => {});
}

/** A time limit of the settings. */
function inTime<T>(limit: keyof TimeLimits, limits: TimeLimits, work: Promise<T>, fail: (error: Error) => void): Promise<T> {
  const seconds = limits[limit];
  return within(timerMs(seconds), work, () => fail(new TimedOut(limit, seconds)));
}

async function within<T>(ms: number, work: Promise<T>, giveUp: () => void): Promise<T> {
  // The connection keeps the process running, not this timer.
  const timer = setTimeout(giveUp, ms).unref();
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function abortError(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new DOMException("The request was aborted", "AbortError");
}
