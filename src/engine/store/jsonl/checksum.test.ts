import fc from "fast-check";
import { expect, test } from "vitest";
import { isSealed, seal, unseal } from "./checksum.js";

test("a sealed object is the same with one key more, and comes back as it was", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1, maxKeys: 4 }), (value) => {
      const json = JSON.stringify(value);
      const line = seal(json);
      expect(line).toMatch(/^\{.*,"sum":"[0-9a-f]{8}"\}$/s);
      expect(JSON.parse(line)).toEqual({ ...JSON.parse(json), sum: line.slice(-10, -2) });
      expect([unseal(Buffer.from(line)), isSealed(Buffer.from(line))]).toEqual([json, true]);
    }),
    { numRuns: 50 },
  );
});

test("a line without a checksum is taken as it is", () => {
  for (const line of [
    "",
    "{}",
    "-",
    '{"kind":"lost","at":1}',
    '{"text":"\\",\\"sum\\":\\"01234567"}',
    '{"kind":"seen","stamp":"12345678"}',
  ]) {
    expect([unseal(Buffer.from(line)), isSealed(Buffer.from(line))]).toEqual([line, false]);
  }
});

test("no flipped bit is taken for the whole, nor for what has no checksum", () => {
  for (const json of ['{"a":1}', '{"text":"日本語 \\n \\",\\"sum\\":\\"01234567"}', `{"text":"${"x".repeat(300)}"}`]) {
    const line = Buffer.from(seal(json));
    for (let bit = 0; bit < 8 * line.length; bit++) {
      const damaged = Buffer.from(line);
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect([bit, unseal(damaged)]).toEqual([bit, undefined]);
    }
  }
});
