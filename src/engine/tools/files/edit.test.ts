import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { plainText } from "../../../core/content.js";
import { edit } from "./edit.js";
import { read } from "./read.js";
import { bench } from "../testing.js";
import { write } from "./write.js";

/** Edits a file that holds `before` and was read; tells what was said and what the file holds then. */
async function edited(before: string | Uint8Array, args: Record<string, unknown>): Promise<{ said: string; after: string }> {
  const { root, say } = await bench();
  writeFileSync(join(root, "a.txt"), before);
  await say(read, { file_path: "a.txt" });
  const said = await say(edit, { file_path: "a.txt", ...args });
  return { said, after: readFileSync(join(root, "a.txt"), "utf8") };
}

const ONCE = "Edited a.txt: replaced 1 occurrence(s)";

test("one occurrence, with a diff", async () => {
  const { root, run } = await bench();
  writeFileSync(join(root, "a.txt"), "one\ntwo\n");
  await run(read, { file_path: "a.txt" });
  expect(await run(edit, { file_path: "a.txt", old_string: "two", new_string: "three" })).toEqual({
    parts: [
      { type: "text", text: ONCE },
      {
        type: "diff",
        path: "a.txt",
        before: "one\ntwo\n",
        after: "one\nthree\n",
        patch: "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n",
        stat: { added: 1, removed: 1 },
      },
    ],
  });
});

test("the change is shown beforehand; an edit that would fail shows nothing", async () => {
  const { root, context, run } = await bench();
  writeFileSync(join(root, "a.txt"), "one\ntwo\none\n");
  mkdirSync(join(root, "folder"));
  const shown = (args: Record<string, unknown>) =>
    edit.preview?.({ file_path: "a.txt", new_string: "x", ...args }, context.workspace, context.redactor);
  const preview = await shown({ old_string: "two" });
  expect(preview).toMatchObject([{ type: "diff", before: "one\ntwo\none\n", after: "one\nx\none\n" }]);
  expect(await shown({ old_string: "one", replace_all: true })).toMatchObject([{ after: "x\ntwo\nx\n" }]);
  for (const args of [{ old_string: "one" }, { old_string: "nothing" }, { old_string: "two", file_path: "folder" }, { old_string: "" }])
    expect(await shown(args)).toEqual([]);
  await run(read, { file_path: "a.txt" });
  expect((await run(edit, { file_path: "a.txt", old_string: "two", new_string: "x" })).parts[1]).toEqual(preview?.[0]);
});

test.each([
  [
    "several, unasked",
    "a b a",
    { old_string: "a", new_string: "x" },
    "FAILED: Multiple matches found (2), in line 1. Use replace_all or provide more context.",
    "a b a",
  ],
  ["several, asked", "a b a", { old_string: "a", new_string: "x", replace_all: true }, "Edited a.txt: replaced 2 occurrence(s)", "x b x"],
  ["none", "abc", { old_string: "z", new_string: "x" }, "FAILED: old_string not found in file a.txt", "abc"],
  ["dollar signs", "abc", { old_string: "b", new_string: "$&$1$$`" }, ONCE, "a$&$1$$`c"],
  ["a pattern's characters", "a.c abc", { old_string: "a.c", new_string: "x" }, ONCE, "x abc"],
  ["deletion", "abc", { old_string: "b", new_string: "" }, ONCE, "ac"],
  ["CRLF, one line by two", "a\r\nb\r\n", { old_string: "a", new_string: "x\ny" }, ONCE, "x\r\ny\r\nb\r\n"],
  ["CRLF, over lines", "a\r\nb\r\nc\r\n", { old_string: "a\nb", new_string: "x\ny\nz" }, ONCE, "x\r\ny\r\nz\r\nc\r\n"],
  ["CRLF, given as such", "a\r\nb\r\n", { old_string: "a\r\nb", new_string: "x\r\ny" }, ONCE, "x\r\ny\r\n"],
  ["mixed, LF part", "a\nb\r\nc\n", { old_string: "a\nb", new_string: "x\ny" }, ONCE, "x\ny\r\nc\n"],
  ["mixed, CRLF part", "a\nb\r\nc\n", { old_string: "b\nc", new_string: "x\ny" }, ONCE, "a\nx\r\ny\n"],
  ["LF", "a\nb\n", { old_string: "a\nb", new_string: "x\ny" }, ONCE, "x\ny\n"],
  ["a byte order mark stays", "\uFEFFa\n", { old_string: "a", new_string: "b" }, ONCE, "\uFEFFb\n"],
  [
    "the same",
    "a",
    { old_string: "a", new_string: "a" },
    "FAILED: old_string and new_string are the same; there is nothing to change.",
    "a",
  ],
])("%s", async (_, before, args, said, after) => {
  expect(await edited(before, args)).toEqual({ said, after });
});

