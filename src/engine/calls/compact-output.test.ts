import fc from "fast-check";
import { expect, test } from "vitest";
import { compactOutput } from "./compact-output.js";

test.each([
  ["colours", "\u001b[1;31mred\u001b[0m and \u001b]8;;https://x\u0007a link\u001b]8;;\u0007", "red and a link"],
  ["progress that is written over", "10%\r50%\r100%\ndone\r\n", "100%\ndone\n"],
  ["trailing blanks", "a  \t\nb ", "a\nb"],
  ["empty lines", "a\n\n\n\nb\n\nc", "a\n\nb\n\nc"],
  ["nothing", "", ""],
  ["indentation stays", "  a\n    b", "  a\n    b"],
])("safe: %s", (_, text, expected) => {
  expect(compactOutput(text, "safe")).toBe(expected);
  expect(compactOutput(text, "off")).toBe(text);
});

test.each([
  ["identical lines", "a\na\na\nb", "a\n[... 2 identical lines]\nb"],
  ["lines that differ in their numbers", "step 1 of 9\nstep 2 of 9\nstep 3 of 9", "step 1 of 9\n[... 2 similar lines]"],
  ["two of them stay", "a\na\nb\nb", "a\na\nb\nb"],
  ["the layout of JSON", '{\n  "a": [\n    1,\n    2\n  ]\n}\n', '{"a":[1,2]}'],
  ["what only looks like JSON", "[info] a\n{b", "[info] a\n{b"],
])("full: %s", (_, text, expected) => {
  expect(compactOutput(text, "full")).toBe(expected);
});

test("nothing is left to do the second time, and no more is said than before", () => {
  const line = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom("a", "a 1", "a 2", "", "\u001b[0m", "x\ry"));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      const safe = compactOutput(lines.join("\n"), "safe");
      expect(compactOutput(safe, "safe")).toBe(safe);
      expect(safe.length).toBeLessThanOrEqual(lines.join("\n").length);
      expect(safe).not.toMatch(/\n\n\n|[ \t]\n/);
    }),
  );
});
