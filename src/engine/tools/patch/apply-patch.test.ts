import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { read } from "../files/read.js";
import { bench, type Bench } from "../testing.js";
import { applyPatch } from "./apply-patch.js";

function patch(...lines: string[]): { input: string } {
  return { input: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") };
}

/** A workspace with these files, each of them read. */
async function withFiles(files: Record<string, string>): Promise<Bench> {
  const made = await bench();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(made.root, name)), { recursive: true });
    writeFileSync(join(made.root, name), content);
    await made.say(read, { file_path: name });
  }
  return made;
}

/** The file behind an update with these lines, and the tool's words. */
async function updated(before: string, ...lines: string[]): Promise<{ said: string; after: string }> {
  const { root, say } = await withFiles({ "a.txt": before });
  const said = await say(applyPatch, patch("*** Update File: a.txt", ...lines));
  return { said, after: readFileSync(join(root, "a.txt"), "utf8") };
}

test("one patch adds, updates, moves and deletes, and tells each change", async () => {
  const { root, run } = await withFiles({ "src/a.ts": "one\ntwo\nthree\n", "b.sh": "old\n", "gone.txt": "x\n" });
  chmodSync(join(root, "b.sh"), 0o755);
  await run(read, { file_path: "b.sh" });
  const { parts, failed } = await run(
    applyPatch,
    patch(
      "*** Add File: new/c.txt",
      "+first",
      "+",
      "*** Update File: src/a.ts",
      "@@",
      " one",
      "-two",
      "+2",
      " three",
      "*** Update File: b.sh",
      "*** Move to: bin/b.sh",
      "@@",
      "-old",
      "+new",
      "*** Delete File: gone.txt",
    ),
  );
  expect(failed).toBeUndefined();
  expect(parts[0]).toEqual({
    type: "text",
    text: "Created new/c.txt (2 lines)\nUpdated src/a.ts\nUpdated b.sh and moved it to bin/b.sh\nDeleted gone.txt",
  });
  expect(parts.slice(1)).toMatchObject([
    { type: "diff", path: "new/c.txt", before: null, after: "first\n\n" },
    { type: "diff", path: "src/a.ts", before: "one\ntwo\nthree\n", after: "one\n2\nthree\n" },
    { type: "diff", path: "bin/b.sh", before: "old\n", after: "new\n", patch: expect.stringContaining("rename from b.sh") },
    { type: "diff", path: "gone.txt", before: "x\n", after: "", patch: expect.stringContaining("+++ /dev/null") },
  ]);
  expect(readFileSync(join(root, "new/c.txt"), "utf8")).toBe("first\n\n");
  expect(readFileSync(join(root, "src/a.ts"), "utf8")).toBe("one\n2\nthree\n");
  expect(readFileSync(join(root, "bin/b.sh"), "utf8")).toBe("new\n");
  expect(statSync(join(root, "bin/b.sh")).mode & 0o777).toBe(0o755);
  expect([existsSync(join(root, "b.sh")), existsSync(join(root, "gone.txt"))]).toEqual([false, false]);
});

test.each([
  ["an anchor finds the place among equal ones", "def a\n  x\ndef b\n  x\n", ["@@ def b", "-  x", "+  y"], "def a\n  x\ndef b\n  y\n"],
  [
    "two anchors",
    "class A\n  def m\n    x\nclass B\n  def m\n    x\n",
    ["@@ class B", "@@ def m", "-    x", "+    y"],
    "class A\n  def m\n    x\nclass B\n  def m\n    y\n",
  ],
  ["several hunks, in any order", "a\nb\nc\nd\n", ["@@", "-d", "+D", "@@", "-a", "+A"], "A\nb\nc\nD\n"],
  ["the end of the file", "x\ny\nx\n", ["@@", "-x", "+z", "*** End of File"], "x\ny\nz\n"],
  ["lines alone go to the end", "a", ["@@", "+b"], "a\nb\n"],
  ["lines alone go behind their anchor", "a\nb\n", ["@@ a", "+x"], "a\nx\nb\n"],
  ["a blank line without its mark stays", "a\n\nb\n", ["@@", " a", "", "-b", "+c"], "a\n\nc\n"],
  ["lines that go leave nothing behind", "a\nb\nc\n", ["@@", "-b"], "a\nc\n"],
  ["numbers of lines are no anchor", "a\nb\n", ["@@ -1,2 +1,2 @@", " a", "-b", "+c"], "a\nc\n"],
  ["CRLF stays", "a\r\nb\r\n", ["@@", " a", "-b", "+c", "+d"], "a\r\nc\r\nd\r\n"],
  ["trailing space that goes", "a  \n", ["@@", "-a  ", "+a"], "a\n"],
])("%s", async (_, before, lines, after) => {
  expect(await updated(before, ...lines)).toEqual({ said: "Updated a.txt", after });
});

