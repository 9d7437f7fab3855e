import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Frame } from "../core/wire.js";
import { LINE_CAP } from "../core/limits.js";
import { FrameReader, encodeLine, type Framing } from "./lines.js";

const LS = "\u2028";

function read(framing: Framing, chunks: readonly Buffer[], cap?: number): Frame[] {
  const reader = new FrameReader(framing, cap);
  return [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.end()];
}

function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((place) => place % (bytes.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
}

/** Whatever stands on a line: JSON or not, UTF-8 or not, with every character that some reader takes for a line's end. */
const line = fc.oneof(
  fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))),
  fc
    .string({
      unit: fc.constantFrom("a", '"', "{", "}", "é", "€", "😀", LS, "\u2029", "\u0085", "\0", "\r", " ", "\t", "\v", "\f"),
      maxLength: 30,
    })
    .map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
);
const end = fc.constantFrom("\n", "\r\n", "\n\n");
const stream = fc
  .tuple(fc.array(fc.tuple(line, end), { maxLength: 8 }), fc.oneof(fc.constant(Buffer.alloc(0)), line))
  .map(([lines, rest]) => Buffer.concat([...lines.flatMap(([bytes, eol]) => [bytes, Buffer.from(eol)]), rest]));
const framing = fc.constantFrom("json" as const, "text" as const);

describe("a reader of lines", () => {
  test("hears the same however the bytes are cut, over the cap or not", () => {
    fc.assert(
      fc.property(framing, stream, fc.array(fc.nat(400), { maxLength: 12 }), fc.integer({ min: 1, max: 60 }), (how, bytes, cuts, cap) => {
        expect(read(how, cut(bytes, cuts), cap)).toEqual(read(how, [bytes], cap));
        expect(read(how, cut(bytes, cuts))).toEqual(read(how, [bytes]));
      }),
      { numRuns: 500 },
    );
  });

  test("hears one byte at a time what it hears at once", () => {
    fc.assert(
      fc.property(framing, stream, fc.integer({ min: 1, max: 40 }), (how, bytes, cap) => {
        const bits = Array.from(bytes, (byte) => Buffer.from([byte]));
        expect(read(how, bits, cap)).toEqual(read(how, [bytes], cap));
      }),
    );
  });

  test("reads back every record that was written", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.array(fc.nat(500)), (records, cuts) => {
        const bytes = Buffer.from(records.map((record) => encodeLine("json", record)).join(""));
        expect(read("json", cut(bytes, cuts))).toEqual(records.map((record) => ({ rec: JSON.parse(JSON.stringify(record)) as unknown })));
      }),
    );
  });

  test("ends a line at LF and nowhere else", () => {
    const record = { text: `a${LS}b\u2029c\u0085d` };
    expect(read("json", [Buffer.from(`${JSON.stringify(record)}\n`)])).toEqual([{ rec: record }]);
    expect(read("text", [Buffer.from(`a\rb${LS}c\0d\n`)])).toEqual([{ rec: `a\rb${LS}c\0d` }]);
  });

  test("counts a last line without LF, and takes one CR off a line", () => {
    expect(read("json", [Buffer.from("1\r\n2\r"), Buffer.from("\n3")])).toEqual([{ rec: 1 }, { rec: 2 }, { rec: 3 }]);
    expect(read("text", [Buffer.from("a\r\r\nb\r")])).toEqual([{ rec: "a\r" }, { rec: "b" }]);
    expect(read("json", [])).toEqual([]);
  });

  test("passes over empty lines of JSON and keeps those of text", () => {
    const bytes = Buffer.from("\n\r\n  \na\n");
    expect(read("text", [bytes])).toEqual([{ rec: "" }, { rec: "" }, { rec: "  " }, { rec: "a" }]);
    expect(read("json", [Buffer.from("\n\r\n \t \n1\n")])).toEqual([{ rec: 1 }]);
  });

  test("passes over the byte order mark with which some programs begin", () => {
    expect(read("json", [Buffer.from("\uFEFF1\r\n\uFEFF\n2\n")])).toEqual([{ rec: 1 }, { rec: 2 }]);
    expect(read("json", [Buffer.from('"\uFEFF"\n')])).toEqual([{ rec: "\uFEFF" }]);
  });

  test("tells a line that is not JSON or not UTF-8, and goes on", () => {
    const frames = read("json", [Buffer.from("{oops\n"), Buffer.from([0x22, 0xff, 0x22, 0x0a]), Buffer.from("1\n")]);
    expect(frames).toEqual([
      { bad: expect.stringContaining("The line is not JSON"), line: "{oops" },
      { bad: "The line is not valid UTF-8", line: '"\ufffd"' },
      { rec: 1 },
    ]);
  });

  test("tells a line over the cap once, with its beginning, and goes on behind its end", () => {
    const long = "x".repeat(1000);
    const told = { bad: "The line is longer than 500 bytes and was skipped", line: "x".repeat(200), overlong: true };
    expect(read("json", [Buffer.from(`1\n${long}\n2\n${long}`)], 500)).toEqual([{ rec: 1 }, told, { rec: 2 }, told]);
    expect(read("text", [Buffer.from("12345\n123456\n")], 5)).toEqual([
      { rec: "12345" },
      { bad: expect.any(String), line: "12345", overlong: true },
    ]);
  });

  test("tells a record that is nested too deeply for anybody to walk it", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const brackets = JSON.stringify("[".repeat(100_000));
    const frames = read("json", [Buffer.from(`${deep}\n{"a":${deep}}\n${brackets}\n`)]);
    expect(frames).toEqual([
      { bad: "The line is nested more than 500 levels deep", line: "[".repeat(200) },
      { bad: "The line is nested more than 500 levels deep", line: `{"a":${"[".repeat(195)}` },
      { rec: "[".repeat(100_000) },
    ]);
    const legal = `${"[".repeat(500)}${"]".repeat(500)}`;
    expect(read("json", [Buffer.from(`${legal}\n["\\"[",${"[],".repeat(2000)}1]\n`)])).toHaveLength(2);
    expect("rec" in (read("json", [Buffer.from(legal)])[0] ?? {})).toBe(true);
  });

  test("copies a long line that comes in small pieces a bounded number of times", () => {
    const size = 2 * 1024 * 1024;
    const bytes = Buffer.from(`"${"x".repeat(size)}"\n`);
    const copied = countCopies(() => {
      const reader = new FrameReader("json");
      let heard: Frame[] = [];
      for (let at = 0; at < bytes.length; at++) heard = reader.push(bytes.subarray(at, at + 1));
      expect(heard).toEqual([{ rec: "x".repeat(size) }]);
    });
    expect(copied).toBeLessThan(4 * bytes.length);
  });
});

