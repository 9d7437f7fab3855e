import { expect, test } from "vitest";
import { TimeBox } from "./time-box.js";

test("what never ends is broken off, and the box can be used again; other failures stay what they are", () => {
  const box = new TimeBox(20);
  expect(box.run(() => /^(a+)+b$/.test("a".repeat(64)))).toBeUndefined();
  expect(box.run(() => 7)).toEqual({ done: 7 });
  expect(() =>
    box.run(() => {
      throw new RangeError("no");
    }),
  ).toThrow(RangeError);
});
