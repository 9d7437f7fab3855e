import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { awsEvent, awsException, awsFrame } from "../../../../test/support/aws-frames.js";
import { BadAnswer } from "./event-bytes.js";
import { EventFrames, StreamException } from "./event-frames.js";

const ADDRESS = "http://a.example/model/x/converse-stream";
const delta = awsEvent("contentBlockDelta", { contentBlockIndex: 0, delta: { text: '"bytes":"eyJ0eXBl' } });
const stop = awsEvent("messageStop", { stopReason: "end_turn" });
const chunk = (event: unknown): Buffer => awsEvent("chunk", { bytes: Buffer.from(JSON.stringify(event)).toString("base64") });

test.each([
  ["Converse", [delta, stop, awsEvent("metadata", { usage: {} })]],
  ["Claude", [chunk({ type: "message_start" }), chunk({ type: "message_stop", "amazon-bedrock-invocationMetrics": {} })]],
])("%s: it is over with the last event and not before, however it is cut", (_, frames) => {
  const whole = Buffer.concat(frames);
  eachCut(whole, (pieces) => {
    const bytes = new EventFrames(ADDRESS);
    let passed = 0;
    for (const piece of pieces) {
      expect(bytes.pass(piece)).toEqual(piece);
      passed += piece.length;
      expect(bytes.isOver).toBe(passed === whole.length);
    }
    bytes.end();
  });
});

test.each([
  ["an exception", awsException("throttlingException", "Slow down"), "throttlingException", "Slow down"],
  ["one without JSON", awsFrame({ ":message-type": "exception", ":exception-type": "x" }, "words"), "x", "words"],
  ["an error", awsFrame({ ":message-type": "error", ":error-code": "InternalError", ":error-message": "Oh" }, ""), "InternalError", "Oh"],
])("%s: what came before it is passed on, and nothing of it can be read, however it is cut", (_, frame, type, message) => {
  eachCut(Buffer.concat([delta, frame, delta]), (pieces) => {
    const bytes = new EventFrames(ADDRESS);
    const passed: Uint8Array[] = [];
    for (const piece of pieces) if (bytes.failure === undefined) passed.push(bytes.pass(piece));
    expect(bytes.failure).toBeInstanceOf(StreamException);
    expect(bytes.failure).toMatchObject({ type, message });
    const length = Buffer.concat(passed).length;
    expect(length).toBeGreaterThanOrEqual(delta.length);
    expect(length).toBeLessThan(delta.length + frame.length);
  });
});

test("headers that are no text are passed over", () => {
  const named = (name: string, type: number, value: Buffer): Buffer =>
    Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([type]), value]);
  const lengths = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16];
  const others = lengths.map((length, type) =>
    named(`h${type}`, type, length === undefined ? Buffer.from([0, 2, 65, 66]) : randomBytes(length)),
  );
  const plain = awsException("validationException", "No");
  const headers = Buffer.concat([...others, plain.subarray(12, 12 + plain.readUInt32BE(4))]);
  const payload = plain.subarray(12 + plain.readUInt32BE(4));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(12 + headers.length + payload.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  const bytes = new EventFrames(ADDRESS);
  bytes.pass(Buffer.concat([prelude, headers, payload]));
  expect(bytes.failure).toMatchObject({ type: "validationException", message: "No" });
});

test("an end within a frame is a lost connection", () => {
  const bytes = new EventFrames(ADDRESS);
  bytes.pass(Buffer.from(delta.subarray(0, -1)));
  expect(() => bytes.end()).toThrow(expect.objectContaining({ code: "ECONNRESET" }));
});

test.each([
  ["nothing", "", "nothing came"],
  ["a page", "<html><body>Log in to go on</body></html>", "no frames"],
])("%s is no event stream", (_, text, what) => {
  const bytes = new EventFrames(ADDRESS);
  const read = (): void => {
    bytes.pass(Buffer.from(text));
    bytes.end();
  };
  expect(read).toThrow(new BadAnswer(ADDRESS, `did not answer with an event stream (${what}); check --base-url`));
});

function eachCut(whole: Buffer, check: (pieces: Buffer<ArrayBuffer>[]) => void): void {
  fc.assert(
    fc.property(fc.array(fc.nat(whole.length), { maxLength: 12 }), (cuts) => {
      const edges = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
      check(edges.slice(1).map((edge, at) => Buffer.from(whole.subarray(edges[at], edge))));
    }),
  );
}
