import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { capped, CappedStream } from "./reply.js";

const text = fc.string({ unit: fc.constantFrom("a", "é", "😀", "\u{1F469}\u200D\u{1F680}", "\n", "\ud83d") });

describe("a reply", () => {
  test("has at most so many code points, and the suffix on top when some are missing", () => {
    fc.assert(
      fc.property(text, fc.nat(20), fc.constantFrom("", "[cut]"), (reply, max, suffix) => {
        const all = Array.from(reply);
        const cut = capped(reply, max, suffix);
        expect(cut.truncated).toBe(all.length > max);
        expect(cut.text).toBe(all.length > max ? all.slice(0, max).join("") + suffix : reply);
      }),
    );
  });

  test("without a cap is whole", () => {
    expect(capped("x".repeat(9000), undefined, "[cut]")).toEqual({ text: "x".repeat(9000), truncated: false });
  });
});

describe("a stream of pieces", () => {
  test("is capped in sum, wherever the pieces were cut", () => {
    fc.assert(
      fc.property(fc.array(text.map((piece) => piece.replaceAll("\ud83d", ""))), fc.nat(20), (pieces, max) => {
        const stream = new CappedStream(max, "[cut]");
        const out = pieces.flatMap((piece) => stream.push(piece));
        expect(out).not.toContain("");
        expect(out.join("")).toBe(capped(pieces.join(""), max, "[cut]").text);
        expect(stream.truncated).toBe(Array.from(pieces.join("")).length > max);
      }),
    );
  });

  test("that ends exactly at the cap has no suffix, until more follows", () => {
    const stream = new CappedStream(5, "[cut]");
    expect([stream.push("abcde"), stream.truncated]).toEqual([["abcde"], false]);
    expect([stream.push("f"), stream.push("g"), stream.truncated]).toEqual([["[cut]"], [], true]);
  });
});
