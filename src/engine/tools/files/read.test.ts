import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { read } from "./read.js";
import { bench, tempFolder, type Bench } from "../testing.js";

async function benchWith(content: string | Uint8Array, options: { outputChars?: number } = {}): Promise<Bench> {
  const made = await bench(options);
  writeFileSync(join(made.root, "a.txt"), content);
  return made;
}

const many = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");

test.each([
  ["one\ntwo\n", "     1\tone\n     2\ttwo"],
  ["one\ntwo", "     1\tone\n     2\ttwo"],
  ["one\r\ntwo\r\n", "     1\tone\n     2\ttwo"],
  ["\n", "     1\t"],
  ["a\u2028b\n", "     1\ta\u2028b"],
  ["\uFEFFbom", "     1\tbom"],
  ["", "(a.txt is empty)"],
])("%j reads as %j", async (content, said) => {
  expect(await (await benchWith(content)).say(read, { file_path: "a.txt" })).toBe(said);
});

test("offset counts lines from 1, and limit counts lines", async () => {
  const { say } = await benchWith(many(10));
  expect(await say(read, { file_path: "a.txt", offset: 4, limit: 2 })).toBe(
    "     4\tline 4\n     5\tline 5\n(lines 4 to 5 of 10; read on with offset 6)",
  );
  const first = "     1\tline 1\n(lines 1 to 1 of 10; read on with offset 2)";
  for (const offset of [0, 1]) expect(await say(read, { file_path: "a.txt", offset, limit: 1 })).toBe(first);
  expect(await say(read, { file_path: "a.txt", offset: 10 })).toBe("    10\tline 10");
  expect(await say(read, { file_path: "a.txt", offset: 11 })).toBe("(a.txt has 10 lines; offset 11 is past its end)");
});

test("2000 lines unless told otherwise, with a note", async () => {
  const { say } = await benchWith(many(2001));
  const lines = (await say(read, { file_path: "a.txt" })).split("\n");
  expect(lines).toHaveLength(2001);
  expect(lines.at(-1)).toBe("(lines 1 to 2000 of 2001; read on with offset 2001)");
  expect((await say(read, { file_path: "a.txt", limit: 3000 })).split("\n")).toHaveLength(2001);
});

test("no more than the output may hold, in whole lines", async () => {
  const { say } = await benchWith(many(100), { outputChars: 250 });
  expect(await say(read, { file_path: "a.txt" })).toBe(
    "     1\tline 1\n     2\tline 2\n     3\tline 3\n(lines 1 to 3 of 100; read on with offset 4)",
  );
});

test("a long line is cut with a mark, not within a character", async () => {
  const { say } = await benchWith(`${"x".repeat(1999)}😀${"y".repeat(100)}\nnext\n`);
  expect(await say(read, { file_path: "a.txt" })).toBe(
    `     1\t${"x".repeat(1999)}… [102 characters left out; Grep finds text in them, and Bash can print them]\n     2\tnext`,
  );
});

test("invalid UTF-8 is replaced", async () => {
  expect(await (await benchWith(new Uint8Array([0x61, 0xff, 0x62]))).say(read, { file_path: "a.txt" })).toBe("     1\ta\uFFFDb");
});

test("a binary file says its size", async () => {
  expect(await (await benchWith(new Uint8Array([1, 0, 2]))).say(read, { file_path: "a.txt" })).toBe("(binary file, 3 bytes)");
});

test.each([
  ["image/png", "\x89PNG\r\n\x1a\nrest"],
  ["image/jpeg", "\xff\xd8\xff\xe0rest"],
  ["image/gif", "GIF89arest"],
  ["image/webp", "RIFF\x01\x02\x03\x04WEBPrest"],
])("%s is known by its bytes, not its name", async (mime, start) => {
  const bytes = Buffer.from(start, "latin1");
  const { run } = await benchWith(bytes);
  expect(await run(read, { file_path: "a.txt" })).toEqual({
    parts: [
      { type: "image", mime, data: bytes.toString("base64"), name: "a.txt" },
      { type: "text", text: `Image a.txt (${mime}, ${bytes.length} bytes)` },
    ],
  });
});

test("text that is named like an image is text", async () => {
  const { root, say } = await bench();
  writeFileSync(join(root, "a.png"), "words");
  expect(await say(read, { file_path: "a.png" })).toBe("     1\twords");
});

test("a folder, a missing file and one with a near-by name", async () => {
  const { root, say } = await bench();
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "src/server.ts"), "");
  expect(await say(read, { file_path: "src" })).toBe("FAILED: Failed to read file src: it is a folder. Use Glob to list its files.");
  expect(await say(read, { file_path: "src/quite-different.py" })).toBe("FAILED: Failed to read file src/quite-different.py: no such file");
  for (const near of ["src/sever.ts", "src/Server.ts", "src/server.js"]) {
    expect(await say(read, { file_path: near })).toBe(`FAILED: Failed to read file ${near}: no such file. Did you mean src/server.ts?`);
  }
  expect(await say(read, { file_path: "none/x.ts" })).toBe("FAILED: Failed to read file none/x.ts: no such file");
});

