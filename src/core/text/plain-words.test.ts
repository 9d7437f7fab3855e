import fc from "fast-check";
import { expect, test } from "vitest";
import { withoutCommand, withoutMentions } from "./plain-words.js";

test("every @ is a letter afterwards, and one that was a letter stays as it is", () => {
  expect(withoutMentions("see @a.ts, me@example.org and @@b")).toBe("see \\@a.ts, me\\@example.org and \\@\\@b");
  expect(withoutMentions("\\@a")).toBe("\\@a");
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("@", "\\", "a", " ", '"') }), (text) => {
      const once = withoutMentions(text);
      expect(once).not.toMatch(/(?<!\\)@/);
      expect(withoutMentions(once)).toBe(once);
      expect(once.replaceAll("\\@", "@")).toBe(text.replaceAll("\\@", "@"));
    }),
  );
});

test("a text that begins as a command does begins with a character that nobody sees", () => {
  expect(withoutCommand(" /compact now")).toBe("\u200b /compact now");
  expect(withoutCommand("a /compact")).toBe("a /compact");
  expect(withoutCommand("?", /^\s*[/?]/)).toBe("\u200b?");
});
