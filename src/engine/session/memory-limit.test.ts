import { expect, test } from "vitest";
import { MemoryLimit } from "./memory-limit.js";

const MIB = 2 ** 20;

test("a turn that waits begins when memory becomes free, though nobody collected it yet", async () => {
  const limit = new MemoryLimit(Math.round(process.memoryUsage.rss() / MIB) + 200);
  const held = [Buffer.alloc(600 * MIB, 1)];
  const room = limit.room(new AbortController().signal);
  held.pop();
  await expect(room).resolves.toBeUndefined();
});

test("a turn does not wait below the limit, nor where there is none", async () => {
  const { signal } = new AbortController();
  await expect(new MemoryLimit(undefined).room(signal)).resolves.toBeUndefined();
  await expect(new MemoryLimit("heap").room(signal)).resolves.toBeUndefined();
});

test("an interrupt ends the wait", async () => {
  const abort = new AbortController();
  const room = new MemoryLimit(1).room(abort.signal);
  abort.abort();
  await expect(room).resolves.toBeUndefined();
});
