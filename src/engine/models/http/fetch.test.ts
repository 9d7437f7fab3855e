import { getEventListeners, once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import { pipeline, Readable } from "node:stream";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { afterEach, describe, expect, test } from "vitest";
import { ParleyError, systemCode } from "../../../core/errors.js";
import { fetchOver, httpFetch } from "./fetch.js";
import type { TimeLimits } from "../../../core/limits.js";
import { vendorFault } from "../vendor/fault.js";

const LIMITS: TimeLimits = { connectSeconds: 10, firstByteSeconds: 20, idleSeconds: 20 };

const servers: { close(): unknown; closeAllConnections?(): void }[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections?.();
    server.close();
  }
});

describe("any answer", () => {
  const fetch = fetchOver(LIMITS);

  test("sends method, headers and body, and gives back status, headers and body", async () => {
    const { url, requests } = await serve(async (request, response) => {
      const body = await bodyOf(request);
      response
        .writeHead(201, "Made", { "x-one": ["a", "b"], "content-type": "text/plain" })
        .end(`${request.method} ${request.url} ${body}`);
    });
    const response = await fetch(`${url}/v1/x?q=1`, { method: "POST", headers: { Authorization: "Bearer k" }, body: "grüße" });
    expect([response.status, response.statusText, response.ok]).toEqual([201, "Made", true]);
    expect([response.headers.get("X-One"), response.headers.get("content-type"), response.headers.get("nothing")]).toEqual([
      "a, b",
      "text/plain",
      null,
    ]);
    expect(Object.fromEntries(response.headers)["x-one"]).toBe("a, b");
    expect(await response.text()).toBe("POST /v1/x?q=1 grüße");
    const { authorization, "accept-encoding": encoding, "content-length": length, connection } = requests[0]?.headers ?? {};
    expect({ authorization, encoding, length, connection }).toEqual({
      authorization: "Bearer k",
      encoding: "identity",
      length: "7",
      connection: "keep-alive",
    });
  });

  test("sends bytes, and reads JSON and an array buffer", async () => {
    const { url } = await serve(async (request, response) => response.end(await bodyOf(request)));
    const bytes = new TextEncoder().encode('{"a":[1]}');
    expect(await (await fetch(url, { method: "POST", body: bytes })).json()).toEqual({ a: [1] });
    expect(new Uint8Array(await (await fetch(new URL(url), { method: "POST", body: bytes })).arrayBuffer())).toEqual(bytes);
  });

  test("an answer without a body has none", async () => {
    const { url } = await serve((_request, response) => response.writeHead(204).end());
    expect((await fetch(url)).body).toBe(null);
  });

  test("chunks come as they are sent", async () => {
    const { url, responses } = await serve((_request, response) => response.writeHead(200).write("one"));
    const reader = readerOf(await fetch(url));
    expect(await nextText(reader)).toBe("one");
    responses[0]?.write("two");
    expect(await nextText(reader)).toBe("two");
    responses[0]?.end();
    expect(await nextText(reader)).toBe(undefined);
  });

  test("what comes in one read of the socket is one chunk", async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200);
      response.socket?.cork();
      for (let piece = 0; piece < 50; piece++) response.write(`${piece};`);
      response.end();
      response.socket?.uncork();
    });
    const reader = readerOf(await fetch(url));
    expect(await nextText(reader)).toBe(Array.from({ length: 50 }, (_piece, index) => `${index};`).join(""));
  });

  test("a large body arrives whole, whatever its bytes are", async () => {
    const large = Buffer.alloc(
      1_000_000,
      Uint8Array.from({ length: 257 }, (_byte, at) => at),
    );
    const { url } = await serve((_request, response) => response.end(large));
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(large)).toBe(true);
  });

  test("a failure's body can be read", async () => {
    const { url } = await serve((_request, response) => response.writeHead(429, { "retry-after": "7" }).end('{"error":"slow down"}'));
    const response = await fetch(url);
    expect([response.ok, response.status, response.headers.get("retry-after")]).toEqual([false, 429, "7"]);
    expect(await response.json()).toEqual({ error: "slow down" });
  });

  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("a body encoded as %s is decoded, and a cut one fails", async (encoding, encode) => {
    const text = Array.from({ length: 5000 }, (_line, index) => `line ${index}`).join("\n");
    const { url } = await serve((request, response) => {
      const bytes = encode(text);
      response.writeHead(200, { "content-encoding": encoding }).end(request.url === "/cut" ? bytes.subarray(0, 2000) : bytes);
    });
    expect(await (await fetch(url)).text()).toBe(text);
    await expect((await fetch(`${url}/cut`)).text()).rejects.toThrow("terminated");
  });

  test("an encoding that nobody knows is refused by name", async () => {
    const { url, sockets } = await serve((_request, response) => response.writeHead(200, { "content-encoding": "rot13" }).write("uryyb"));
    await expect(fetch(url)).rejects.toThrow("rot13");
    await Promise.all(sockets.map(closed));
  });

  test.each(["", "none", "Identity"])("the encoding '%s' is none", async (encoding) => {
    const { url } = await serve((_request, response) => response.writeHead(200, { "content-encoding": encoding }).end("hello"));
    expect(await (await fetch(url)).text()).toBe("hello");
  });

  test("a change of protocol that nobody asked for is a lost connection", async () => {
    const url = await serveTcp((socket) => socket.write("HTTP/1.1 101 Switching\r\nUpgrade: foo\r\nConnection: upgrade\r\n\r\n"));
    await expectFetchFailed(fetch(url), "ECONNRESET");
  });

  test("of an endless failure a mebibyte is read", async () => {
    const { url, sockets } = await serve((_request, response) => endless(response.writeHead(500)));
    expect((await (await fetch(url)).text()).length).toBe(2 ** 20);
    await Promise.all(sockets.map(closed));
  });

  test("one connection serves one request after the other", async () => {
    const { url, sockets } = await serve((_request, response) => response.end("ok"));
    for (let round = 0; round < 3; round++) expect(await (await fetch(url)).text()).toBe("ok");
    expect(sockets.length).toBe(1);
  });

  test("a kept connection that the server closes meanwhile is replaced", async () => {
    const { url, sockets } = await serve((request, response) => {
      // The second request on a connection finds nobody.
      if (sockets.length === 1 && request.url === "/second") request.socket.destroy();
      else response.end(request.url);
    });
    expect(await (await fetch(`${url}/first`)).text()).toBe("/first");
    expect(await (await fetch(`${url}/second`)).text()).toBe("/second");
    expect(sockets.length).toBe(2);
  });

  test("a redirect is refused, with both addresses; the key is not sent on", async () => {
    const { url, requests } = await serve((_request, response) => response.writeHead(307, { location: "http://elsewhere.invalid/" }).end());
    await expect(fetch(url, { method: "POST", body: "x" })).rejects.toThrow(`${url} redirects to http://elsewhere.invalid/`);
    expect(requests.length).toBe(1);
    expect((await fetch(url, { redirect: "manual" })).headers.get("location")).toBe("http://elsewhere.invalid/");
  });

  test("an IPv6 address is reached", async (context) => {
    const server = createServer((request, response) => response.end(request.headers.host));
    const listens = await new Promise((resolve) => server.once("error", () => resolve(false)).listen(0, "::1", () => resolve(true)));
    if (listens !== true) return context.skip("this machine has no IPv6");
    servers.push(server);
    const host = `[::1]:${(server.address() as AddressInfo).port}`;
    expect(await (await fetch(`http://${host}/v1`)).text()).toBe(host);
  });

  test("only HTTP addresses are taken", async () => {
    await expect(fetch("ftp://127.0.0.1/")).rejects.toThrow("ftp:");
  });

  test("a refused connection fails as Node's fetch does", async () => {
    await expectFetchFailed(fetch("http://127.0.0.1:1/"), "ECONNREFUSED");
  });

  test("a server that hangs up before it answers", async () => {
    const { url } = await serve((request) => request.socket.destroy());
    await expectFetchFailed(fetch(url), "ECONNRESET");
  });

  test.each([
    ["of a known length", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort"],
    ["in chunks", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nshort\r\n"],
  ])("a body %s that is cut gives what came, and fails", async (_kind, text) => {
    const url = await serveTcp((socket) => socket.end(text));
    const reader = readerOf(await fetch(url));
    expect(await nextText(reader)).toBe("short");
    const error = await reader.read().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({ message: "terminated", cause: { code: "ECONNRESET" } });
  });

  test("a server that falls silent is given up, before and within the body", async () => {
    const impatient = fetchOver({ ...LIMITS, idleSeconds: 1 });
    const { url, sockets } = await serve((request, response) => request.url === "/body" && response.writeHead(200).write("one"));
    const before = expectFetchFailed(fetchOver({ ...LIMITS, firstByteSeconds: 1 })(url), "ETIMEDOUT");
    const reader = readerOf(await impatient(`${url}/body`));
    expect(await nextText(reader)).toBe("one");
    await expect(reader.read()).rejects.toMatchObject({ message: "terminated", cause: { code: "ETIMEDOUT" } });
    await before;
    await Promise.all(sockets.map(closed));
  });

  test("an abort before the answer closes the socket", async () => {
    const abort = new AbortController();
    const { url, sockets } = await serve(() => abort.abort());
    await expect(fetch(url, { signal: abort.signal })).rejects.toMatchObject({ name: "AbortError" });
    await Promise.all(sockets.map(closed));
    await expect(fetch(url, { signal: abort.signal })).rejects.toMatchObject({ name: "AbortError" });
    expect(sockets.length).toBe(1);
  });

  test("an abort within the body closes the socket and fails the read that waits", async () => {
    const abort = new AbortController();
    const { url, sockets } = await serve((_request, response) => response.writeHead(200).write("one"));
    const reader = readerOf(await fetch(url, { signal: abort.signal }));
    expect(await nextText(reader)).toBe("one");
    const waiting = reader.read();
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    await Promise.all(sockets.map(closed));
  });

  test("a cancelled body closes the socket", async () => {
    const { url, sockets } = await serve((_request, response) => response.writeHead(200).write("one"));
    const reader = readerOf(await fetch(url));
    expect(await nextText(reader)).toBe("one");
    await reader.cancel();
    await Promise.all(sockets.map(closed));
  });

  test("a finished request leaves nothing on its signal", async () => {
    const { signal } = new AbortController();
    const { url } = await serve((_request, response) => response.end("ok"));
    await (await fetch(url, { signal })).text();
    // The request is closed in the turn after its last byte.
    await new Promise(setImmediate);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("a slow reader holds the server back", async () => {
    const piece = Buffer.alloc(1 << 20);
    let written = 0;
    const { url } = await serve(async (_request, response) => {
      for (; written < 200 && !response.destroyed; written++)
        if (!response.write(piece)) await Promise.race([once(response, "drain"), once(response, "close")]);
    });
    const reader = readerOf(await fetch(url));
    await reader.read();
    // In so many turns an unhindered server has written everything.
    for (let turn = 0; turn < 5000; turn++) await new Promise(setImmediate);
    expect(written).toBeLessThan(100);
    await reader.cancel();
  });
});

describe("an event stream", () => {
  const fetch = fetchOver(LIMITS, "events");

  test.each([
    ["[DONE]", "data: a\n\ndata: [DONE]\n\n"],
    ["[DONE] behind CRLF", "data:a\r\n\r\ndata:[DONE]\r\n\r\n"],
    ["message_stop", 'event: message_stop\ndata: {"type":"message_stop"}\n\n'],
    ["response.completed", `event: response.completed\ndata: {"type":"response.completed","response":"${"x".repeat(10_000)}"}\n\n`],
    ["a ping behind it", `data: {"type":"response.completed","response":"${"x".repeat(10_000)}"}\n\n: ping\n\n`],
  ])("ends after its last event, though the server leaves it open, in one piece or many: %s", async (_name, text) => {
    const { url, sockets } = await serve(async (request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const size = request.url === "/many" ? 7 : text.length;
      for (let at = 0; at < text.length; at += size) await new Promise((sent) => response.write(text.slice(at, at + size), sent));
    });
    expect(await Promise.all([fetch(url), fetch(`${url}/many`)].map(async (asked) => (await asked).text()))).toEqual([text, text]);
    await Promise.all(sockets.map(closed));
  });

  test("ends soon after what may be its last event, though the server leaves it open, with all that follows until then", async () => {
    const last = 'data: {"candidates":[{"finishReason": "STOP"}]}\n\n';
    const { url } = await serve(async (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const piece of [last, "data: more\n\n"]) await new Promise((sent) => response.write(piece, sent));
    });
    expect(await (await fetch(url)).text()).toBe(`${last}data: more\n\n`);
  });

  test("a failure after the last event does not count", async () => {
    const url = await serveTcp((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\ndata: [DONE]\n\n"));
    expect(await (await fetch(url)).text()).toBe("data: [DONE]\n\n");
  });

  test("a connection is used again a moment after it", async () => {
    const { url, sockets } = await serve((_request, response) => response.end("data: [DONE]\n\n"));
    for (let round = 0; round < 20; round++) {
      await (await fetch(url)).text();
      await new Promise(setImmediate);
    }
    // A request before the end of the last answer gets another connection, which may happen now and then.
    expect(sockets.length).toBeLessThan(10);
  });

  test("a page is refused before it is read", async () => {
    const { url, sockets } = await serve((_request, response) =>
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).write("<html>"),
    );
    await expect(fetch(`${url}/v1?key=k`)).rejects.toMatchObject({
      name: "BadAnswer",
      address: `${url}/v1`,
      message: "did not answer with an event stream (text/html); check --base-url",
    });
    await Promise.all(sockets.map(closed));
  });

  test.each([
    ["text/event-stream", "", "nothing came"],
    ["application/json", "{}", "application/json"],
  ])("%s with %j in it is none", async (type, body, what) => {
    const { url } = await serve((_request, response) => response.writeHead(200, { "content-type": type }).end(body));
    const message = `did not answer with an event stream (${what}); check --base-url`;
    await expect((await fetch(url)).text()).rejects.toMatchObject({ name: "BadAnswer", message });
  });

  test("an answer without a body is none", async () => {
    const { url } = await serve((_request, response) => response.writeHead(204).end());
    await expect(fetch(url)).rejects.toThrow("nothing came");
  });

  test.each([
    ["an answer without an end", "data: x\n\n", "sent more than 128 MiB in one answer (limits.answerMiB in config.yaml sets how much)"],
    [
      "an event without an end",
      "data: x\n",
      "sent an event of more than 32 MiB in one answer (limits.answerMiB in config.yaml sets how much)",
    ],
  ])("%s is given up", async (_name, piece, message) => {
    const { url, sockets } = await serve((_request, response) => endless(response.writeHead(200), piece));
    const reader = (await fetch(url)).body?.getReader();
    const discarded = async (): Promise<void> => {
      while ((await reader?.read())?.done === false);
    };
    await expect(discarded()).rejects.toMatchObject({ name: "BadAnswer", message });
    await Promise.all(sockets.map(closed));
  });

  test("a failure may be a page", async () => {
    const { url } = await serve((_request, response) => response.writeHead(502, { "content-type": "text/html" }).end("<p>no</p>"));
    expect(await (await fetch(url)).text()).toBe("<p>no</p>");
  });
});

test("a provider's package works on it, and its failures are recognised", async () => {
  const events = ['{"choices":[{"delta":{"content":"Hel"}}]}', '{"choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}]}', "[DONE]"];
  const { url } = await serve((_request, response) => response.end(events.map((data) => `data: ${data}\n\n`).join("")));
  const options = { prompt: [{ role: "user" as const, content: [{ type: "text" as const, text: "Hi" }] }] };
  const { stream } = await modelAt(url).doStream(options);
  let text = "";
  for await (const part of stream) if (part.type === "text-delta") text += part.delta;
  expect(text).toBe("Hello");

  const nobody = modelAt("http://127.0.0.1:1");
  const refused: unknown = await Promise.resolve(nobody.doStream(options)).catch((error: unknown) => error);
  const fault = vendorFault(refused, { provider: "local" }, false);
  expect(fault).toBeInstanceOf(ParleyError);
  expect(fault).toMatchObject({ fault: { code: "provider", retryable: true } });

  function modelAt(baseURL: string) {
    return createOpenAICompatible({ name: "local", baseURL, fetch: httpFetch(LIMITS) })("m");
  }
});

interface Serving {
  url: string;
  requests: IncomingMessage[];
  responses: ServerResponse[];
  sockets: Socket[];
}

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<Serving> {
  const serving: Serving = { url: "", requests: [], responses: [], sockets: [] };
  const server = createServer((request, response) => {
    serving.requests.push(request);
    serving.responses.push(response);
    answer(request, response);
  });
  server.on("connection", (socket) => serving.sockets.push(socket));
  serving.url = await listening(server);
  return serving;
}

function serveTcp(answer: (socket: Socket) => unknown): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => answer(socket));
  });
  return listening(server);
}

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<string> {
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function endless(response: ServerResponse, text = "x"): void {
  const piece = Buffer.alloc(1 << 16, text);
  const source = new Readable({
    read() {
      this.push(piece);
    },
  });
  pipeline(source, response, () => {});
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

function readerOf(response: Response): ReadableStreamDefaultReader<Uint8Array> {
  if (response.body === null) throw new Error("The response has no body");
  return response.body.getReader();
}

async function nextText(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string | undefined> {
  const result = await reader.read();
  return result.done ? undefined : Buffer.from(result.value).toString();
}

async function closed(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve));
}

async function expectFetchFailed(fetching: Promise<Response>, code: string): Promise<void> {
  const error: unknown = await fetching.catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(TypeError);
  expect(error).toMatchObject({ message: "fetch failed" });
  expect(systemCode(error instanceof TypeError ? error.cause : undefined)).toBe(code);
}
