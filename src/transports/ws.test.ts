/** The transport itself, over real sockets: back-pressure in both directions, and how it ends. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebSocket, WebSocketServer, type ClientOptions } from "ws";
import type { Frame, Transport } from "../core/wire.js";
import { listen, type ListenOptions } from "./ws-server.js";
import { dialSocket } from "./ws.js";

async function pair(options: Partial<ListenOptions> = {}): Promise<{ url: string; accepted: Promise<Transport> }> {
  let take: (transport: Transport) => void;
  const accepted = new Promise<Transport>((resolve) => {
    take = resolve;
  });
  const listener = await listen({ host: "127.0.0.1", port: 0, framing: "json", tokens: [], allowOrigins: [], ...options }, (transport) =>
    take(transport),
  );
  onTestFinished(() => listener.close());
  return { url: listener.url.replace("0.0.0.0", "127.0.0.1"), accepted };
}

async function collect(frames: AsyncIterable<Frame>): Promise<Frame[]> {
  const all: Frame[] = [];
  for await (const frame of frames) all.push(frame);
  return all;
}

describe("both ends", () => {
  test("carry every record in order, whatever is in it", async () => {
    const { url, accepted } = await pair();
    const client = await dialSocket(url, { framing: "json" });
    const server = await accepted;
    const records = [
      { a: 1 },
      { text: "U+2028 \u2028, a line\nbreak, \ud800 alone, ÄÖÜ 🎈" },
      ...Array.from({ length: 2000 }, (_, n) => ({ n })),
    ];
    void client.write(records);
    client.close("eof");
    expect(await collect(server.frames)).toEqual(records.map((rec) => ({ rec: JSON.parse(JSON.stringify(rec)) })));
    expect(await server.closed).toEqual({});
    expect(await client.closed).toEqual({});
  });

  test("a reader that waits stops the writer, and loses nothing", async () => {
    const { url, accepted } = await pair();
    const client = await dialSocket(url, { framing: "json" });
    const server = await accepted;
    const text = "x".repeat(64 * 1024);
    let written = 0;
    const writing = (async () => {
      for (; written < 1000; written++) await client.write([{ written, text }]);
      client.close("eof");
    })();
    await settled(() => written);
    expect(written).toBeLessThan(1000);
    const frames = await collect(server.frames);
    await writing;
    expect(frames.map((frame) => ("rec" in frame ? Object(frame.rec).written : -1))).toEqual(Array.from({ length: 1000 }, (_, n) => n));
  });

  test("a write to somebody who has left is nothing, and nobody waits for it", async () => {
    const { url, accepted } = await pair();
    const raw = new WebSocket(url);
    const server = await accepted;
    await new Promise((resolve) => raw.once("open", resolve));
    raw.pause();
    let slow: void | Promise<void> = undefined;
    for (let n = 0; n < 2000 && slow === undefined; n++) slow = server.write([{ text: "x".repeat(64 * 1024) }]);
    expect(slow).toBeInstanceOf(Promise);
    raw.terminate();
    await slow;
    await server.closed;
    expect(await server.write([{ late: true }])).toBeUndefined();
    expect(await collect(server.frames)).toEqual([]);
  });
});

describe("a listener", () => {
  /** A connection that has said so much, and no more. */
  async function bare(url: string, words = ""): Promise<Socket> {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    if (words !== "") socket.write(words);
    return socket;
  }

  async function refused(url: string): Promise<string> {
    const client = new WebSocket(url);
    client.on("error", () => {});
    const answer = await new Promise<NodeJS.ReadableStream & { statusCode?: number | undefined }>((resolve) =>
      client.once("unexpected-response", (_request, response) => resolve(response)),
    );
    return `${answer.statusCode} ${await text(answer)}`;
  }

  test("refuses a client over the most with a sentence, until another one leaves", async () => {
    const { url, accepted } = await pair({ mostClients: 2 });
    const first = new WebSocket(url);
    const { closed } = await accepted;
    const second = new WebSocket(url);
    await once(second, "open");
    expect(await refused(url)).toBe("503 2 clients are connected, and that is the most; try again later\n");
    first.close();
    await closed;
    const third = new WebSocket(url);
    await once(third, "open");
    expect(await refused(url)).toContain("503");
    second.close();
    third.close();
  });

  test("turns away the connection that has waited longest when too many wait, and lets a client in", async () => {
    const { url } = await pair({ mostWaiting: 2 });
    const [first, second] = [await bare(url), await bare(url)];
    const third = await bare(url);
    expect(await text(first)).toMatch(/^HTTP\/1\.1 503 [^]*More than 2 connections wait to be let in; try again later\n$/);
    const client = new WebSocket(url);
    await once(client, "open");
    expect(await text(second)).toMatch(/^HTTP\/1\.1 503 /);
    expect(third.destroyed).toBe(false);
    client.close();
  });

  test.each(["", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"])("ends a connection that has said %j and no more", async (words) => {
    const { url } = await pair({ handshakeMs: 50 });
    const socket = await bare(url, words);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("refuses headers of more than 16 KiB", async () => {
    const { url } = await pair();
    const socket = await bare(url, `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${"x".repeat(17 * 1024)}\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 431 /);
  });
});

describe("pings", () => {
  test("of somebody who does not read do not pile up as pongs; the newest is answered", async () => {
    const { url, accepted } = await pair();
    const raw = new WebSocket(url);
    await accepted;
    await new Promise((resolve) => raw.once("open", resolve));
    const count = 200_000;
    let pongs = 0;
    const last = new Promise<void>((resolve) => {
      raw.on("pong", (data) => {
        pongs++;
        if (data.toString() === `last ${"x".repeat(100)}`) resolve();
      });
    });
    raw.pause();
    const payload = "x".repeat(120);
    for (let n = 0; n < count; n += 1000) {
      for (let one = 0; one < 999; one++) raw.ping(payload);
      await new Promise((resolve) => raw.ping(payload, undefined, resolve));
    }
    await new Promise((resolve) => raw.ping(`last ${"x".repeat(100)}`, undefined, resolve));
    raw.resume();
    await last;
    expect(pongs).toBeLessThan(count);
  });
});

describe("a client from elsewhere that says nothing", () => {
  const elsewhere = { host: "0.0.0.0", tokens: [{ owner: undefined, token: "t" }], keepAliveMs: 100 };
  const dialled = (url: string, more: ClientOptions = {}): WebSocket =>
    new WebSocket(url, { headers: { authorization: "Bearer t" }, ...more });

  test("is asked whether it is there, for as long as it answers", async () => {
    // Both ends share a thread, which may have to wait for its turn: an answer takes as long as that.
    const { url, accepted } = await pair({ ...elsewhere, keepAliveMs: 1500 });
    const raw = dialled(url);
    const server = await accepted;
    await new Promise<void>((resolve) => {
      let pings = 0;
      raw.on("ping", () => (++pings === 3 ? resolve() : undefined));
    });
    void server.write([{ still: "here" }]);
    expect(await new Promise((resolve) => raw.once("message", (data) => resolve(Buffer.isBuffer(data) && data.toString())))).toBe(
      '{"still":"here"}',
    );
    raw.close();
    expect(await server.closed).toEqual({});
  });

  test("is closed when it does not answer", async () => {
    const { url, accepted } = await pair(elsewhere);
    const raw = dialled(url, { autoPong: false });
    const server = await accepted;
    expect(await server.closed).toMatchObject({ code: null, reason: expect.stringMatching(/1013: Nothing was heard for/) });
    expect(await collect(server.frames)).toEqual([]);
    raw.terminate();
  });

  test("on this machine is left alone", async () => {
    const { url, accepted } = await pair({ keepAliveMs: 10 });
    const raw = new WebSocket(url, { autoPong: false });
    const server = await accepted;
    let pings = 0;
    raw.on("ping", () => pings++);
    await new Promise((resolve) => raw.once("open", resolve));
    // Its last record is heard, however long ago it was sent.
    await settled(() => pings);
    raw.send('{"last":1}');
    raw.close();
    expect(await collect(server.frames)).toEqual([{ rec: { last: 1 } }]);
    expect(pings).toBe(0);
  });

  test("who is dialled elsewhere is asked, too", async () => {
    const peers = new WebSocketServer({ host: "127.0.0.1", port: 0, autoPong: false });
    onTestFinished(() => peers.close());
    await new Promise((resolve) => peers.once("listening", resolve));
    const address = peers.address();
    const port = typeof address === "object" ? address?.port : 0;
    const client = await dialSocket(`ws://127.0.0.1:${port}`, { framing: "json", keepAliveMs: 50 });
    expect(await client.closed).toMatchObject({ reason: expect.stringContaining("Nothing was heard for") });
    for (const peer of peers.clients) peer.terminate();
  });
});

describe("a client from elsewhere that does not read", () => {
  const elsewhere = { host: "0.0.0.0", tokens: [{ owner: undefined, token: "t" }], patienceMs: 300 };

  test("is closed with 1013 and the reason, and what was written still reaches it", async () => {
    const { url, accepted } = await pair(elsewhere);
    const raw = new WebSocket(url, { headers: { authorization: "Bearer t" } });
    const server = await accepted;
    await new Promise((resolve) => raw.once("open", resolve));
    raw.pause();
    let over = false;
    void server.closed.then(() => {
      over = true;
    });
    const writing = (async () => {
      for (let n = 0; !over; n++) await server.write([{ n, text: "x".repeat(64 * 1024) }]);
    })();
    expect(await server.closed).toMatchObject({ code: null, reason: expect.stringContaining("1013") });
    await writing;
    const heard: number[] = [];
    raw.on("message", (data) => heard.push(Object(JSON.parse(Buffer.isBuffer(data) ? data.toString() : "{}")).n));
    const end = new Promise((resolve) => raw.once("close", (code, reason) => resolve({ code, reason: reason.toString() })));
    raw.resume();
    expect(await end).toEqual({ code: 1013, reason: "Nothing was read for 0 s" });
    expect(heard).toEqual(Array.from({ length: heard.length }, (_, n) => n));
    expect(heard.length).toBeGreaterThan(0);
  });
});

describe("dialling", () => {
  test("tells why it failed", async () => {
    const { url } = await pair({ tokens: [{ owner: undefined, token: "right" }] });
    await expect(dialSocket(url, { framing: "json", token: "wrong" })).rejects.toThrow(/Could not connect to ws:.* answered 401/);
    await expect(dialSocket("ws://127.0.0.1:1", { framing: "json" })).rejects.toThrow(
      /Could not connect to ws:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/,
    );
  });
});

/** Resolves when the number no longer changes. */
async function settled(count: () => number): Promise<void> {
  for (let before = -1; before !== count(); await new Promise((resolve) => setTimeout(resolve, 200))) before = count();
}
