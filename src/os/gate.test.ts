import { expect, test } from "vitest";
import { Gate } from "./gate.js";

test("so much work goes on at once, and the rest follows in its order, also behind work that fails", async () => {
  const gate = new Gate(2);
  const [begun, ends]: [number[], (() => void)[]] = [[], []];
  const work = (number: number) =>
    gate.run(async () => {
      begun.push(number);
      await new Promise<void>((resolve) => ends.push(resolve));
      if (number === 1) throw new Error("work 1 failed");
      return number;
    });
  const results = Promise.allSettled([1, 2, 3, 4, 5].map(work));
  for (let over = 0; over < 5; over++) {
    expect(begun).toHaveLength(Math.min(5, over + 2));
    ends[over]?.();
    await new Promise(setImmediate);
  }
  expect(begun).toEqual([1, 2, 3, 4, 5]);
  expect((await results).map((result) => (result.status === "fulfilled" ? result.value : "failed"))).toEqual(["failed", 2, 3, 4, 5]);
});