test("a hunk that is shifted as a whole is found, and its new lines are shifted, too", async () => {
  expect(await updated("if x:\n    a\n    b\n", "@@", " a", "-b", "+c")).toEqual({
    said: "Updated a.txt\n(a.txt: the hunk differs from the file in indentation; the file's own was kept)",
    after: "if x:\n    a\n    c\n",
  });
});

test.each([
  ["several places", "x\ny\nx\n", ["@@", "-x", "+z"], /a\.txt: the hunk could stand in lines 1, 3\. Give it more unchanged lines/],
  [
    "no place",
    "one\ntwo lines\n",
    ["@@", "-two lanes", "+3"],
    /do not stand in the file\. The nearest lines are:\n {5}1\tone\n {5}2\ttwo lines$/,
  ],
  ["overlapping hunks", "a\nb\nc\n", ["@@", "-a", "-b", "+x", "@@", "-b", "-c", "+y"], /hunk 2 of 2 overlaps/],
  ["a mask in a quote", "a\n", ["@@", "-k=[redacted]", "+b"], /the hunk not found in file a\.txt: it holds "\[redacted\]"/],
  ["a mask in a new line", "a\n", ["@@", "-a", "+k=[redacted]"], /a\.txt was not written: .*Change the other lines alone/s],
  ["nothing new", "a\n", ["@@", "-a", "+a"], /leaves every file as it is/],
])("%s: nothing is changed, and the reason is told", async (_, before, lines, said) => {
  expect(await updated(before, ...lines)).toEqual({ said: expect.stringMatching(said), after: before });
});

test("one section that cannot be made keeps all others from being made", async () => {
  const { root, say } = await withFiles({ "a.txt": "a\n" });
  const first = ["*** Update File: a.txt", "@@", "-a", "+b", "*** Add File: new.txt", "+x"];
  for (const [last, why] of [
    [["*** Delete File: none.txt"], /Failed to delete none\.txt: no such file/],
    [["*** Update File: none.txt", "@@", "-a", "+b"], /Failed to update none\.txt: no such file/],
    [["*** Add File: a.txt", "+x"], /a\.txt is there already/],
    [["*** Update File: a.txt", "*** Move to: new.txt"], /Failed to move a\.txt to new\.txt: there is a file of that name/],
    [["*** Delete File: ../out.txt"], /outside the workspace/],
  ] as const) {
    const said = await say(applyPatch, patch(...first, ...last)).catch(String);
    expect(said).toMatch(why);
    expect([readFileSync(join(root, "a.txt"), "utf8"), existsSync(join(root, "new.txt"))]).toEqual(["a\n", false]);
  }
});

test("a write that fails takes the others back", async () => {
  const { root, context, say } = await withFiles({ "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" });
  const { workspace } = context;
  const remove = workspace.remove.bind(workspace);
  workspace.remove = (path) => (path.endsWith("c.txt") ? Promise.reject(new Error("the disk is full")) : remove(path));
  const sections = [
    "*** Update File: a.txt",
    "@@",
    "-a",
    "+A",
    "*** Add File: new.txt",
    "+x",
    "*** Update File: b.txt",
    "*** Move to: d.txt",
  ];
  const said = await say(applyPatch, patch(...sections, "*** Delete File: c.txt"));
  expect(said).toBe("FAILED: the disk is full. All files are as they were.");
  const names = ["a.txt", "b.txt", "c.txt", "d.txt", "new.txt"];
  const contents = names.map((name) => (existsSync(join(root, name)) ? readFileSync(join(root, name), "utf8") : null));
  expect(contents).toEqual(["a\n", "b\n", "c\n", null, null]);
});

