import fc from "fast-check";
import { expect, test } from "vitest";
import { RecordRedactor } from "./redact-records.js";
import { Redactor } from "./redact.js";

const SECRET = "sk-secret-0123456789";

interface Delta {
  type: string;
  text: string;
}

function through(redactor: Redactor, records: readonly [lane: string, record: Delta][]): Delta[] {
  const stream = new RecordRedactor<Delta>(redactor);
  return [...records.flatMap(([lane, record]) => stream.push(lane, record, undefined)), ...stream.flush()].map(({ value }) => value);
}

test("a secret that is split over records is masked once, where it begins", () => {
  const pieces = ["the key is sk-se", "cret-0", "123456789 and that"];
  const out = through(
    new Redactor([SECRET]),
    pieces.map((text) => ["out", { type: "delta", text }]),
  );
  expect(out.map(({ text }) => text)).toEqual(["the key is [redacted]", "", " and that"]);
});

test("records of the other direction, and of another kind, may come between", () => {
  const out = through(new Redactor([SECRET]), [
    ["out", { type: "delta", text: "a sk-secret-" }],
    ["in", { type: "ping", text: "x" }],
    ["out", { type: "delta", text: "of another session" }],
    ["out", { type: "delta", text: "0123456789 b" }],
  ]);
  expect(out.map(({ text }) => text)).toEqual(["a [redacted]", "x", "of another session", " b"]);
});

test("the other direction does not continue it", () => {
  const records: [string, Delta][] = [
    ["out", { type: "delta", text: "a sk-secret-" }],
    ["in", { type: "delta", text: "0123456789 b" }],
  ];
  expect(through(new Redactor([SECRET]), records)).toEqual(records.map(([, record]) => record));
});

test("what might be a beginning waits for so many records and no more", () => {
  const stream = new RecordRedactor<Delta>(new Redactor([SECRET]));
  expect(stream.push("out", { type: "delta", text: "ends with s" }, undefined)).toEqual([]);
  let released = 0;
  for (let count = 0; count < 4; count++) released += stream.push("out", { type: "delta", text: "other" }, undefined).length;
  expect(released).toBe(5);
});

const TOKEN = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
const LONG = `sk-ant-api03-${"AbCdEfGhIj0123456789".repeat(4)}`;
const KEY_LINE = `MIIEvQIBADANBgkqhkiG9w0BAQEF${"AbCd0123".repeat(4)}`;

test.each([TOKEN, LONG])("%s is masked by its shape, in one record and over several", (secret) => {
  const of = (...texts: string[]): string[] =>
    through(
      new Redactor(),
      texts.map((text) => ["out", { type: "delta", text }]),
    ).map(({ text }) => text);
  expect(of(`a ${secret} b`, "c")).toEqual(["a [redacted] b", "c"]);
  expect(of(`a ${secret.slice(0, 2)}`, secret.slice(2, 30), secret.slice(30), " b")).toEqual(["a [redacted]", "", "", " b"]);
  expect(of(`a ${secret.slice(0, 20)}`, `${secret.slice(20)}.`, "hello")).toEqual(["a [redacted]", ".", "hello"]);
  expect(of(`a ${secret}`, "hello there")).toEqual(["a [redacted]", "hello there"]);
});

test("the rest of a long secret whose beginning was enough in one record is masked in the next", () => {
  const out = through(new Redactor(), [
    ["out", { type: "delta", text: `a ${LONG.slice(0, 60)}` }],
    ["out", { type: "delta", text: `${LONG.slice(60)} b` }],
  ]);
  expect(out.map(({ text }) => text)).toEqual(["a [redacted]", " b"]);
});

test("a private key that comes line by line is masked", () => {
  const lines = ["-----BEGIN PRIVATE KEY-----\n", `${KEY_LINE}\n`, `${KEY_LINE}\n`, "-----END PRIVATE KEY-----\n", `${KEY_LINE}\n`];
  const out = through(
    new Redactor(),
    lines.map((text) => ["out", { type: "delta", text }]),
  );
  expect(out.map(({ text }) => text)).toEqual([lines[0], "[redacted]\n", "[redacted]\n", lines[3], lines[4]]);
});

test("a direction that falls silent holds back a bounded number of records", () => {
  const stream = new RecordRedactor<Delta>(new Redactor([SECRET]));
  stream.push("out", { type: "delta", text: "ends with s" }, undefined);
  let released = 0;
  for (let count = 0; count < 1000; count++) released += stream.push("in", { type: "delta", text: "other" }, undefined).length;
  expect(released).toBeGreaterThan(900);
});

test("law: however it is cut, the text reads as if it had been redacted whole; without secrets every record is itself", () => {
  const secrets = fc.array(fc.stringMatching(/^[abc]{8,12}$/), { minLength: 1, maxLength: 3 });
  const words = fc.array(fc.oneof(fc.stringMatching(/^[abc]{0,6}$/), fc.nat({ max: 2 })), { maxLength: 12 });
  fc.assert(
    fc.property(secrets, words, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (given, said, sizes) => {
      const text = said.map((word) => (typeof word === "number" ? `<${given[word] ?? ""}>` : word)).join("");
      const pieces: string[] = [];
      for (let at = 0, next = 0; at < text.length; next++) {
        const size = sizes[next % sizes.length] ?? 1;
        pieces.push(text.slice(at, at + size));
        at += size;
      }
      const redactor = new Redactor(given);
      const out = through(
        redactor,
        pieces.map((piece) => ["out", { type: "delta", text: piece }]),
      );
      const joined = out.map((record) => record.text).join("");
      expect(out).toHaveLength(pieces.length);
      for (const secret of given) expect(joined).not.toContain(secret);
      if (!given.some((secret) => text.includes(secret))) expect(joined).toBe(text);
    }),
  );
});

test("law: however it is cut, no shape is left in a text, and one without a shape stays as it is", () => {
  const word = fc.oneof(
    fc.constantFrom(TOKEN, LONG, "hello ", "sk-", "e", " ", "ghp_short", ". ", "x\n"),
    fc.stringMatching(/^[a-z ]{0,6}$/),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), fc.integer({ min: 1, max: 12 }), (words, size) => {
      const text = words.join("");
      const redactor = new Redactor();
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      const out = through(
        redactor,
        pieces.map((piece) => ["out", { type: "delta", text: piece }]),
      );
      expect(out).toHaveLength(pieces.length);
      const joined = out.map((record) => record.text).join("");
      // A record does not know what the one before ended with, so it takes the middle of a word for the beginning of one.
      if (!text.includes(TOKEN) && !text.includes(LONG)) expect(joined).toBe(text);
      expect(redactor.text(joined)).toBe(joined);
    }),
  );
});
