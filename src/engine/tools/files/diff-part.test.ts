import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { diffParts } from "./diff-part.js";
import { tempFolder } from "../testing.js";

async function patchOf(path: string, before: string | null, after: string): Promise<string> {
  const [part] = await diffParts(path, before, after);
  return part?.patch ?? "";
}

/** Applies the patch to `before`, and returns the new text of the file. */
function applied(folder: string, program: string, path: string, before: string | null, patch: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  if (before === null) execFileSync("rm", ["-f", file]);
  else writeFileSync(file, before);
  const argv = program === "git" ? ["apply", "--whitespace=nowarn", "-"] : ["-p1", "--binary", "--quiet"];
  execFileSync(program, argv, {
    cwd: folder,
    input: patch,
    stdio: ["pipe", "ignore", "pipe"],
    env: { ...process.env, GIT_CEILING_DIRECTORIES: dirname(folder) },
  });
  return readFileSync(file, "utf8");
}

test("the form", async () => {
  expect(await diffParts("src/a.txt", "one\ntwo\n", "one\nthree\nfour\n")).toEqual([
    {
      type: "diff",
      path: "src/a.txt",
      before: "one\ntwo\n",
      after: "one\nthree\nfour\n",
      patch: "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,2 +1,3 @@\n one\n-two\n+three\n+four\n",
      stat: { added: 2, removed: 1 },
    },
  ]);
  expect(await patchOf("new.txt", null, "x\n")).toBe("--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,1 @@\n+x\n");
  expect(await patchOf("/etc/x", "a\n", "b\n")).toMatch(/^--- a\/etc\/x\n\+\+\+ b\/etc\/x\n/);
});

test("an unchanged file has no patch", async () => {
  expect(await diffParts("a", "x\n", "x\n")).toMatchObject([{ patch: "", stat: { added: 0, removed: 0 } }]);
});

const CASES: [string, string, string | null, string][] = [
  ["a change", "a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"],
  ["a new file", "deep/new.txt", null, "hello\nworld\n"],
  ["a new file without a last newline", "new.txt", null, "hello"],
  ["a newline taken away", "a.txt", "x\ny\n", "x\ny"],
  ["a newline added", "a.txt", "x\ny", "x\ny\n"],
  ["from empty", "a.txt", "", "x\n"],
  ["to empty", "a.txt", "x\ny\n", ""],
  ["CRLF", "a.txt", "a\r\nb\r\n", "a\r\nc\r\n"],
  ["a name with blanks", "my file.txt", "a\n", "b\n"],
  ["a name beyond ASCII", "größe.txt", "a\n", "b\n"],
  ["lines that look like headers", "a.txt", "-- x\n++ y\n", "-- z\n++ y\n"],
];

test.each(["git", "patch"])("%s applies it", async (program) => {
  const folder = await tempFolder();
  for (const [what, path, before, after] of CASES) {
    const patch = await patchOf(path, before, after);
    expect(applied(folder, program, path, before, patch), what).toBe(after);
  }
});

test("git makes an empty file of it", async () => {
  expect(applied(await tempFolder(), "git", "empty.txt", null, await patchOf("empty.txt", null, ""))).toBe("");
});

test("law: whatever the lines, git applies it", async () => {
  const folder = await tempFolder();
  const text = fc
    .array(fc.constantFrom("a\n", "b\n", "\n", "c\r\n", "-x\n", "+x\n", "end"), { maxLength: 12 })
    .map((lines) => lines.join(""));
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      fc.pre(before !== after);
      expect(applied(folder, "git", "a.txt", before, await patchOf("a.txt", before, after))).toBe(after);
    }),
    { numRuns: 40 },
  );
});

test("a text that is too different to compare in time becomes one hunk, which applies as well", async () => {
  const before = Array.from({ length: 60_000 }, (_, index) => `old ${index}\n`).join("");
  const after = Array.from({ length: 60_000 }, (_, index) => `new ${index * 7}\n`).join("");
  const [part] = await diffParts("a.txt", before, after.trimEnd());
  expect(part?.stat).toEqual({ added: 60_000, removed: 60_000 });
  expect(part?.patch.match(/^@@ .*$/gm)).toEqual(["@@ -1,60000 +1,60000 @@"]);
  expect(applied(await tempFolder(), "git", "a.txt", before, part?.patch ?? "")).toBe(after.trimEnd());
});

test("texts of many megabytes go without a diff", async () => {
  expect(await diffParts("a.txt", "x".repeat(3_000_000), "y".repeat(3_000_000))).toEqual([]);
});
