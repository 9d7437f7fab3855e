/** Who may connect: origins, hosts, tokens and users, from the outside; and that a refusal is an HTTP answer. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { scratch } from "../process/harness.js";
import { serveWs, WsClient, type WsServer } from "./ws-client.js";

/** The status of a handshake with these headers; 101 is a yes. */
async function handshake(server: WsServer, headers: Record<string, string | string[]>): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request({
      host: "127.0.0.1",
      port: server.port,
      headers: {
        host: `127.0.0.1:${server.port}`,
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        ...headers,
      },
    });
    asked.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, body: "" });
    });
    asked.on("response", (response) => {
      let body = "";
      response.on("data", (bytes: Buffer) => {
        body += bytes.toString();
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    asked.on("error", reject);
    asked.end();
  });
}

describe("on loopback", () => {
  it("only origins that are named may connect; names that are not this machine may not", async () => {
    const allowed = [
      "https://good.example",
      "http://localhost:5173/",
      "Chrome-Extension://abcdefgh",
      "vscode-webview://0A1B2C",
      "http://[::1]:8080",
    ];
    const server = await serveWs({ args: allowed.flatMap((origin) => ["--allow-origin", origin]) });
    const table: [Record<string, string | string[]>, number][] = [
      [{}, 101],
      [{ origin: "http://evil.example" }, 403],
      [{ origin: "https://evil.example" }, 403],
      [{ origin: "http://localhost:3000" }, 403],
      [{ origin: "http://127.0.0.1" }, 403],
      [{ origin: "null" }, 403],
      [{ origin: "" }, 403],
      [{ origin: "file://" }, 403],
      [{ origin: "nonsense" }, 403],
      [{ origin: "://" }, 403],
      [{ origin: "ws://evil.example" }, 403],
      [{ origin: "x://y" }, 403],
      [{ origin: "chrome-extension://other" }, 403],
      [{ origin: "moz-extension://0a1b2c" }, 403],
      [{ origin: "vscode-webview://other" }, 403],
      [{ origin: "app://other.md" }, 403],
      [{ origin: "app://obsidian.md.evil.example" }, 403],
      [{ origin: "app://obsidian.md:80" }, 403],
      [{ origin: "app://obsidian.md/" }, 403],
      [{ origin: "app://obsidian.md, https://evil.example" }, 403],
      [{ origin: "https://good.example https://evil.example" }, 403],
      [{ origin: "https://good.example,https://good.example" }, 403],
      [{ origin: ["app://obsidian.md", "https://evil.example"] }, 403],
      [{ origin: ["https://evil.example", "https://good.example"] }, 403],
      [{ origin: ["https://good.example", "https://good.example"] }, 403],
      [{ origin: "https://good.example.evil.example" }, 403],
      [{ origin: "https://good.example:443" }, 403],
      [{ origin: "http://good.example" }, 403],
      [{ origin: "https://good.example" }, 101],
      [{ origin: "HTTPS://Good.Example" }, 101],
      [{ origin: "http://localhost:5173" }, 101],
      [{ origin: "chrome-extension://abcdefgh" }, 101],
      [{ origin: "vscode-webview://0a1b2c" }, 101],
      [{ origin: "http://[::1]:8080" }, 101],
      [{ origin: "app://obsidian.md" }, 101],
      [{ host: "localhost:1234" }, 101],
      [{ host: "[::1]:1234" }, 101],
      [{ host: "127.0.0.1" }, 101],
      [{ host: "evil.example" }, 403],
      [{ host: "127.0.0.1.evil.example:80" }, 403],
      [{ host: "localhost.evil.example" }, 403],
      [{ host: "192.168.0.7" }, 403],
    ];
    for (const [headers, status] of table) expect([headers, (await handshake(server, headers)).status]).toEqual([headers, status]);
  });

  it("a refused origin is named, and so is the remedy", async () => {
    const server = await serveWs();
    const { body } = await handshake(server, { origin: "chrome-extension://other" });
    expect(body).toBe("The origin 'chrome-extension://other' may not connect; --allow-origin chrome-extension://other allows it\n");
    expect((await handshake(server, { origin: "null" })).body).toBe(
      "The origin 'null' may not connect; --allow-origin allows origins of the form scheme://host[:port] only\n",
    );
    expect((await handshake(server, { origin: ["app://obsidian.md", "app://obsidian.md"] })).body).toBe(
      "The origins 'app://obsidian.md', 'app://obsidian.md' may not connect; send one Origin header, or none\n",
    );
  });

  it("a token that is given is asked for there, too", async () => {
    const server = await serveWs({ args: ["--token-file", `${scratch({ token: "open sesame 4711\n" })}/token`] });
    const table: [Record<string, string>, number][] = [
      [{}, 401],
      [{ authorization: "Bearer" }, 401],
      [{ authorization: "Bearer open sesame 471" }, 401],
      [{ authorization: "Bearer open sesame 4711x" }, 401],
      [{ authorization: "Basic open sesame 4711" }, 401],
      [{ authorization: "Bearer open sesame 4711" }, 101],
      [{ authorization: "bearer open sesame 4711" }, 101],
      [{ authorization: "Bearer open sesame 4711", origin: "https://evil.example" }, 403],
      // Who has no token learns nothing else.
      [{ origin: "https://evil.example", host: "evil.example" }, 401],
    ];
    for (const [headers, status] of table) expect([headers, (await handshake(server, headers)).status]).toEqual([headers, status]);
  });
});

/** What is answered to a handshake of another user's process. */
async function handshakeOfNobody(url: string, headers: readonly string[] = []): Promise<string> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const lines = [
    "GET / HTTP/1.1",
    `Host: 127.0.0.1:${port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ...headers,
  ];
  const program = `
    const socket = require("node:net").connect(${port}, ${JSON.stringify(host)}, () => {
      socket.write(${JSON.stringify(`${lines.join("\r\n")}\r\n\r\n`)});
    });
    socket.on("data", (bytes) => { process.stdout.write(bytes); if (String(bytes).startsWith("HTTP/1.1 101")) socket.destroy(); });
    socket.on("error", () => {});
  `;
  const child = spawn(process.execPath, ["-e", program], {
    cwd: "/",
    uid: NOBODY,
    gid: NOBODY,
    env: {},
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [answer] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return answer;
}

const NOBODY = 65_534;
const cannotBeNobody = process.platform !== "linux" || process.getuid?.() !== 0;

describe("without a token", () => {
  it.skipIf(cannotBeNobody).each(["127.0.0.1:0", "[::1]:0", "[::ffff:127.0.0.1]:0"])(
    "another user's client is refused at %s, and our own is not (needs Linux and root)",
    async (address) => {
      const server = await serveWs({ address });
      expect(await handshakeOfNobody(server.url)).toMatch(/^HTTP\/1\.1 403 [^]*uid 65534[^]*--token-file/);
      expect(await handshakeOfNobody(server.url, ["Origin: app://obsidian.md"])).toMatch(/^HTTP\/1\.1 403 /);
      const client = new WsClient(new WebSocket(server.url, { headers: { host: "localhost" } }));
      await client.open();
      client.send("Shutdown");
      await client.closed;
    },
  );

  it("our own user's client may come through an IPv6 socket to an IPv4 address", async () => {
    const server = await serveWs();
    const client = new WsClient(new WebSocket(`ws://[::ffff:127.0.0.1]:${server.port}`, { headers: { host: "localhost" } }));
    await client.open();
    client.send("Shutdown");
    await expect(client.closed).resolves.toBeDefined();
  });
});

