import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratch } from "../../../test/support/processes.js";
import { makeFolder, syncFolder } from "./folders.js";

test("a folder is made with its parents, all of them with the same rights", () => {
  const root = scratch();
  makeFolder(join(root, "a/b/c"), 0o700);
  for (const path of ["a", "a/b", "a/b/c"]) expect(statSync(join(root, path)).mode & 0o777).toBe(0o700);
});

test("what is there stays as it is", () => {
  const root = scratch();
  mkdirSync(join(root, "a"), { mode: 0o755 });
  makeFolder(join(root, "a"), 0o700);
  expect(statSync(join(root, "a")).mode & 0o777).toBe(0o755);
});

test("where none can be made it says so, and does not try for ever", () => {
  const file = join(scratch(), "file");
  writeFileSync(file, "");
  expect(() => makeFolder(join(file, "a/b"))).toThrow(/ENOTDIR/);
  expect(() => makeFolder("/proc/parley/a/b")).toThrow(/ENOENT|EACCES/);
});

test("a folder is synced; one that is not there is an error", async () => {
  await syncFolder(scratch());
  await expect(syncFolder(join(scratch(), "none"))).rejects.toThrow(/ENOENT/);
});
