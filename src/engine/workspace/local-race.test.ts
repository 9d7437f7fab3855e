/** Another process swaps links while files are used: whatever it hits, nothing outside the workspace is read, written or listed. */
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { localWorkspace } from "./local.js";
import { swapping } from "../../../test/support/swapping.js";
import { tempFolder } from "../tools/testing.js";
import type { Workspace } from "./workspace.js";

const TRIES = 600;

/** A workspace with `folder/file`, and the same names outside of it, where another word is written. */
async function surroundings(): Promise<{ workspace: Workspace; root: string; outside: string }> {
  const base = realpathSync(await tempFolder());
  const [root, outside] = [join(base, "work"), join(base, "outside")];
  for (const [place, word] of [
    [root, "inside"],
    [outside, "outside"],
  ] as const) {
    mkdirSync(join(place, "folder"), { recursive: true });
    writeFileSync(join(place, "folder/file"), word);
  }
  return { workspace: await localWorkspace(root, { env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" } }), root, outside };
}

/** Does what was judged to lie inside; what fails is tried again. */
async function tries(workspace: Workspace, name: string, use: (path: string) => Promise<unknown>): Promise<void> {
  for (let left = TRIES; left > 0; left--) {
    try {
      const { path, inside } = await workspace.resolve(name);
      if (inside) await use(path);
    } catch {
      // It was not there just then, or no longer what was judged.
    }
  }
}

test("no write lands outside while a folder is swapped for a link", async () => {
  const { workspace, root, outside } = await surroundings();
  await swapping(join(root, "folder"), join(outside, "folder"));
  let nth = 0;
  await tries(workspace, "folder/file", (path) => workspace.write(`${path}${nth++}`, "x"));
  expect(readdirSync(join(outside, "folder"))).toEqual(["file"]);
});

test("no write lands outside while a file is swapped for a link", async () => {
  const { workspace, root, outside } = await surroundings();
  await swapping(join(root, "folder/file"), join(outside, "folder/file"));
  await tries(workspace, "folder/file", (path) => workspace.write(path, "x"));
  expect(readFileSync(join(outside, "folder/file"), "utf8")).toBe("outside");
});

test.each(["folder", "folder/file"])("nothing outside is read or looked at while %s is swapped for a link", async (swapped) => {
  const { workspace, root, outside } = await surroundings();
  writeFileSync(join(outside, "folder/file"), "much longer outside");
  await swapping(join(root, swapped), join(outside, swapped));
  const seen = new Set<string>();
  await tries(workspace, "folder/file", async (path) => {
    seen.add(`${(await workspace.info(path))?.size ?? "gone"}`);
    seen.add(Buffer.from(await workspace.read(path, 100)).toString());
  });
  expect([...seen].filter((text) => !["6", "inside", "gone"].includes(text))).toEqual([]);
});

test("no program starts outside while its folder is swapped for a link", async () => {
  const { workspace, root, outside } = await surroundings();
  await swapping(join(root, "folder"), join(outside, "folder"));
  const seen = new Set<string>();
  for (let left = 60; left > 0; left--) {
    const cwd = join(root, "folder");
    let said = "";
    const running = await workspace.exec({ argv: ["cat", "file"], cwd, onOutput: (_, text) => (said += text) }).catch(() => undefined);
    await running?.exited;
    seen.add(said);
  }
  expect([...seen].filter((text) => text.includes("outside"))).toEqual([]);
});
