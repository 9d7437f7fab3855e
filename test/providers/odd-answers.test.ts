/** Servers, and proxies before them, that answer as no vendor should. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { awsEvent, awsFrame } from "../support/aws-frames.js";
import { modelServer, type ModelServer } from "../support/model-server.js";
import { talk, Talk, VENDORS, type VendorUnderTest } from "./harness.js";

const { anthropic, bedrockClaude, bedrockConverse, ...others } = VENDORS;

describe.each(Object.values(VENDORS))("$name", (vendor) => {
  test("an answer that is complete counts, though the server leaves it open", async () => {
    const host = await behind(vendor, (bytes, response) => response.write(bytes));
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed", finish: "stop" });
    expect(host.texts("text.done")).toEqual(["Hello"]);
    expect(host.of("notice")).toEqual([]);
  });

  test.each([
    ["text/html", "<html>Log in</html>", "text/html"],
    ["text/event-stream", "", "nothing came"],
    ["application/json", "{}", "application/json"],
  ])("%s with %j: told at once, with the address", async (type, body, what) => {
    const host = await behind(vendor, (_bytes, response) => response.setHeader("content-type", type).end(body));
    const end = await host.turn("hi");
    expect(end).toMatchObject({ outcome: "failed", fault: { code: "provider", retryable: false } });
    expect(end.fault).not.toHaveProperty("status");
    expect(end.reason).toMatch(
      new RegExp(`^${vendor.provider} at http://127\\.0\\.0\\.1:\\d+/(v1(beta)?|model)/\\S+ did not answer with an event stream`),
    );
    expect(end.reason).toContain(`(${what}); check --base-url`);
    expect(host.of("notice")).toEqual([]);
  });

  test.each(["functions.Read it!", "7up", "x".repeat(200)])(
    "a call of '%s', which nobody has, does not spoil the session",
    async (name) => {
      const host = await talk(vendor, [{ calls: [{ name, args: {} }] }, { text: ["ok"] }]);
      expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
      expect(host.of("tool.ended")).toMatchObject([{ status: "failed" }]);
    },
  );

  test("what is no HTTP is called so, and not tried again", async () => {
    const host = await behind(vendor, (_bytes, response) => response.socket?.end("hello, this is no HTTP\r\n\r\n"));
    const end = await host.turn("hi");
    expect(end.fault).toMatchObject({ code: "provider", retryable: false });
    expect(end.reason).toContain(`The answer of ${vendor.provider} is not HTTP: `);
    expect(host.of("notice")).toEqual([]);
  });
});

const nope = "data: {nope\n\n";
test.each([
  ...[anthropic, ...Object.values(others)].map((vendor) => [vendor, nope] as const),
  [bedrockClaude, awsEvent("chunk", { bytes: Buffer.from("{nope").toString("base64") })] as const,
  [bedrockConverse, awsFrame({ ":event-type": "contentBlockDelta", ":message-type": "event" }, "{nope")] as const,
])("$name: a first event that is no JSON cannot be read, and is not tried again", async (vendor, event) => {
  const host = await behind(vendor, (bytes, response) => response.end(Buffer.concat([Buffer.from(event), bytes])));
  const end = await host.turn("hi");
  const message = `What ${vendor.provider} sent could not be read: {nope`;
  expect(end.fault).toEqual({ code: "provider", retryable: false, message });
  expect(host.of("notice")).toEqual([]);
});

test.each([bedrockClaude, bedrockConverse])("$name: an answer that ends within its last frame is cut", async (vendor) => {
  const host = await behind(vendor, (bytes, response) => response.end(bytes.subarray(0, -20)));
  const message = "The connection to bedrock was lost in the middle of its answer";
  await host.turn("hi");
  expect(host.of("notice")[0]).toMatchObject({ kind: "retry", text: expect.stringContaining(`${message}. What came of the answer`) });
  expect(host.texts("text.done")[0]).toBe("Hello");
});

test("anthropic without names of events: a complete answer counts, though the server leaves it open", async () => {
  const host = await behind(anthropic, (bytes, response) => response.write(bytes.toString().replaceAll(/^event: .*\n/gm, "")));
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed", finish: "stop" });
});

test("anthropic: events of a new kind are passed over", async () => {
  const zork = 'event: zork\ndata: {"type":"zork","x":1}\n\n';
  const host = await behind(anthropic, (bytes, response) =>
    response.end(bytes.toString().replaceAll("event: content_block", `${zork}event: content_block`)),
  );
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed", finish: "stop" });
  expect(host.texts("text.done")).toEqual(["Hello"]);
});

test("anthropic: a known event of another shape cannot be read", async () => {
  const broken = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":"no"}\n\n';
  const host = await behind(anthropic, (bytes, response) =>
    response.end(bytes.toString().replace("event: content_block_stop", `${broken}event: content_block_stop`)),
  );
  const end = await host.turn("hi");
  expect(end.fault).toMatchObject({ code: "provider", retryable: false });
  expect(end.reason).toContain("What anthropic sent could not be read: ");
});

test("a server that does not speak TLS: told as no connection, and not tried again", async () => {
  const source = (server: ModelServer) => ({ chosen: "local", baseUrl: server.url.replace("http:", "https:") });
  const host = await talk(VENDORS.local, [], { source });
  const end = await host.turn("hi");
  expect(end.fault).toMatchObject({ code: "provider", retryable: false });
  expect(end.reason).toContain("There was no connection to local: ");
  expect(host.of("notice")).toEqual([]);
});

test("a key at the place where a long explanation is cut", async () => {
  const key = "sk-secret-0123456789";
  const message = `${"a".repeat(390)}${key}`;
  const host = await talk(anthropic, [{ error: { status: 400, message } }], { source: { chosen: "anthropic", apiKey: key } });
  const end = await host.turn("hi");
  expect(end.reason).not.toContain("sk-secret");
});

/** A session with a good server, behind one that does something with its answer. */
async function behind(vendor: VendorUnderTest, alter: (bytes: Buffer, response: ServerResponse) => unknown): Promise<Talk> {
  const good = await modelServer(vendor.wire, [{ text: ["Hel", "lo"] }]);
  const proxy = createServer((request, response) => void pass(request, response));
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const address = proxy.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  const server: ModelServer = { ...good, url: `http://127.0.0.1:${address.port}` };
  return new Talk(vendor, server, {});

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const { host, connection: _connection, "content-length": _length, ...rest } = request.headers;
    const headers = Object.entries({ ...rest, "x-forwarded-host": host }).map(([name, value]): [string, string] => [name, String(value)]);
    const answer = await fetch(`${good.url}${request.url}`, { method: "POST", headers, body: Buffer.concat(chunks) });
    response.statusCode = answer.status;
    response.setHeader("content-type", answer.headers.get("content-type") ?? "");
    alter(Buffer.from(await answer.arrayBuffer()), response);
  }
}
