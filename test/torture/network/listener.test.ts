/**
 * Whatever reaches the port of `serve --ws`, as bytes: requests that two servers would read differently, frames that are cut, endless or
 * forbidden. None opens a session without the token, and a client that keeps to the rules is served afterwards.
 */
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { PARLEY } from "../../process/harness.js";
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../support/processes.js";
import { mutatedText } from "../fuzz/mutate.js";
import { diceOf, isLong, report, SEED } from "../volume.js";

const TOKEN = "t0ken-of-forty-characters-that-nobody-else";
const REQUESTS = isLong ? 5000 : 120;

let child: ChildProcessWithoutNullStreams;
let port = 0;
let stderr = "";

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-test-"));
  const file = join(folder, "token");
  writeFileSync(file, TOKEN, { mode: 0o600 });
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, PARLEY_HOME: folder };
  child = spawn(process.execPath, [PARLEY, "serve", "--ws", "127.0.0.1:0", "--token-file", file, "--provider", "rehearsal"], {
    cwd: folder,
    env,
  });
  child.stderr.on("data", (bytes: Buffer) => {
    stderr += bytes.toString();
  });
  await until(() => /listening on \S+:(\d+)/.test(stderr));
  port = Number(/listening on \S+:(\d+)/.exec(stderr)?.[1]);
});

afterAll(async () => {
  const exited = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGTERM");
  await exited;
  expect(stderr).not.toContain(TOKEN);
});

describe("the handshake", () => {
  const upgrade = (more: string[] = [], target = "/"): string =>
    [
      `GET ${target} HTTP/1.1`,
      "Host: 127.0.0.1",
      "Upgrade: websocket",
      "Connection: Upgrade",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
      ...more,
      "\r\n",
    ].join("\r\n");

  test.each([
    ["without a token", upgrade()],
    ["with the token in the address", upgrade([], `/?token=${TOKEN}`)],
    ["with a wrong token", upgrade(["Authorization: Bearer nobody"])],
    ["with two tokens of which one is right", upgrade(["Authorization: Bearer nobody", `Authorization: Bearer ${TOKEN}`])],
    ["with a length and chunks", upgrade([`Authorization: Bearer nobody`, "Content-Length: 4", "Transfer-Encoding: chunked"])],
    ["with a second request in its body", `${upgrade(["Content-Length: 400"])}${upgrade([`Authorization: Bearer ${TOKEN}`])}`],
    ["with a header over two lines", upgrade(["Authorization: Bearer", ` ${TOKEN}`])],
    ["with another host's name", upgrade([`Authorization: Bearer ${TOKEN}`]).replace("127.0.0.1", "evil.example")],
    ["from a page", upgrade([`Authorization: Bearer ${TOKEN}`, "Origin: https://evil.example"])],
    ["of an absolute address", upgrade([], "http://evil.example/")],
    ["by another method", upgrade([`Authorization: Bearer ${TOKEN}`]).replace("GET", "POST")],
  ])("%s opens nothing", async (_, text) => {
    expect(await answerTo(text)).not.toMatch(/^HTTP\/1\.1 101/);
    await serves();
  });

  test("that is nearly right opens nothing", async () => {
    const right = upgrade(["Authorization: Bearer nobody-has-this-token-at-all"]);
    for (let nth = 0; nth < REQUESTS; nth++) {
      const text = mutatedText([right], diceOf(SEED * 1000 + nth));
      expect(await answerTo(`${text}\r\n\r\n`), JSON.stringify(text)).not.toMatch(/^HTTP\/1\.1 101/);
    }
    await serves();
    report("requests to a listener", { "nearly right": REQUESTS });
  });
});

describe("frames", () => {
  test("offers of compression are declined", async () => {
    const client = await opened({ perMessageDeflate: true });
    expect(client.extensions).toBe("");
    client.terminate();
  });

  test.each([
    ["a frame that is not masked", [0x81, 0x02, 0x7b, 0x7d]],
    ["a frame with a reserved bit", [0xc1, 0x80, 0, 0, 0, 0]],
    ["a frame of an unknown kind", [0x83, 0x80, 0, 0, 0, 0]],
    ["a ping of 200 bytes", [0x89, 0xfe, 0x00, 0xc8, 0, 0, 0, 0, ...Array.from({ length: 200 }, () => 0)]],
    ["a piece that continues nothing", [0x80, 0x80, 0, 0, 0, 0]],
    ["a length of 2^62", [0x81, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
  ])("%s ends its connection and no other", async (_, bytes) => {
    const [client, other] = [await opened(), await opened()];
    const closed = new Promise((resolve) => client.once("close", resolve));
    socketOf(client).write(Buffer.from(bytes));
    await closed;
    expect(other.readyState).toBe(other.OPEN);
    other.terminate();
    await serves();
  });

  test("pieces of one byte are put together, and pieces without an end are cut off", async () => {
    const client = await opened();
    const answered = new Promise<string>((resolve) => client.once("message", (data: Buffer) => resolve(data.toString())));
    const text = JSON.stringify({ op: "nothing that there is", id: "x" });
    for (const [at, letter] of text.split("").entries()) client.send(letter, { fin: at === text.length - 1 });
    expect(await answered).toContain("Error");
    const closed = new Promise<number>((resolve) => client.once("close", resolve));
    client.on("error", () => {});
    const piece = "x".repeat(1024 * 1024);
    for (let sent = 0; sent < 100 && client.readyState === client.OPEN; sent++)
      await new Promise((resolve) => client.send(piece, { fin: false }, resolve));
    expect([1009, 1006]).toContain(await closed);
    await serves();
  });
});

/** What the server answers until it closes, or has said its first line. */
async function answerTo(text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let said = "";
  await new Promise<void>((resolve) => {
    socket.on("data", (bytes: Buffer) => {
      said += bytes.toString("latin1");
      if (said.includes("\r\n\r\n")) resolve();
    });
    socket.once("close", () => resolve());
    socket.once("error", () => resolve());
    // Nothing more comes, so half a request is over, too.
    socket.end(Buffer.from(text, "utf8"));
  });
  socket.destroy();
  return said;
}

async function opened(options: { perMessageDeflate?: boolean } = {}): Promise<WebSocket> {
  const client = new WebSocket(`ws://127.0.0.1:${port}`, { headers: { authorization: `Bearer ${TOKEN}` }, ...options });
  client.on("error", () => {});
  await new Promise((resolve, reject) => {
    client.once("open", resolve);
    client.once("error", reject);
  });
  return client;
}

/** A client that keeps to the rules gets a session. */
async function serves(): Promise<void> {
  const client = await opened();
  const started = new Promise<string>((resolve) => client.once("message", (data: Buffer) => resolve(data.toString())));
  const fields = { model: "rehearsal", provider: "rehearsal", streaming: true };
  client.send(JSON.stringify({ op: { StartSession: fields }, id: "op_01ARZ3NDEKTSV4RRFFQ69G5FA0" }));
  expect(await started).toContain("SessionStart");
  client.terminate();
}

function socketOf(client: WebSocket): Socket {
  const socket: unknown = Reflect.get(client, "_socket");
  if (typeof socket !== "object" || socket === null || !("write" in socket)) throw new Error("The client has no socket");
  return socket as Socket;
}
