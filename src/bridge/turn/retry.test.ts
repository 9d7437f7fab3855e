import fc from "fast-check";
import { expect, test } from "vitest";
import { retryMs } from "./retry.js";

const HOUR = 3_600_000;

test("whatever the other side asks for, it is never hammered and never forgotten", () => {
  fc.assert(
    fc.property(fc.nat(100), fc.option(fc.double(), { nil: undefined }), (failures, asked) => {
      const ms = retryMs(failures, asked);
      expect(ms).toBeGreaterThanOrEqual(250);
      expect(ms).toBeLessThanOrEqual(HOUR);
    }),
  );
});

test("it has the time that it asks for", () => {
  fc.assert(fc.property(fc.nat(100), fc.integer({ min: 500, max: HOUR }), (failures, asked) => retryMs(failures, asked) === asked));
});

test("without a word of it, waits double up to a minute", () => {
  for (const [failures, longest] of [
    [0, 500],
    [1, 1000],
    [6, 32_000],
    [7, 60_000],
    [2000, 60_000],
  ] as const) {
    expect(retryMs(failures)).toBeLessThanOrEqual(longest);
    expect(retryMs(failures)).toBeGreaterThanOrEqual(longest / 2);
  }
});
