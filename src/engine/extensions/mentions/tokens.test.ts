import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { escaped, mentionsIn, readings } from "./tokens.js";

const paths = (text: string): string[] => mentionsIn(text).map(({ path }) => path);

describe("mentions", () => {
  test("stand at the beginning of a word, bare, quoted or with escapes", () => {
    expect(paths('see @src/a.ts and @"my notes.md", (@b.md) then @c\\ d.txt')).toEqual(["src/a.ts", "my notes.md", "b.md)", "c d.txt"]);
    expect(paths("@a\n@b\t@c")).toEqual(["a", "b", "c"]);
    expect(paths("@src\\win\\x.ts")).toEqual(["src\\win\\x.ts"]);
  });

  test("are not within a word", () => {
    expect(paths("mail me@example.org, pkg@1.2.3, a/@scope/b, 5@ and @ alone")).toEqual([]);
  });

  test("are not within a fenced block, which somebody else may have written", () => {
    expect(paths("@a\n```ts\n@Component()\n```\n@b")).toEqual(["a", "b"]);
    expect(paths("@a\n````stdin\n@x\n```\n@y\n````\n@b")).toEqual(["a", "b"]);
    expect(paths("@a\n```\n@x\n```not the end\n@y")).toEqual(["a"]);
    expect(paths("``` @a")).toEqual(["a"]);
  });

  test("give punctuation back to the sentence, the longest reading first", () => {
    expect(readings("a.ts.")).toEqual(["a.ts.", "a.ts"]);
    expect(readings('b.md)."')).toEqual(['b.md)."', "b.md).", "b.md)", "b.md"]);
    expect(readings(".")).toEqual([]);
    expect(readings("..")).toEqual([]);
    expect(readings("/")).toEqual([]);
    expect(readings("./")).toEqual(["./"]);
    expect(readings("a".repeat(10) + ".".repeat(1000))).toHaveLength(6);
  });

  test("are found anywhere, in order, without overlap, and never throw", () => {
    const word = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("@", '@"', '"', "\\", " ", "\n", "@a/b", "x@y"));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 30 }), (words) => {
        const text = words.join("");
        let end = 0;
        for (const mention of mentionsIn(text)) {
          expect(mention.start).toBeGreaterThanOrEqual(end);
          expect(text[mention.start]).toBe("@");
          expect(mention.path).not.toBe("");
          expect(readings(mention.path).every((reading) => mention.path.startsWith(reading))).toBe(true);
          end = mention.end;
        }
        expect(end).toBeLessThanOrEqual(text.length);
      }),
    );
  });

  test("read back as the path that was escaped, wherever they stand", () => {
    const name = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => !/[\n\r\u2028\u2029]/.test(text));
    fc.assert(
      fc.property(name, fc.constantFrom("", "see ", "(", "\n"), (path, before) => {
        expect(paths(`${before}@${escaped(path)} rest`)).toEqual([path]);
      }),
    );
  });
});
