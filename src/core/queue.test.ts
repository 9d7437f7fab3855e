import fc from "fast-check";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { CONTROL_LIMIT, Queue, roughSize } from "./queue.js";

interface Item {
  id: number;
  weight: number;
}

type Action = { do: "push"; weight: number } | { do: "control" } | { do: "next" };

const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ do: fc.constant("push" as const), weight: fc.integer({ min: 0, max: 8 }) }),
  fc.record({ do: fc.constant("control" as const) }),
  fc.record({ do: fc.constant("next" as const) }),
);

describe("a queue", () => {
  test("keeps the order, loses nothing, doubles nothing, however pushes and reads interleave", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 80 }), async (actions) => {
        const queue = new Queue<Item>(10, (item) => item.weight);
        const reader = queue[Symbol.asyncIterator]();
        const reads: Promise<IteratorResult<Item, undefined>>[] = [];
        let made = 0;
        let last: Promise<unknown> = Promise.resolve();
        for (const step of actions) {
          // One reader: a read waits for the one before it.
          if (step.do === "next") reads.push((last = last.then(() => reader.next())) as Promise<IteratorResult<Item, undefined>>);
          else if (step.do === "push") void queue.push({ id: made++, weight: step.weight });
          else void queue.pushControl({ id: made++, weight: 0 });
          await Promise.resolve();
        }
        queue.end();
        const got = (await Promise.all(reads)).flatMap((result) => (result.done === true ? [] : [result.value.id]));
        for await (const item of queue) got.push(item.id);
        expect(got).toEqual(Array.from({ length: made }, (_, index) => index));
      }),
    );
  });

  test("asks a producer to wait exactly when more than the bound is unread, and until it is not", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 20 }), fc.array(action, { maxLength: 60 }), async (limit, actions) => {
        const queue = new Queue<Item>(limit, (item) => item.weight);
        const reader = queue[Symbol.asyncIterator]();
        const unread: Item[] = [];
        const waiting: { settled: boolean }[] = [];
        const sum = (): number => unread.reduce((total, item) => total + item.weight, 0);
        for (const step of actions) {
          if (step.do === "next") {
            if (unread.shift() === undefined) continue;
            await reader.next();
          } else {
            const item = { id: 0, weight: step.do === "push" ? step.weight : 0 };
            unread.push(item);
            const full = step.do === "push" ? queue.push(item) : queue.pushControl(item);
            expect(full !== undefined).toBe(step.do === "push" && sum() > limit);
            if (full !== undefined) waiting.push(settling(full));
          }
          await settled();
          const open = sum() <= limit;
          for (const wait of waiting) expect(wait.settled).toBe(open);
          if (open) waiting.length = 0;
        }
      }),
    );
  });

  test("lets control pass a full queue, so many and no more", async () => {
    const queue = new Queue<string>(1, () => 1);
    void queue.push("a");
    expect(queue.push("b")).toBeInstanceOf(Promise);
    for (let n = 0; n < CONTROL_LIMIT; n++) expect(queue.pushControl(`pong ${n}`)).toBeUndefined();
    const over = queue.pushControl("one too many");
    expect(over).toBeInstanceOf(Promise);
    const wait = settling(over);
    const reader = queue[Symbol.asyncIterator]();
    expect(await reader.next()).toEqual({ done: false, value: "a" });
    expect(await reader.next()).toEqual({ done: false, value: "b" });
    await settled();
    expect(wait.settled).toBe(false);
    expect(await reader.next()).toEqual({ done: false, value: "pong 0" });
    await over;
  });

  test("does not keep a producer of control waiting for the bound of the others", async () => {
    const queue = new Queue<number>(0, (weight) => weight);
    for (let n = 0; n <= CONTROL_LIMIT; n++) void queue.pushControl(0);
    const over = queue.pushControl(0);
    void queue.push(5);
    const reader = queue[Symbol.asyncIterator]();
    await reader.next();
    await reader.next();
    await expect(over).resolves.toBeUndefined();
  });

  test("says that an equal control item waits only once the bound of control is reached", () => {
    const queue = new Queue<string>(1, () => 1);
    for (let n = 0; n < CONTROL_LIMIT - 1; n++) void queue.pushControl("pong", "ping");
    expect(queue.holdsControl("ping")).toBe(false);
    void queue.pushControl("pong", "ping");
    expect(queue.holdsControl("ping")).toBe(true);
    expect(queue.holdsControl("other")).toBe(false);
  });

  test("releases whoever waits when it ends, and asks nobody to wait afterwards", async () => {
    const queue = new Queue<number>(1, (weight) => weight);
    const full = queue.push(5);
    queue.end();
    await full;
    expect(queue.push(5)).toBeUndefined();
    expect(queue.pushControl(5)).toBeUndefined();
    const got: number[] = [];
    for await (const item of queue) got.push(item);
    expect(got).toEqual([5]);
  });

  test("ends a reader that waits", async () => {
    const queue = new Queue<number>(1, () => 1);
    const next = queue[Symbol.asyncIterator]().next();
    queue.end();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  test("lets go of what was read, though it is never empty", async () => {
    setFlagsFromString("--expose-gc");
    const collect: unknown = runInNewContext("gc");
    if (typeof collect !== "function") throw new Error("no gc in this Node");
    const queue = new Queue<{ bytes: Uint8Array }>(1, () => 1);
    const reader = queue[Symbol.asyncIterator]();
    const read: WeakRef<object>[] = [];
    void queue.push({ bytes: new Uint8Array(1000) });
    for (let n = 0; n < 100; n++) {
      void queue.push({ bytes: new Uint8Array(1000) });
      const result = await reader.next();
      if (result.done !== true) read.push(new WeakRef(result.value));
    }
    // A weak reference lives until the end of the turn of the event loop that made it.
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    expect(read.filter((item) => item.deref() !== undefined).length).toBeLessThan(10);
  });
});

test("the rough size of a value is near the size of its JSON", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const size = JSON.stringify(value).length;
      expect(roughSize(value)).toBeGreaterThan(size / 12);
      expect(roughSize(value)).toBeLessThan(size * 16 + 16);
    }),
  );
});

function settling(promise: Promise<void> | undefined): { settled: boolean } {
  const state = { settled: false };
  void promise?.then(() => {
    state.settled = true;
  });
  return state;
}

async function settled(): Promise<void> {
  for (let n = 0; n < 5; n++) await Promise.resolve();
}