test("a record is one line whatever it holds", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("\n", "\r", "\ud800", "\udc00", LS, "a", "\0") }), (text) => {
      const written = encodeLine("json", { text });
      expect(written.indexOf("\n")).toBe(written.length - 1);
      expect(Buffer.from(written).toString()).toBe(written);
      expect(JSON.parse(written)).toEqual({ text });
    }),
  );
});

/** How many bytes are moved from one buffer to another meanwhile. */
function countCopies(work: () => void): number {
  const { copy } = Buffer.prototype;
  const { concat } = Buffer;
  let bytes = 0;
  Buffer.prototype.copy = function (this: Buffer, ...args: Parameters<typeof copy>) {
    const count = copy.apply(this, args);
    bytes += count;
    return count;
  };
  Buffer.concat = (list, length) => {
    const whole = concat(list, length);
    bytes += whole.length;
    return whole;
  };
  try {
    work();
  } finally {
    Buffer.prototype.copy = copy;
    Buffer.concat = concat;
  }
  return bytes;
}

describe("a record that is longer than a line may be", () => {
  const text = "é".repeat(LINE_CAP);
  const record = { type: "result", texts: [text, "short", text], count: 2 };

  test("is refused", () => {
    expect(() => encodeLine("json", record)).toThrow(`${LINE_CAP} are the limit`);
    expect(() => encodeLine("json", "x".repeat(LINE_CAP - 3))).not.toThrow();
  });

  test("or loses the middle of its long texts, and says how much that was", () => {
    const line = encodeLine("json", record, "shorten");
    const [frame] = new FrameReader("json").push(Buffer.from(line));
    const kept = expect.stringMatching(/^é+… \[\d+ characters left out: a line has \d+ bytes at most\] …é+$/);
    expect(frame).toEqual({ rec: { type: "result", texts: [kept, "short", kept], count: 2 } });
  });

  test("however many they are", () => {
    const line = encodeLine("json", Array(100).fill("\u0001".repeat(LINE_CAP / 64)), "shorten");
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(LINE_CAP);
    expect(new FrameReader("json").push(Buffer.from(line))).toEqual([{ rec: expect.any(Array) }]);
  });
});
