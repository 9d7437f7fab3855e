import fc from "fast-check";
import { expect, test } from "vitest";
import { capText, headOf, OutputBuffer, wellFormed } from "./output.js";

/** Strings with pairs, lone surrogates and plain letters. */
const text = fc.array(fc.constantFrom("a", "b", "\n", "é", "😀", "\uD83D", "\uDE00"), { maxLength: 60 }).map((pieces) => pieces.join(""));
const isWellFormed = (value: string): boolean => !/\p{Surrogate}/u.test(value);

test("short text stays as it is", () => {
  expect(capText("hello", 5)).toBe("hello");
  expect(capText("", 0)).toBe("");
});

test("long text keeps head and tail around a line that counts the rest", () => {
  expect(capText("0123456789", 4)).toBe("01\n… [6 characters left out] …\n89");
  expect(capText("0123456789", 3)).toBe("01\n… [7 characters left out] …\n9");
  expect(capText("0123456789", 1)).toBe("0\n… [9 characters left out] …\n");
  expect(capText("0123456789", 0)).toBe("\n… [10 characters left out] …\n");
});

test("a pair is never cut", () => {
  expect(capText("😀😀😀", 2)).toBe("\n… [6 characters left out] …\n");
  expect(capText("a😀b😀c", 4)).toBe("a\n… [5 characters left out] …\nc");
  expect(headOf("a😀", 2)).toBe("a");
});

test("lone surrogates are replaced", () => {
  expect(wellFormed("a\uD83Db😀")).toBe("a\uFFFDb😀");
  expect(capText("\uDE00", 5)).toBe("\uFFFD");
});

test("law: well-formed, and no longer than the bound and the marker", () => {
  fc.assert(
    fc.property(text, fc.nat(70), (whole, max) => {
      const capped = capText(whole, max);
      const marker = /\n… \[\d+ characters left out\] …\n/.exec(capped)?.[0] ?? "";
      expect(isWellFormed(capped)).toBe(true);
      expect(capped.length).toBeLessThanOrEqual(max + marker.length);
      expect(marker === "").toBe(whole.length <= max);
    }),
  );
});

test("law: the kept and the counted make up the whole", () => {
  fc.assert(
    fc.property(text, fc.nat(70), (whole, max) => {
      const match = /^([^]*)\n… \[(\d+) characters left out\] …\n([^]*)$/.exec(capText(whole, max));
      fc.pre(match !== null);
      const [, head = "", count = "", tail = ""] = match ?? [];
      expect(head.length + Number(count) + tail.length).toBe(whole.length);
      expect(wellFormed(whole.slice(0, head.length))).toBe(head);
      expect(wellFormed(whole.slice(whole.length - tail.length))).toBe(tail);
    }),
  );
});

test("law: however a text is cut into chunks, the buffer says what capText says", () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(60)), fc.nat(70), fc.nat(70), (whole, cuts, max, less) => {
      const buffer = new OutputBuffer(max);
      const places = [0, ...cuts.filter((cut) => cut <= whole.length).sort((a, b) => a - b), whole.length];
      for (const [index, place] of places.entries()) buffer.push(whole.slice(places[index - 1] ?? 0, place));
      expect(buffer.text()).toBe(capText(whole, max));
      expect(buffer.text(Math.min(less, max))).toBe(capText(whole, Math.min(less, max)));
      expect(buffer.length).toBe(whole.length);
    }),
    { numRuns: 500 },
  );
});

test("a long stream stays in bounded memory", () => {
  const buffer = new OutputBuffer(1000);
  const chunk = "x".repeat(64 * 1024);
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < 16_384; index++) buffer.push(chunk);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * 1024 * 1024);
  expect(buffer.text()).toContain(`[${1024 ** 3 - 1000} characters left out]`);
});
