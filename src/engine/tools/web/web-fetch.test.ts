import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { bench, until } from "../testing.js";
import { webFetch } from "./web-fetch.js";

/** May ask 127.0.0.1, and nothing else of this machine. */
const mayReach = (address: string): boolean => address === "127.0.0.1";
const open = webFetch({ mayReach });

/** A real server on this machine; returns its address and what it was asked. */
async function serverWith(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ base: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const { port } = server.address() as AddressInfo;
  return { base: `http://127.0.0.1:${port}`, asked };
}

function sending(type: string | undefined, body: string | Uint8Array, status = 200, headers: Record<string, string> = {}) {
  return (_: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(status, { ...(type !== undefined && { "content-type": type }), ...headers });
    response.end(body);
  };
}

test("HTML as text, after the address and the status", async () => {
  const { base } = await serverWith(sending("text/html; charset=utf-8", "<h1>Hi</h1><p>Größe <a href='/b'>link</a></p>"));
  expect(await (await bench()).say(open, { url: `${base}/a` })).toBe(`${base}/a\n200 OK\n\n# Hi\n\nGröße link (${base}/b)`);
});

test.each([
  ["application/json", '{"a": "<b>"}'],
  ["text/plain", "a <b> c\n"],
  ["application/problem+json", "{}"],
  [undefined, "plain"],
])("%s as it is", async (type, body) => {
  const { base } = await serverWith(sending(type, body));
  expect(await (await bench()).say(open, { url: base })).toBe(`${base}/\n200 OK\n\n${body}`);
});

test("another charset, and an unknown one", async () => {
  const { base } = await serverWith((request, response) => {
    response.setHeader("content-type", `text/plain; charset="${request.url === "/latin" ? "iso-8859-1" : "klingon"}"`);
    response.end(Buffer.from("é", request.url === "/latin" ? "latin1" : "utf8"));
  });
  expect(await (await bench()).say(open, { url: `${base}/latin` })).toMatch(/\n\né$/);
  expect(await (await bench()).say(open, { url: `${base}/other` })).toMatch(/\n\né$/);
});

test("a page that is compressed unasked is read all the same", async () => {
  const { base } = await serverWith(sending("text/plain", gzipSync("squeezed"), 200, { "content-encoding": "gzip" }));
  expect(await (await bench()).say(open, { url: base })).toMatch(/\n\nsqueezed$/);
});

test("binary is refused with its type", async () => {
  const { base } = await serverWith(sending("application/pdf", "%PDF"));
  expect(await (await bench()).say(open, { url: base })).toBe(`FAILED: ${base}/ is not text but application/pdf.`);
  const untyped = await serverWith(sending(undefined, new Uint8Array([1, 0, 2])));
  expect(await (await bench()).say(open, { url: untyped.base })).toBe(`FAILED: ${untyped.base}/ is not text but binary data.`);
});

test("another status than 2xx fails, with the page", async () => {
  const { base } = await serverWith(sending("text/plain", "gone fishing", 404));
  expect(await (await bench()).say(open, { url: base })).toBe(`FAILED: ${base}/\n404 Not Found\n\ngone fishing`);
});

test("max_chars, and the bound of all output", async () => {
  const { base } = await serverWith(sending("text/plain", "0123456789"));
  expect(await (await bench()).say(open, { url: base, max_chars: 4 })).toContain("01\n… [6 characters left out] …\n89");
  const big = await serverWith(sending("text/plain", "x".repeat(10_000)));
  const said = await (await bench({ outputChars: 1000 })).say(open, { url: big.base, max_chars: 9000 });
  expect(said).toMatch(/\[\d{4} characters left out\]/);
  expect(said.length).toBeLessThanOrEqual(1000);
});

test("redirects are followed five times, to the final address", async () => {
  const { base, asked } = await serverWith((request, response) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) return sending("text/plain", "there")(request, response);
    response.writeHead(302, { location: `/${left - 1}` }).end();
  });
  expect(await (await bench()).say(open, { url: `${base}/5` })).toBe(`${base}/0\n200 OK\n\nthere`);
  expect(asked).toHaveLength(6);
  expect(await (await bench()).say(open, { url: `${base}/6` })).toBe(`FAILED: ${base}/6 redirects more than 5 times.`);
});

