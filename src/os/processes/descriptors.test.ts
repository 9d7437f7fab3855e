import { closeSync, openSync } from "node:fs";
import { expect, test } from "vitest";
import { Descriptors, noneLeft, type DescriptorCount } from "./descriptors.js";

test("claims are refused before what is reserved is touched, and taken again as soon as there is room", () => {
  const count: DescriptorCount = { open: 22, limit: 128 };
  const descriptors = new Descriptors(() => ({ ...count }));
  const claim = (): boolean => {
    try {
      const opened = descriptors.claim(2);
      count.open += 2;
      opened();
      return true;
    } catch {
      return false;
    }
  };
  while (claim());
  expect(count.open).toBe(96);
  count.open -= 2;
  expect([claim(), claim()]).toEqual([true, false]);
});

test("what others opened meanwhile is seen within sixteen claims", () => {
  const count: DescriptorCount = { open: 0, limit: 1024 };
  const descriptors = new Descriptors(() => ({ ...count }));
  for (let number = 0; number < 9; number++) descriptors.claim(2)();
  count.open = 1000;
  expect(() => {
    for (let number = 0; number < 16; number++) descriptors.claim(2)();
  }).toThrow("Too many files are open (1000 of 1024) for another session; close sessions, or start this program with a higher limit");
});

test("claims whose descriptors are not open yet count, and those that were given up do not", () => {
  const descriptors = new Descriptors(() => ({ open: 22, limit: 128 }));
  const claims: (() => void)[] = [];
  const claimAll = (): number => {
    const before = claims.length;
    for (;;) {
      try {
        claims.push(descriptors.claim(2));
      } catch {
        return claims.length - before;
      }
    }
  };
  expect(claimAll()).toBe(37);
  for (const giveUp of claims.splice(0, 10)) giveUp();
  expect(claimAll()).toBe(10);
});

test("a few claims cost no count, and where nothing can be counted none is refused", () => {
  let counts = 0;
  const descriptors = new Descriptors(() => {
    counts++;
    return undefined;
  });
  for (let number = 0; number < 8; number++) descriptors.claim(2);
  expect(counts).toBe(0);
  for (let number = 0; number < 10_000; number++) descriptors.claim(2);
});

test.runIf(process.platform === "linux")("the count of this process follows what it opens", () => {
  const open = (): number => Number(/\((\d+) of \d+\)/.exec(noneLeft().message)?.[1]);
  const before = open();
  const files = Array.from({ length: 100 }, () => openSync("/dev/null", "r"));
  // Other work of this process may open and close a few meanwhile.
  expect(open()).toBeGreaterThan(before + 50);
  for (const file of files) closeSync(file);
});