describe("off loopback", () => {
  it("the token is enough, whatever name the machine has", async () => {
    const token = "a-long-random-token";
    const server = await serveWs({ address: "0.0.0.0:0", args: ["--token-file", `${scratch({ token })}/token`] });
    expect(server.url).toMatch(/^ws:\/\/0\.0\.0\.0:\d+$/);
    const authorization = `Bearer ${token}`;
    expect(await handshake(server, { host: "build-machine.lan" })).toMatchObject({ status: 401 });
    expect(await handshake(server, { host: "build-machine.lan", authorization })).toMatchObject({ status: 101 });
    expect(await handshake(server, { host: "build-machine.lan", authorization, origin: "http://build-machine.lan" })).toMatchObject({
      status: 403,
    });
    const client = new WsClient(new WebSocket(`ws://127.0.0.1:${server.port}`, { headers: { authorization } }));
    await client.open();
    await client.start();
    client.send({ UserInput: `say the token is ${token}` });
    await client.next("TurnEnd");
    expect(JSON.stringify(client.heard)).not.toContain(token);
    client.send("Shutdown");
    await client.closed;
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });

  it("a client whose machine is gone is noticed, and its session can be resumed", async () => {
    const token = "a-long-random-token";
    const args = ["--keep-alive", "0.2", "--token-file", `${scratch({ token })}/token`];
    const server = await serveWs({ address: "0.0.0.0:0", args });
    const headers = { authorization: `Bearer ${token}` };
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}`, { headers, autoPong: false });
    let isThere = true;
    socket.on("ping", (data) => (isThere ? socket.pong(data) : undefined));
    const dead = new WsClient(socket);
    await dead.open();
    await dead.start();
    const { session_id: id } = await dead.next("SessionStart");
    isThere = false;
    expect(await dead.closed).toMatchObject({ code: 1013, reason: expect.stringContaining("Nothing was heard for") });
    const next = new WsClient(new WebSocket(`ws://127.0.0.1:${server.port}`, { headers }));
    await next.open();
    next.send({ ResumeSession: { session_id: id } });
    expect((await next.next("SessionStart")).session_id).toBe(id);
    next.send("Shutdown");
    await next.closed;
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });
});
