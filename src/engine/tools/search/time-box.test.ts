import { expect, test } from "vitest";
import { TimeBox } from "./time-box.js";

test("a match that never ends is broken off, and the box can be used again; other failures pass unchanged", () => {
  const box = new TimeBox(20);
  expect(box.run(() => /^(a+)+b$/.test("a".repeat(64)))).toBeUndefined();
  // On a busy machine 20 ms may pass within any run.
  expect(untilDone(() => box.run(() => 7))).toEqual({ done: 7 });
  expect(() =>
    untilDone(() =>
      box.run(() => {
        throw new RangeError("no");
      }),
    ),
  ).toThrow(RangeError);
});

function untilDone<T>(run: () => { done: T } | undefined): { done: T } {
  return run() ?? untilDone(run);
}