test.each([
  ["file:///etc/passwd", /only http and https/],
  ["http://user:password@example.org/", /contains a name or password/],
  ["http://169.254.169.254/latest/meta-data/", /redirects to another host: http:\/\/169\.254\.169\.254/],
  ["http://[::1]:9/", /redirects to another host/],
  ["//127.0.0.2:9/", /redirects to another host/],
  ["https://example.org/", /redirects to another host/],
])("a redirect to %s is refused", async (location, reason) => {
  const { base } = await serverWith(sending("text/plain", "", 302, { location }));
  const said = await (await bench()).say(open, { url: base });
  expect(said).toMatch(/^FAILED: /);
  expect(said).toMatch(reason);
});

test.each([
  ["ftp://example.org/", /only http and https/],
  ["file:///etc/passwd", /only http and https/],
  ["not a url", /is not a URL/],
  ["http://me@example.org/", /name or password/],
])("%s is refused", async (url, reason) => {
  expect(await (await bench()).say(webFetch(), { url })).toMatch(reason);
});

test("this machine is not asked, whatever it is called", async () => {
  const { base, asked } = await serverWith(sending("text/plain", "secret"));
  const { port } = new URL(base);
  const { say } = await bench();
  for (const host of [
    "127.0.0.1",
    "localhost",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "127.1",
    "0.0.0.0",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
  ]) {
    expect(await say(webFetch(), { url: `http://${host}:${port}/` }), host).toMatch(/^FAILED: .* is not on the open internet/);
  }
  expect(asked).toEqual([]);
});

test("a name is followed to the address that may be reached, and to no other", async () => {
  const { base } = await serverWith(sending("text/plain", "by name"));
  const url = base.replace("127.0.0.1", "localhost");
  expect(await (await bench()).say(open, { url })).toBe(`${url}/\n200 OK\n\nby name`);
  expect(await (await bench()).say(webFetch({ mayReach: () => false }), { url })).toMatch(/^FAILED: localhost is not on the open internet/);
});

test("5 MiB at most, counted after unpacking", async () => {
  const big = Buffer.alloc(5 * 1024 * 1024 + 1, "x");
  const plain = await serverWith(sending("text/plain", big));
  const packed = await serverWith(sending("text/plain", gzipSync(big), 200, { "content-encoding": "gzip" }));
  for (const { base } of [plain, packed]) {
    expect(await (await bench()).say(open, { url: base })).toBe(`FAILED: ${base}/ sends more than 5242880 bytes, which is the limit.`);
  }
});

test("a time limit for all of it, from the first word to the last", async () => {
  const silent = await serverWith(() => undefined);
  const dripping = await serverWith((_, response) => {
    response.writeHead(200, { "content-type": "text/plain" });
    response.write("a");
  });
  const tool = webFetch({ mayReach, timeLimitMs: 300 });
  for (const { base } of [silent, dripping]) {
    expect(await (await bench()).say(tool, { url: base })).toBe(`FAILED: Could not fetch ${base}: it took too long`);
  }
});

test("an interrupt ends the request", async () => {
  let closed = false;
  const { base, asked } = await serverWith((request) => {
    request.socket.on("close", () => {
      closed = true;
    });
  });
  const { run, abort } = await bench();
  const result = run(open, { url: base });
  await until(() => asked.length === 1);
  abort.abort();
  expect((await result).failed).toBe(true);
  await until(() => closed);
});

test("a server that breaks off, and one that is not there", async () => {
  const { base } = await serverWith((_, response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-length": "100" });
    response.write("half", () => response.destroy());
  });
  expect(await (await bench()).say(open, { url: base })).toMatch(/^FAILED: Could not fetch /);
  expect(await (await bench()).say(open, { url: "http://127.0.0.1:1/" })).toMatch(
    /^FAILED: Could not fetch http:\/\/127\.0\.0\.1:1\/: .*ECONNREFUSED/,
  );
});