test("a file is read before it is updated, and a stale one is read again", async () => {
  const { root, say } = await bench();
  writeFileSync(join(root, "a.txt"), "secret words\n");
  const update = patch("*** Update File: a.txt", "@@", "-secret wards", "+x");
  expect(await say(applyPatch, update)).toBe("FAILED: Nothing was changed. You must Read a.txt before updating it.");
  await say(read, { file_path: "a.txt" });
  writeFileSync(join(root, "a.txt"), "changed by others\n");
  expect(await say(applyPatch, update)).toMatch(/was changed on disk after you last saw it/);
  expect(await say(applyPatch, patch("*** Delete File: a.txt"))).toMatch(/was changed on disk after you last saw it/);
});

test("a file that was not read may be deleted, and its content is not shown to the model", async () => {
  const { root, run } = await bench();
  writeFileSync(join(root, "a.txt"), "words\n");
  expect(await run(applyPatch, patch("*** Delete File: a.txt"))).toEqual({ parts: [{ type: "text", text: "Deleted a.txt" }] });
});

test("a secret that goes with a deleted file is told", async () => {
  const { context, run } = await withFiles({ "a.env": "k=hunter2-hunter2\n" });
  context.redactor.add("hunter2-hunter2");
  const shown = await applyPatch.preview?.(patch("*** Delete File: a.env"), context.workspace, context.redactor);
  expect(shown).toMatchObject([{ type: "diff" }, { type: "text", text: expect.stringContaining("1 secret of the file") }]);
  expect((await run(applyPatch, patch("*** Delete File: a.env"))).parts).toMatchObject([
    { type: "text" },
    { type: "diff" },
    { type: "text" },
  ]);
});

test.each([
  ["*** Update File: a\n", /^input: the patch must begin with the line/],
  ["*** Begin Patch\n*** Update File: a\n@@\n-a", /has no line "\*\*\* End Patch": it was cut off/],
  ["*** Begin Patch\n*** End Patch", /changes no file/],
  [
    "*** Begin Patch\n*** Add File: a\nwords\n*** End Patch",
    /line 3 of the patch: each line of an added file begins with "\+", not "words"/,
  ],
  ["*** Begin Patch\n*** Update File: a\n@@\n?a\n*** End Patch", /line 4 of the patch: each line of a hunk begins/],
  ["*** Begin Patch\n*** Update File: a\n*** End Patch", /nothing is changed in a/],
  ["*** Begin Patch\n*** Rename File: a\n*** End Patch", /expected "\*\*\* Add File: PATH"/],
])("%j is refused before anything is asked", (input, problem) => {
  expect(applyPatch.problem({ input })).toMatch(problem);
});

test("a fence or a shell command around the patch does not count, nor do blank lines between sections", async () => {
  const { root, say } = await withFiles({ "a.txt": "a\n" });
  const { input } = patch("", "*** Update File: a.txt", "@@", "-a", "+b", "", "*** Add File: c.txt", "+c", "");
  expect(await say(applyPatch, { input: `apply_patch <<'EOF'\n${input.replaceAll("\n", "\r\n")}\nEOF\n` })).toMatch(
    /^Updated a\.txt\nCreated c\.txt/,
  );
  expect([readFileSync(join(root, "a.txt"), "utf8"), readFileSync(join(root, "c.txt"), "utf8")]).toEqual(["b\n", "c\n"]);
});

test("the paths, the title and the equal calls of a patch", () => {
  const args = patch("*** Add File: a", "+x", "*** Update File: b", "*** Move to: c", "*** Delete File: it's");
  expect(applyPatch.paths(args).map(({ path, write }) => [path, write])).toEqual(["a", "b", "c", "it's"].map((path) => [path, true]));
  expect(applyPatch.title(args)).toBe("Apply a patch: add a, update b → c, delete it's");
  expect(applyPatch.equivalents?.(args).map(({ tool, path, args: { command } }) => [tool, path ?? command])).toEqual([
    ["Write", "a"],
    ["Edit", "b"],
    ["Write", "c"],
    ["Write", "b"],
    ["Bash", "rm b"],
    ["Write", "it's"],
    ["Bash", "rm 'it'\\''s'"],
  ]);
});
