import fc from "fast-check";
import { expect, test } from "vitest";
import { EventBytes } from "./event-bytes.js";

const BEFORE = 'event: a\ndata: {"text":"data: [DONE]\\n\\nevent: message_stop\\n"}\n\n: data: [DONE]\n\ndata: [DONE] or not\n\n';

test.each([
  "data: [DONE]\n\n",
  "data:[DONE]\r\n\r\n",
  "data: [DONE]\r\r",
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  'event: response.incomplete\r\ndata: {"type":"response.incomplete","response":{}}\r\n\r\n',
  'data: {"type":"response.completed","response":{"text":"so long that nothing of its beginning is near its end, or so it should be"}}\n\n',
])("it is over with the last event and not before, however it is cut: %j", (last) => {
  const text = BEFORE + last;
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 12 }), (cuts) => {
      const bytes = new EventBytes("http://a.example/", "text/event-stream");
      const edges = [0, ...cuts.toSorted((a, b) => a - b), text.length];
      for (const [at, edge] of edges.entries()) {
        bytes.pass(Buffer.from(text.slice(edges[at - 1] ?? 0, edge)));
        expect(bytes.isOver).toBe(edge === text.length);
      }
      bytes.end();
    }),
  );
});

test("it may be over with the event that has a reason for the end, and not before, however it is cut", () => {
  const told = 'data: {"candidates":[{"content":{"parts":[{"text":"\\"finishReason\\": \\"STOP\\""}]}}]}\n\n';
  const text = `${told}data: {"candidates":[{"content":{},"finishReason": "STOP"}],"usageMetadata":{}}\n\n`;
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 12 }), (cuts) => {
      const bytes = new EventBytes("http://a.example/", "text/event-stream");
      const edges = [0, ...cuts.toSorted((a, b) => a - b), text.length];
      for (const [at, edge] of edges.entries()) {
        bytes.pass(Buffer.from(text.slice(edges[at - 1] ?? 0, edge)));
        expect([bytes.mayBeOver, bytes.isOver]).toEqual([edge === text.length, false]);
      }
    }),
  );
});

test("a stream of comments is one, if its type says so", () => {
  const bytes = new EventBytes("http://a.example/", "text/event-stream");
  bytes.pass(Buffer.from(": ping\n\n"));
  expect(() => bytes.end()).not.toThrow();
});

test("events behind a byte order mark, of another type", () => {
  const bytes = new EventBytes("http://a.example/", "text/plain");
  bytes.pass(Buffer.from("\uFEFFdata: 1\n\n"));
  expect(() => bytes.end()).not.toThrow();
});