test.each([
  ["trailing space", "a  \nb\n", { old_string: "a\nb", new_string: "a\nc" }, "trailing space or line ends", "a  \nc\n"],
  ["line ends of a mixed file", "a\r\nb\nc\r\n", { old_string: "a\nb\nc", new_string: "a\nx\nc" }, "line ends", "a\r\nx\r\nc\r\n"],
  [
    "less indentation",
    "if x:\n        a\n\n          b\n",
    { old_string: "a\n\n  b", new_string: "a\n\n  c\n  d" },
    "indentation",
    "if x:\n        a\n\n          c\n          d\n",
  ],
  ["more indentation", "\ta\n\t\tb\n", { old_string: "\t\ta\n\t\t\tb\n", new_string: "\t\tx\n" }, "indentation", "\tx\n"],
  [
    "curly quotes",
    "say \u201Chello\u201D, he said\n",
    { old_string: 'say "hello", he', new_string: 'say "hello", she' },
    "quotes or dashes",
    "say \u201Chello\u201D, she said\n",
  ],
  [
    "a long dash in an indented block",
    "  a \u2014 b\n  c\n",
    { old_string: "a - b\nc", new_string: "a - b\nd" },
    "indentation, quotes or dashes",
    "  a \u2014 b\n  d\n",
  ],
  ["lines that go", "a \nb\nc\n", { old_string: "a\nb\n", new_string: "" }, "trailing space or line ends", "c\n"],
])("a quote that differs in %s alone is found, and the file's own is kept", async (_, before, args, words, after) => {
  const said = `${ONCE}\n(old_string differs from the file in ${words}; the file's own was kept)`;
  expect(await edited(before, args)).toEqual({ said, after });
});

test.each([
  [
    "two shifted places",
    "  a\n  b\n\n    a\n    b\n",
    { old_string: "a\nb", new_string: "c" },
    /But for indentation it stands in lines 1, 4:/,
  ],
  [
    "a block whose lines are shifted unevenly",
    "  aaa\n   bbb\n",
    { old_string: "aaa\nbbb", new_string: "c" },
    /^FAILED: old_string not found/,
  ],
  [
    "a new line with less indentation than is taken away",
    "aaa\n  bbb\n",
    { old_string: "  aaa\n    bbb", new_string: "  aaa\nccc" },
    /^FAILED: old_string not found/,
  ],
  ["replace_all", "  aaa\n  bbb\n", { old_string: "aaa\nbbb", new_string: "c", replace_all: true }, /replace_all matches exactly/],
  ["several exact places", "x\na\na\n", { old_string: "a", new_string: "b" }, /^FAILED: Multiple matches found \(2\), in lines 2, 3\. /],
])("%s: nothing is guessed", async (_, before, args, said) => {
  const done = await edited(before, args);
  expect(done).toEqual({ said: expect.stringMatching(said), after: before });
});

