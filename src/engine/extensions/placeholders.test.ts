import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fillIn, splitWords } from "./placeholders.js";

describe("placeholders", () => {
  test.each([
    ["all of it, as written", "Fix $ARGUMENTS now", `a  "b c"`, `Fix a  "b c" now`],
    ["single ones", "$1 and $2", "x y", "x and y"],
    ["quotes keep spaces", "<$1> <$2>", `"a b" 'c d'`, "<a b> <c d>"],
    ["braces", "${1}s and ${2}s", "cat dog", "cats and dogs"],
    ["a default where there is nothing", "${1:main} ${2:dev branch}", "x", "x dev branch"],
    ["a default without any arguments", "on ${1:main}", "", "on main"],
    ["an empty default", "<${2:}>", "x", "<>"],
    ["one that is missing", "<$1> <$2>", "x", "<x> <>"],
    ["prices and longer numbers stay", "$10 $0 $ARGUMENTS_X $", "x", "$10 $0 $ARGUMENTS_X $\n\n<arguments>\nx\n</arguments>"],
    ["shell code stays where nothing is given", "awk '{print $1}'", "", "awk '{print $1}'"],
    ["what nobody takes is appended", "Do it.", " now \n", "Do it.\n\n<arguments>\nnow\n</arguments>"],
    ["no arguments, nothing appended", "Do it.", "  ", "Do it."],
    ["arguments are not looked into", "$1 $2", "$2 $1", "$2 $1"],
    ["special patterns of replace are text", "<$ARGUMENTS>", "$& $' $$", "<$& $' $$>"],
  ])("%s", (_, text, args, filled) => {
    expect(fillIn(text, args)).toBe(filled);
  });

  test("words", () => {
    expect(splitWords(`a "b c"d 'e "f' "open end`)).toEqual(["a", "b cd", 'e "f', "open end"]);
    expect(splitWords(`'' x`)).toEqual(["", "x"]);
  });
});

test("text without a placeholder stays, with the arguments behind it", () => {
  fc.assert(
    fc.property(
      fc.string().filter((text) => !text.includes("$")),
      fc.string(),
      (text, args) => {
        const filled = fillIn(text, args);
        expect(filled.startsWith(text)).toBe(true);
        expect(filled.includes(args.trim())).toBe(true);
      },
    ),
  );
});

test("each word lands in its place, whatever it holds", () => {
  const words = fc.array(fc.stringMatching(/^[a-z${}0-9:]{1,10}$/), { minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(words, (given) => {
      const text = given.map((_, index) => (index % 2 === 0 ? `[$${index + 1}]` : `[\${${index + 1}:no}]`)).join("|");
      expect(fillIn(text, given.join(" "))).toBe(given.map((word) => `[${word}]`).join("|"));
    }),
  );
});
