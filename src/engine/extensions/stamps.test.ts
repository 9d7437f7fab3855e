import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isAnyChanged, Stamps } from "./stamps.js";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "parley-stamps-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test("a file that is edited, and one that goes", () => {
  const at = folder();
  writeFileSync(join(at, "a"), "one");
  const stamps = new Stamps();
  stamps.note(join(at, "a"));
  expect(stamps.changed()).toBe(false);
  writeFileSync(join(at, "a"), "three");
  expect(stamps.changed()).toBe(true);
  rmSync(join(at, "a"));
  expect(stamps.changed()).toBe(true);
});

test("a path that appears, folder by folder; what else happens there changes nothing", () => {
  const at = folder();
  const stamps = new Stamps();
  stamps.note(join(at, "x", "y", "file"));
  mkdirSync(join(at, "other"));
  expect(stamps.changed()).toBe(false);
  mkdirSync(join(at, "x"));
  expect(stamps.changed()).toBe(false);
  mkdirSync(join(at, "x", "y"));
  expect(stamps.changed()).toBe(false);
  writeFileSync(join(at, "x", "y", "file"), "");
  expect(stamps.changed()).toBe(true);
  expect(stamps.folders()).toEqual([join(at, "x", "y")]);
});

test("a link to nowhere that leads somewhere now, and a path below a file", () => {
  const at = folder();
  const elsewhere = join(folder(), "target");
  symlinkSync(elsewhere, join(at, "link"));
  writeFileSync(join(at, "plain"), "");
  const stamps = new Stamps();
  stamps.note(join(at, "link"));
  stamps.note(join(at, "plain", "below"));
  expect(stamps.changed()).toBe(false);
  writeFileSync(elsewhere, "");
  expect(stamps.changed()).toBe(true);
});

test("a folder that changes while it is looked at is looked at once", () => {
  const at = folder();
  const stamps = new Stamps();
  stamps.note(join(at, "missing"));
  let looks = 0;
  const look = (path: string): string => {
    expect(path).toBe(at);
    expect(++looks).toBe(1);
    return "a moment ago";
  };
  expect(stamps.changed(look)).toBe(false);
  expect(isAnyChanged([stamps, stamps])).toBe(false);
});

test("a path that appears after a look at its folder shows at the next", () => {
  const at = folder();
  const stamps = new Stamps();
  stamps.note(join(at, "one"));
  stamps.note(join(at, "two"));
  mkdirSync(join(at, "other"));
  expect(stamps.changed()).toBe(false);
  writeFileSync(join(at, "two"), "");
  expect(stamps.changed()).toBe(true);
  expect(stamps.changed()).toBe(true);
});
