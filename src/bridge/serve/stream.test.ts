import { getEventListeners } from "node:events";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Stream } from "./stream.js";

const { signal } = new AbortController();

test("whatever the chat's pace, everything is told once and in order, and no character is halved", async () => {
  const piece = fc.string({
    unit: fc.oneof(fc.constantFrom("\n", " ", "\ud83d", "\ude00", "a"), fc.string({ unit: "grapheme", maxLength: 1 })),
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), fc.scheduler(), async (pieces, scheduler) => {
      const told: string[] = [];
      const stream = new Stream({ quiet: () => scheduler.schedule(Promise.resolve()), tell: (text) => told.push(text), signal });
      const producer = async (): Promise<void> => {
        for (const text of pieces) {
          void stream.push(text);
          await scheduler.schedule(Promise.resolve());
        }
      };
      const produced = producer();
      await scheduler.waitFor(produced);
      const rest = stream.finish();
      await scheduler.waitIdle();
      expect(told.join("") + rest).toBe(pieces.join(""));
      if (pieces.join("").isWellFormed()) expect(told.every((text) => text.isWellFormed())).toBe(true);
      expect(told.every((text) => text.trim() !== "")).toBe(true);
    }),
  );
});

test("one that is finished listens to its turn no more", () => {
  const controller = new AbortController();
  const stream = new Stream({ quiet: () => new Promise(() => {}), tell: () => {}, signal: controller.signal });
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
  stream.finish();
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});

test("what comes while the chat is busy is joined", async () => {
  const told: string[] = [];
  let free = (): void => {};
  const stream = new Stream({ quiet: () => new Promise((resolve) => (free = resolve)), tell: (text) => told.push(text), signal });
  void stream.push("a");
  await Promise.resolve();
  for (const text of ["b", "c", "d"]) void stream.push(text);
  free();
  await new Promise(setImmediate);
  expect(told).toEqual(["abcd"]);
});

test("an agent that is far ahead of its chat waits", async () => {
  let free = (): void => {};
  const stream = new Stream({ quiet: () => new Promise((resolve) => (free = resolve)), tell: () => {}, signal });
  expect(stream.push("x")).toBeUndefined();
  const held = stream.push("y".repeat(100_000));
  expect(held).toBeInstanceOf(Promise);
  await new Promise(setImmediate);
  free();
  await held;
  expect(stream.push("z")).toBeUndefined();
  expect(stream.finish()).toBe("z");
});

test("an agent whose turn is cut short waits no more", async () => {
  const controller = new AbortController();
  const stream = new Stream({ quiet: () => new Promise(() => {}), tell: () => {}, signal: controller.signal });
  const held = stream.push("y".repeat(100_000));
  expect(held).toBeInstanceOf(Promise);
  controller.abort();
  await held;
  expect(stream.push("z")).toBeUndefined();
});

test("somebody who speaks behind the stream takes what it held, but no half of a character", () => {
  const stream = new Stream({ quiet: () => new Promise(() => {}), tell: () => {}, signal });
  void stream.push("so far 😀\ud83d");
  expect([stream.flush(), stream.flush(), stream.finish()]).toEqual(["so far 😀", "", "\ud83d"]);
});
