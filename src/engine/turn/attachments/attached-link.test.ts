import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { followLink, nameIn, shownLink } from "./attached-link.js";
import { MAX_FILE_BYTES } from "../../tools/files/text-file.js";

const signal = new AbortController().signal;
/** May ask 127.0.0.1, and nothing else of this machine. */
const mayReach = (address: string): boolean => address === "127.0.0.1";

async function serverWith(answer: (path: string, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => answer(request.url ?? "", response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function text(uri: string): Promise<string> {
  const linked = await followLink(uri, { signal, mayReach });
  return "bytes" in linked ? Buffer.from(linked.bytes).toString() : linked.path;
}

test.each([
  ["data:,plain%20text", "plain text"],
  ["data:text/plain;charset=utf-8,h%C3%A9llo é", "héllo é"],
  ["data:;base64,aMOpbGxv", "héllo"],
  ["DATA:text/plain; base64 ,aGk%3D", "hi"],
])("%s is what it holds", async (uri, expected) => {
  expect(await text(uri)).toBe(expected);
});

test("a file is a path", async () => {
  const path = join("/tmp", "a b é.txt");
  expect(await text(pathToFileURL(path).href)).toBe(path);
});

test("a page is fetched, behind redirects to other hosts too, each of which is checked", async () => {
  const target = await serverWith((_path, response) => response.end("there"));
  const base = await serverWith((path, response) => {
    response.writeHead(302, { location: path === "/away" ? target : "http://10.0.0.1/secret" }).end();
  });
  expect(await text(`${base}/away`)).toBe("there");
  await expect(text(`${base}/private`)).rejects.toThrow("not on the open internet");
});

test("a link to something missing, too large, private or of another kind is refused in words", async () => {
  const base = await serverWith((path, response) => {
    if (path === "/large") response.end(Buffer.alloc(MAX_FILE_BYTES + 1));
    else response.writeHead(404).end("nothing");
  });
  await expect(text(`${base}/none`)).rejects.toThrow("404 Not Found");
  await expect(text(`${base}/large`)).rejects.toThrow("which is the limit");
  await expect(followLink(`${base}/x`, { signal })).rejects.toThrow("not on the open internet");
  for (const uri of ["ftp://example.com/x", "javascript:1", "u", "/etc/passwd"]) await expect(text(uri)).rejects.toThrow("can be followed");
  await expect(text("data:none")).rejects.toThrow("no comma");
  await expect(text(`data:;base64,${"A".repeat(4 * MAX_FILE_BYTES)}`)).rejects.toThrow("which is the limit");
});

test("names and addresses as they are told", () => {
  expect(nameIn("https://example.com/a/b.png?x=1")).toBe("b.png");
  expect(nameIn("data:text/plain,b.png")).toBeUndefined();
  expect(shownLink("data:image/png;base64,AAAA")).toBe("data:image/png;base64,…");
  expect(shownLink(`https://example.com/${"x".repeat(500)}`)).toHaveLength(201);
});
