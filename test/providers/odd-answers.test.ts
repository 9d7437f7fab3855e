/** Servers, and proxies before them, that answer as no vendor should. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { modelServer, type ModelServer } from "../support/model-server.js";
import { talk, Talk, VENDORS, type VendorUnderTest } from "./harness.js";

const { anthropic } = VENDORS;

describe.each(Object.values(VENDORS))("$name", (vendor) => {
  test("an answer that is complete counts, though the server leaves it open", async () => {
    const host = await behind(vendor, (text, response) => response.write(text));
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed", finish: "stop" });
    expect(host.texts("text.done")).toEqual(["Hello"]);
    expect(host.of("notice")).toEqual([]);
  });

  test.each([
    ["text/html", "<html>Log in</html>", "text/html"],
    ["text/event-stream", "", "nothing came"],
    ["application/json", "{}", "application/json"],
  ])("%s with %j: told at once, with the address", async (type, body, what) => {
    const host = await behind(vendor, (_text, response) => response.setHeader("content-type", type).end(body));
    const end = await host.turn("hi");
    expect(end).toMatchObject({ outcome: "failed", fault: { code: "provider", retryable: false } });
    expect(end.fault).not.toHaveProperty("status");
    expect(end.reason).toMatch(
      new RegExp(`^${vendor.provider} at http://127\\.0\\.0\\.1:\\d+/v1(beta)?/\\S+ did not answer with an event stream`),
    );
    expect(end.reason).toContain(`(${what}); check --base-url`);
    expect(host.of("notice")).toEqual([]);
  });

  test("a first event that is no JSON cannot be read, and is not tried again", async () => {
    const host = await behind(vendor, (text, response) => response.end(`data: {nope\n\n${text}`));
    const end = await host.turn("hi");
    const message = `What ${vendor.provider} sent could not be read: {nope`;
    expect(end.fault).toEqual({ code: "provider", retryable: false, message });
    expect(host.of("notice")).toEqual([]);
  });

  test("what is no HTTP is called so, and not tried again", async () => {
    const host = await behind(vendor, (_text, response) => response.socket?.end("hello, this is no HTTP\r\n\r\n"));
    const end = await host.turn("hi");
    expect(end.fault).toMatchObject({ code: "provider", retryable: false });
    expect(end.reason).toContain(`The answer of ${vendor.provider} is not HTTP: `);
    expect(host.of("notice")).toEqual([]);
  });
});

test("anthropic without names of events: a complete answer counts, though the server leaves it open", async () => {
  const host = await behind(anthropic, (text, response) => response.write(text.replaceAll(/^event: .*\n/gm, "")));
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed", finish: "stop" });
});

test("anthropic: events of a new kind are passed over", async () => {
  const zork = 'event: zork\ndata: {"type":"zork","x":1}\n\n';
  const host = await behind(anthropic, (text, response) =>
    response.end(text.replaceAll("event: content_block", `${zork}event: content_block`)),
  );
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed", finish: "stop" });
  expect(host.texts("text.done")).toEqual(["Hello"]);
});

test("anthropic: a known event of another shape cannot be read", async () => {
  const broken = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":"no"}\n\n';
  const host = await behind(anthropic, (text, response) =>
    response.end(text.replace("event: content_block_stop", `${broken}event: content_block_stop`)),
  );
  const end = await host.turn("hi");
  expect(end.fault).toMatchObject({ code: "provider", retryable: false });
  expect(end.reason).toContain("What anthropic sent could not be read: ");
});

test("a key at the place where a long explanation is cut", async () => {
  const key = "sk-secret-0123456789";
  const message = `${"a".repeat(390)}${key}`;
  const host = await talk(anthropic, [{ error: { status: 400, message } }], { source: { chosen: "anthropic", apiKey: key } });
  const end = await host.turn("hi");
  expect(end.reason).not.toContain("sk-secret");
});

/** A session with a good server, behind one that does something with its answer. */
async function behind(vendor: VendorUnderTest, alter: (text: string, response: ServerResponse) => unknown): Promise<Talk> {
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
    const { host: _host, connection: _connection, "content-length": _length, ...rest } = request.headers;
    const headers = Object.entries(rest).map(([name, value]): [string, string] => [name, String(value)]);
    const answer = await fetch(`${good.url}${request.url}`, { method: "POST", headers, body: Buffer.concat(chunks) });
    response.statusCode = answer.status;
    response.setHeader("content-type", "text/event-stream");
    alter(await answer.text(), response);
  }
}
