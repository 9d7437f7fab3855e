import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratch } from "../../../test/support/processes.js";
import { LogFile, readLines } from "./log-file.js";

test("what is appended after a repair begins a line of its own", async () => {
  const file = join(scratch(), "log.jsonl");
  writeFileSync(file, '{"a":1}\n{"torn":');
  const log = LogFile.open(file);
  log.append('{"b":2}');
  await log.close();
  expect(readFileSync(file, "utf8")).toBe('{"a":1}\n{"b":2}\n');
});

test("lines longer than a chunk, and places in the middle of a file", () => {
  const file = join(scratch(), "log.jsonl");
  const long = "é".repeat(700_000);
  writeFileSync(file, `first\n${long}\nlast\nunfinished`);
  expect([...readLines(file, 0)]).toEqual(["first", long, "last"]);
  expect([...readLines(file, 6)]).toEqual([long, "last"]);
  expect([...readLines(file, 10_000_000)]).toEqual([]);
  const log = LogFile.open(file);
  expect(log.size).toBe(6 + Buffer.byteLength(long) + 1 + 5);
  expect(log.before(5, 3).toString()).toBe("rst");
  expect(log.before(2, 100).toString()).toBe("fi");
});

test("syncs that come together are shared, and each waits for what was appended before it", async () => {
  const file = join(scratch(), "log.jsonl");
  const log = LogFile.open(file);
  const done: string[] = [];
  log.append("1");
  const first = log.sync().then(() => done.push("first"));
  log.append("2");
  const second = log.sync();
  const third = log.sync();
  expect(second).toBe(third);
  await Promise.all([first, second.then(() => done.push("second")), third]);
  expect(done).toEqual(["first", "second"]);
  await log.close();
});

test("a line that the disk refuses leaves nothing behind", () => {
  const file = LogFile.open("/dev/full");
  expect(() => file.append("x")).toThrow(/ENOSPC/);
  expect(file.size).toBe(0);
});

test("a closed log takes no more, and closing again is nothing", async () => {
  const file = join(scratch(), "log.jsonl");
  const log = LogFile.open(file);
  log.append("1");
  await log.close();
  await log.close();
  expect(() => log.append("2")).toThrow("the log is closed");
  appendFileSync(file, "x");
  expect([...readLines(file, 0)]).toEqual(["1"]);
});
