import fc from "fast-check";
import { expect, test } from "vitest";
import { split } from "./split.js";

test("the pieces joined are the text, none is too long, and no character is cut", () => {
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom("\n", " ", "a", "é", "😀", "👩‍👩‍👧"), fc.string({ unit: "grapheme", maxLength: 1 })),
    maxLength: 200,
  });
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 40 }), (whole, limit) => {
      const pieces = split(whole, limit);
      expect(pieces.join("")).toBe(whole);
      expect(pieces.every((piece) => piece.length > 0 && piece.length <= limit)).toBe(true);
      if (whole.isWellFormed()) expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
    }),
  );
});

test.each([
  ["one two three\nfour", 14, ["one two three\n", "four"]],
  ["one two three four", 12, ["one two ", "three four"]],
  ["aaaaaaaaaa", 4, ["aaaa", "aaaa", "aa"]],
  ["a\nbbbbbbbbbb", 6, ["a\nbbbb", "bbbbbb"]],
  ["😀😀😀", 3, ["😀", "😀", "😀"]],
  ["", 10, []],
])("%j in pieces of %i", (text, limit, pieces) => expect(split(text, limit)).toEqual(pieces));
