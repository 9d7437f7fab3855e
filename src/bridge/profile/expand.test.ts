import fc from "fast-check";
import { expect, test } from "vitest";
import { expand, expandValue, type Placeholders } from "./expand.js";

const values: Placeholders = { MESSAGE: "m", SESSION_ID: "", SESSION_NAME: "n", PROFILE_DIR: "/p" };

/** Messages that try to break out of their place, and arbitrary ones. */
const message = fc.oneof(
  fc.string({
    unit: fc.constantFrom("$", "{", "}", "{{", "}}", "MESSAGE", "SESSION_ID", "HOME", "&", "1", "`", "'", " ", "\\", "\n", "é", "😀"),
  }),
  fc.string({ unit: "binary" }),
);
const literal = fc.string({ unit: fc.constantFrom("a", " ", "-", "$", "}", "\\", "é"), maxLength: 6 });
const hole = fc.constantFrom("{{MESSAGE}}", "{{SESSION_ID}}", "{{SESSION_NAME}}", "{{PROFILE_DIR}}", "${HOME}", "${NOPE}");
const pieces = fc.array(fc.tuple(literal, hole), { maxLength: 6 });

test("no message can change anything but its own place", () => {
  fc.assert(
    fc.property(pieces, literal, message, message, (parts, last, said, id) => {
      const given = { ...values, MESSAGE: said, SESSION_ID: id };
      const filled: Record<string, string> = {
        "{{MESSAGE}}": said,
        "{{SESSION_ID}}": id,
        "{{SESSION_NAME}}": "n",
        "{{PROFILE_DIR}}": "/p",
        "${HOME}": "{{MESSAGE}} ${NOPE}",
        "${NOPE}": "",
      };
      const template = parts.map(([before, at]) => before + at).join("") + last;
      const variables = (name: string): string => (name === "HOME" ? "{{MESSAGE}} ${NOPE}" : "");
      expect(expandValue(template, given, variables)).toBe(parts.map(([before, at]) => before + (filled[at] ?? "")).join("") + last);
      const words = parts.map(([before, at]) => before + (at.startsWith("$") ? at : (filled[at] ?? ""))).join("") + last;
      expect(expand(template, given)).toBe(words);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ["{{ MESSAGE }} {{UNKNOWN}} {{message}}", "{{ MESSAGE }} {{UNKNOWN}} {{message}}"],
  ["$HOME ${HOME:-x} ${} ${1}", "$HOME ${HOME:-x} ${} ${1}"],
  ["$${HOME}", "$/home"],
  ["${{{MESSAGE}}}", "${m}"],
  ["{{{MESSAGE}}}", "{m}"],
  ["[{{SESSION_ID}}]", "[]"],
])("%s becomes %s", (template, filled) => {
  expect(expandValue(template, values, () => "/home")).toBe(filled);
});
