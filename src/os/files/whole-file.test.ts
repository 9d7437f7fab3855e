import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeWhole } from "./whole-file.js";

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-whole-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("what is written takes the place of what was there, for its owner alone", async () => {
  const folder = scratch();
  writeFileSync(join(folder, "a"), "before", { mode: 0o644 });
  await writeWhole(join(folder, "a"), "after");
  expect([readFileSync(join(folder, "a"), "utf8"), readdirSync(folder)]).toEqual(["after", ["a"]]);
  expect(statSync(join(folder, "a")).mode & 0o777).toBe(0o600);
});

test("what cannot be written leaves everything as it was", async () => {
  const folder = scratch();
  mkdirSync(join(folder, "a"));
  writeFileSync(join(folder, "a", "inside"), "");
  await expect(writeWhole(join(folder, "a"), "text")).rejects.toThrow("rename");
  await expect(writeWhole(join(folder, "nowhere", "b"), "text")).rejects.toThrow("ENOENT");
  expect(readdirSync(folder)).toEqual(["a"]);
});