test("a miss shows the nearest lines with their numbers, redacted", async () => {
  const { root, context, say } = await bench();
  context.redactor.add("hunter2-hunter2");
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at + 1}`);
  lines.splice(20, 3, "function add(a, b) {", "  return a + b; // hunter2-hunter2", "}");
  writeFileSync(join(root, "a.txt"), lines.join("\n"));
  await say(read, { file_path: "a.txt" });
  const args = { file_path: "a.txt", old_string: "function add(a, b) {\n  return a - b;\n}", new_string: "x" };
  expect(await say(edit, args)).toBe(
    [
      "FAILED: old_string not found in file a.txt. The nearest lines are:",
      "    20\tline 20",
      "    21\tfunction add(a, b) {",
      "    22\t  return a + b; // [redacted]",
      "    23\t}",
      "    24\tline 24",
    ].join("\n"),
  );
  expect(await say(edit, { ...args, old_string: "function add(a, c) {" })).toContain("    21\tfunction add(a, b) {");
});

test("a miss in a file of 20 MB is told as well", async () => {
  const filler = `${"some words of a long line ".repeat(4)}\n`;
  const before = `${filler.repeat(190_000)}needle in the hay\nand more\n`;
  const args = { old_string: "needle in the hay\nand less", new_string: "x" };
  const { said } = await edited(before, args);
  expect(said).toContain("190001\tneedle in the hay");
  const alike = await edited(filler.repeat(190_000), { old_string: "some words\n".repeat(500), new_string: "x" });
  expect(alike.said).toMatch(/^FAILED: old_string not found/);
}, 120_000);

test("several edits are made in order, all or none", async () => {
  const edits = [
    { old_string: "one", new_string: "1" },
    { old_string: "1 two", new_string: "1 2" },
    { old_string: "x", new_string: "y", replace_all: true },
  ];
  expect(await edited("one two x x", { edits })).toEqual({ said: "Edited a.txt: replaced 4 occurrence(s)", after: "1 2 y y" });
  expect((await edited("one two x", { old_string: "", new_string: "", edits })).after).toBe("1 2 y");
  expect(
    (await edited("one two x", { old_string: "two", new_string: "three", edits: [{ old_string: "three", new_string: "3" }] })).after,
  ).toBe("one 3 x");
  expect(await edited("one two", { edits })).toEqual({
    said: "FAILED: No edit was made. edit 3 of 3: old_string not found in file a.txt (replace_all matches exactly)",
    after: "one two",
  });
});

test("an edit needs both strings or a list", () => {
  const message = "give old_string and new_string, or edits with an old_string and a new_string each";
  for (const args of [{}, { old_string: "a" }, { edits: [] }]) expect(edit.problem({ file_path: "a", ...args })).toBe(message);
  expect(edit.problem({ file_path: "a", edits: [{ old_string: "a" }] })).toMatch(/^edits\.0\.new_string: /);
});

test("law: a shifted block comes back shifted", async () => {
  const line = fc.string({ unit: fc.constantFrom("a", "b", "(", " "), minLength: 1, maxLength: 6 });
  const { root, say } = await bench();
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 6 }), fc.constantFrom("\t", "  ", "    "), async (lines, shift) => {
      const block = ["begin {", ...lines, "}"];
      const moved = block.map((each) => (each.trim() === "" ? each : shift + each));
      writeFileSync(join(root, "a.txt"), ["first", ...moved, "last"].join("\n"));
      await say(read, { file_path: "a.txt" });
      const put = [...block.slice(0, -1), "end"].join("\n");
      const said = await say(edit, { file_path: "a.txt", old_string: block.join("\n"), new_string: put });
      expect(said).toMatch(/^Edited/);
      expect(readFileSync(join(root, "a.txt"), "utf8")).toBe(["first", ...moved.slice(0, -1), `${shift}end`, "last"].join("\n"));
    }),
    { numRuns: 40 },
  );
});

test("an empty old_string is refused", async () => {
  expect((await edited("a", { old_string: "", new_string: "b" })).said).toMatch(/^FAILED: old_string is empty/);
});

test("a file that is not UTF-8 is left alone", async () => {
  const bytes = new Uint8Array([0x61, 0xff, 0x62]);
  const { root, say } = await bench();
  writeFileSync(join(root, "a.txt"), bytes);
  await say(read, { file_path: "a.txt" });
  expect(await say(edit, { file_path: "a.txt", old_string: "a", new_string: "b" })).toMatch(/^FAILED: .*not UTF-8/);
  expect([...readFileSync(join(root, "a.txt"))]).toEqual([...bytes]);
});

test("the text that another program writes meanwhile is not lost", async () => {
  const { root, context, say } = await bench();
  const path = join(root, "a.txt");
  writeFileSync(path, "one\n");
  await say(read, { file_path: "a.txt" });
  const { workspace } = context;
  const during = {
    ...workspace,
    read: async (...args: Parameters<typeof workspace.read>) => {
      const bytes = await workspace.read(...args);
      writeFileSync(path, "theirs\n");
      return bytes;
    },
  };
  const args = { file_path: "a.txt", old_string: "one", new_string: "two" };
  expect(plainText((await edit.run(args, { ...context, workspace: during })).parts)).toMatch(/^a\.txt was changed on disk/);
  writeFileSync(path, "one\n");
  await say(read, { file_path: "a.txt" });
  const whole = { file_path: "a.txt", content: "ours" };
  expect(plainText((await write.run(whole, { ...context, workspace: during })).parts)).toMatch(/^a\.txt was changed on disk/);
  expect(readFileSync(path, "utf8")).toBe("theirs\n");
});

test("unseen, changed, missing, a folder", async () => {
  const { root, say } = await bench();
  const args = { file_path: "a.txt", old_string: "a", new_string: "b" };
  expect(await say(edit, args)).toBe("FAILED: Failed to edit a.txt: no such file. To make a new file use Write.");
  writeFileSync(join(root, "a.txt"), "a");
  expect(await say(edit, args)).toBe("FAILED: You must Read a.txt before editing it.");
  await say(read, { file_path: "a.txt" });
  writeFileSync(join(root, "a.txt"), "a, changed");
  expect(await say(edit, args)).toBe("FAILED: a.txt was changed on disk after you last saw it. Read it again before you edit it.");
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("a, changed");
  mkdirSync(join(root, "folder"));
  expect(await say(edit, { ...args, file_path: "folder" })).toBe("FAILED: Failed to edit folder: it is not a file.");
});

test("one edit after another", async () => {
  const { root, say } = await bench();
  writeFileSync(join(root, "a.txt"), "1 2 3");
  await say(read, { file_path: "a.txt" });
  for (const [from, to] of [
    ["1", "one"],
    ["2", "two"],
    ["3", "three"],
  ]) {
    expect(await say(edit, { file_path: "a.txt", old_string: from, new_string: to })).toBe(ONCE);
  }
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("one two three");
});

test("law: replace_all is the literal replaceAll", async () => {
  const { root, say } = await bench();
  const piece = fc.string({ unit: fc.constantFrom("a", "b", "$", "&", "\n", "é"), minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 8 }), piece, piece, async (pieces, find, put) => {
      fc.pre(find !== put);
      const before = pieces.join("") + find;
      writeFileSync(join(root, "a.txt"), before);
      await say(read, { file_path: "a.txt" });
      await say(edit, { file_path: "a.txt", old_string: find, new_string: put, replace_all: true });
      expect(readFileSync(join(root, "a.txt"), "utf8")).toBe(before.replaceAll(find, () => put));
    }),
    { numRuns: 40 },
  );
});
