import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Pastes } from "./pastes.js";

const pasted = (text: string): string => `\u001b[200~${text}\u001b[201~`;

describe("what is pasted", () => {
  test.each([
    ["one line", "one line", "one line"],
    ["one line\r", "one line", "one line"],
    ["a\rb\r\nc\n", "[paste 1: 3 lines]", "a\nb\nc"],
    ["a\tb", "[paste 1: 1 line]", "a\tb"],
    ["\u0003", "[paste 1: 1 line]", "\u0003"],
    ["", "", ""],
  ])("%j is typed as %j and means %j", (text, line, meant) => {
    const pastes = new Pastes();
    expect(pastes.keys(pasted(text))).toBe(line);
    expect(pastes.expanded(line)).toBe(meant);
  });

  test("is found by its mark, as often as it stands there; a mark that stands for nothing is text", () => {
    const pastes = new Pastes();
    const line = `${pastes.keys(`${pasted("a\rb")} and ${pasted("c\rd")}`)}, [paste 1: 2 lines], [paste 7: 1 line]`;
    expect(pastes.expanded(line)).toBe("a\nb and c\nd, a\nb, [paste 7: 1 line]");
  });

  test("waits for its end; keys go at once, escape too", () => {
    const pastes = new Pastes();
    expect(["a", "\u001b", "\u001b[A", "\u001b[2", "00~x\r", "\u0003"].map((keys) => pastes.keys(keys))).toEqual([
      "a",
      "\u001b",
      "\u001b[A",
      "",
      "",
      "",
    ]);
    expect(pastes.keys("\u001b[201~b")).toBe("[paste 1: 2 lines]b");
  });

  test("is the same however it is cut, but for a cut behind its first byte", () => {
    const piece = fc.oneof(fc.stringMatching(/^[ -Zb-z\r\t]*$/), fc.stringMatching(/^[ -Zb-z\r\t]*$/).map(pasted));
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.nat(200)), (pieces, cuts) => {
        const whole = pieces.join("");
        const places = [...new Set(cuts)].sort((a, b) => a - b).filter((at) => at < whole.length && whole[at - 1] !== "\u001b");
        const chunks = [0, ...places].map((at, index) => whole.slice(at, places[index]));
        const [atOnce, bitByBit] = [new Pastes(), new Pastes()];
        const line = atOnce.keys(whole);
        expect(chunks.map((chunk) => bitByBit.keys(chunk)).join("")).toBe(line);
        expect(bitByBit.expanded(line)).toBe(atOnce.expanded(line));
      }),
    );
  });
});
