import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { edit } from "./edit.js";
import { read } from "./read.js";
import { bench } from "../testing.js";
import { write } from "./write.js";

test("a new file, folders and all", async () => {
  const { root, run } = await bench();
  expect(await run(write, { file_path: "a/b.txt", content: "one\ntwo\n" })).toEqual({
    parts: [
      { type: "text", text: "Created a/b.txt (2 lines)" },
      {
        type: "diff",
        path: "a/b.txt",
        before: null,
        after: "one\ntwo\n",
        patch: "--- /dev/null\n+++ b/a/b.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n",
        stat: { added: 2, removed: 0 },
      },
    ],
  });
  expect(readFileSync(join(root, "a/b.txt"), "utf8")).toBe("one\ntwo\n");
});

test("an existing file that the session never saw may be replaced", async () => {
  const { root, run } = await bench();
  writeFileSync(join(root, "a.txt"), "old\n");
  const { parts, failed } = await run(write, { file_path: join(root, "a.txt"), content: "new" });
  expect(failed).toBeUndefined();
  expect(parts).toMatchObject([
    { type: "text", text: `Updated ${join(root, "a.txt")} (1 lines)` },
    { type: "diff", path: "a.txt", before: "old\n", after: "new", stat: { added: 1, removed: 1 } },
  ]);
});

test.each([
  ["", "0 lines"],
  ["\n", "1 lines"],
  ["a\nb", "2 lines"],
])("%j has %s", async (content, said) => {
  expect(await (await bench()).say(write, { file_path: "a", content })).toContain(said);
});

test("a file changed behind the session's back is not overwritten until it is read again", async () => {
  const { root, say } = await bench();
  const file = join(root, "a.txt");
  writeFileSync(file, "one");
  await say(read, { file_path: "a.txt" });
  writeFileSync(file, "changed by hand");
  expect(await say(write, { file_path: "a.txt", content: "mine" })).toBe(
    "FAILED: a.txt was changed on disk after you last saw it. Read it again before you write it.",
  );
  expect(readFileSync(file, "utf8")).toBe("changed by hand");
  await say(read, { file_path: "a.txt" });
  expect(await say(write, { file_path: "a.txt", content: "mine" })).toBe("Updated a.txt (1 lines)");
});

test("a file that was written is seen: it may be written and edited again", async () => {
  const { say } = await bench();
  await say(write, { file_path: "a.txt", content: "one" });
  expect(await say(write, { file_path: "a.txt", content: "two" })).toBe("Updated a.txt (1 lines)");
  expect(await say(edit, { file_path: "a.txt", old_string: "two", new_string: "three" })).toBe("Edited a.txt: replaced 1 occurrence(s)");
});

test("through a link, with the target's path in the diff", async () => {
  const { root, run } = await bench();
  writeFileSync(join(root, "target"), "x\n");
  symlinkSync("target", join(root, "link"));
  expect((await run(write, { file_path: "link", content: "y\n" })).parts).toMatchObject([{}, { type: "diff", path: "target" }]);
  expect(readFileSync(join(root, "target"), "utf8")).toBe("y\n");
});

test("a binary file may be replaced, without a diff", async () => {
  const { root, run } = await bench();
  writeFileSync(join(root, "a.bin"), new Uint8Array([0, 1, 2]));
  expect((await run(write, { file_path: "a.bin", content: "text" })).parts).toEqual([{ type: "text", text: "Updated a.bin (1 lines)" }]);
});

test("the mode stays; a folder is refused; outside is refused", async () => {
  const { root, run, say } = await bench();
  writeFileSync(join(root, "run.sh"), "x", { mode: 0o755 });
  mkdirSync(join(root, "folder"));
  await run(write, { file_path: "run.sh", content: "y" });
  expect(statSync(join(root, "run.sh")).mode & 0o111).not.toBe(0);
  expect(await say(write, { file_path: "folder", content: "y" })).toMatch(/^FAILED: Failed to write file folder/);
  await expect(run(write, { file_path: "../escaped", content: "y" })).rejects.toThrow(/outside/);
  expect(write.paths({ file_path: "a", content: "" })).toEqual([{ path: "a", write: true }]);
});

test("the new text is shown beforehand, and nothing where the path is no file", async () => {
  const { root, context } = await bench();
  writeFileSync(join(root, "a.txt"), "one\n");
  mkdirSync(join(root, "folder"));
  const shown = (file_path: string) => write.preview?.({ file_path, content: "two\n" }, context.workspace, context.redactor);
  expect(await shown("a.txt")).toMatchObject([{ type: "diff", before: "one\n", after: "two\n" }]);
  expect(await shown("new.txt")).toMatchObject([{ before: null, after: "two\n" }]);
  expect(await shown("folder")).toEqual([]);
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("one\n");
});
