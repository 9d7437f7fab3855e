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