test("a missing file names its nearest neighbours, also in other folders, and none that a rule hides", async () => {
  const { root, context, say } = await bench();
  mkdirSync(join(root, "src/deep"), { recursive: true });
  for (const name of ["src/user.ts", "src/users.ts", "src/deep/config.ts"]) writeFileSync(join(root, name), "");
  const missing = (file: string): string => `FAILED: Failed to read file ${file}: no such file`;
  expect(await say(read, { file_path: "src/usr.ts" })).toBe(`${missing("src/usr.ts")}. Did you mean src/user.ts, or src/users.ts?`);
  expect(await say(read, { file_path: "lib/config.ts" })).toBe(`${missing("lib/config.ts")}. Did you mean src/deep/config.ts?`);
  context.hiding = () => (path) => path.endsWith("users.ts") || path.endsWith("config.ts");
  expect(await say(read, { file_path: "src/usr.ts" })).toBe(`${missing("src/usr.ts")}. Did you mean src/user.ts?`);
  expect(await say(read, { file_path: "lib/config.ts" })).toBe(missing("lib/config.ts"));
});

test("a notebook comes as its cells, with the text of their outputs", async () => {
  const { root, context, say } = await bench();
  context.redactor.add("hunter2-hunter2");
  const cells = [
    { cell_type: "markdown", source: ["# Title\n", "words"] },
    {
      cell_type: "code",
      source: "print(1)",
      outputs: [
        { output_type: "stream", text: ["1\n"] },
        { output_type: "display_data", data: { "image/png": "AAAA", "text/plain": "<Figure>" } },
        { output_type: "error", ename: "NameError", evalue: "hunter2-hunter2", traceback: ["\u001b[31mline 1\u001b[0m"] },
      ],
    },
  ];
  writeFileSync(join(root, "a.ipynb"), JSON.stringify({ cells, nbformat: 4 }));
  const lines = (await say(read, { file_path: "a.ipynb" })).split("\n").map((line) => line.replace(/^ *\d+\t/, ""));
  expect(lines).toEqual([
    "--- cell 1 of 2 (markdown) ---",
    "# Title",
    "words",
    "--- cell 2 of 2 (code) ---",
    "print(1)",
    "--- output ---",
    "1",
    "<Figure>",
    "(image/png, not shown)",
    "NameError: [redacted]",
    "line 1",
    expect.stringContaining("The file itself is JSON"),
  ]);
  writeFileSync(join(root, "b.ipynb"), "not JSON");
  expect(await say(read, { file_path: "b.ipynb" })).toBe("     1\tnot JSON");
});

test("a PDF comes as the text of its pages, and says so where that cannot be had", async () => {
  const bin = await tempFolder();
  const put = (script: string): void => writeFileSync(join(bin, "pdftotext"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const { root, say } = await bench({ env: { PATH: bin } });
  writeFileSync(join(root, "a.pdf"), "%PDF-1.7 \0");
  expect(await say(read, { file_path: "a.pdf" })).toMatch(
    /^FAILED: Failed to read a\.pdf: it is a PDF, and .*pdftotext.* is not installed/,
  );
  put(`printf 'one\\ntwo\\n\\n\\fthree\\n\\f'`);
  expect(await say(read, { file_path: "a.pdf" })).toBe(
    ["     1\t--- page 1 of 2 ---", "     2\tone", "     3\ttwo", "     4\t--- page 2 of 2 ---", "     5\tthree"].join("\n"),
  );
  put(`printf '\\f'`);
  expect(await say(read, { file_path: "a.pdf" })).toMatch(/no text, only pictures of pages \(1\)/);
  put("echo 'Incorrect password' >&2; exit 1");
  expect(await say(read, { file_path: "a.pdf" })).toMatch(/pdftotext could not read it: Incorrect password$/);
});

test("more than 20 MiB is refused", async () => {
  const { run } = await benchWith(Buffer.alloc(20 * 1024 * 1024 + 1, "x"));
  await expect(run(read, { file_path: "a.txt" })).rejects.toThrow(/20971520 bytes are the limit/);
});

test("an image that no line could carry to the host is refused", async () => {
  const png = (size: number): Buffer => Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(size)]);
  const large = await benchWith(png(8 * 1024 * 1024));
  expect(await large.say(read, { file_path: "a.txt" })).toMatch(/^FAILED: Failed to read image a.txt: it has 8388616 bytes, and 7864320 /);
  const small = await benchWith(png(7 * 1024 * 1024));
  expect((await small.run(read, { file_path: "a.txt" })).failed).toBeUndefined();
});

test("a file that was read is seen, by its real path", async () => {
  const { root, context, run } = await benchWith("x");
  symlinkSync("a.txt", join(root, "link"));
  expect(context.seen.stampOf(join(root, "a.txt"))).toBeUndefined();
  await run(read, { file_path: "link" });
  expect(context.seen.stampOf(join(root, "a.txt"))).toBe((await context.workspace.info(join(root, "a.txt")))?.stamp);
});

test("only where the engine lets it", async () => {
  await expect((await bench()).run(read, { file_path: "/etc/hosts" })).rejects.toThrow(/outside the workspace/);
});

test("arguments", () => {
  expect(read.problem({ file_path: "a", offset: -1 })).toMatch(/^offset: /);
  expect(read.problem({ file_path: "a", limit: 0 })).toMatch(/^limit: /);
  expect(read.problem({})).toMatch(/^file_path: /);
  expect(read.paths({ file_path: "a" })).toEqual([{ path: "a", write: false }]);
});
