import { expect, test } from "vitest";
import { costed } from "./prices.js";

const USAGE = { input: 1_000_000, output: 100_000, reasoning: 100_000, cacheRead: 1_000_000, cacheWrite: 1_000_000 };

test.each([
  ["claude-sonnet-4-6", 3 + 3 + 0.3 + 3.75],
  ["us.anthropic.claude-sonnet-4-6-v1:0", 3 + 3 + 0.3 + 3.75],
  ["anthropic/claude-haiku-4.5", 1 + 1 + 0.1 + 1.25],
  ["claude-opus-4-8", 5 + 5 + 0.5 + 6.25],
  ["claude-opus-5-20260101", 5 + 5 + 0.5 + 6.25],
  ["claude-opus-5-5", 4 + 4 + 0.2 + 5],
])("%s costs what its list says, thinking as output", (model, cost) => {
  expect(costed(model, USAGE)).toEqual({ usage: USAGE, cost: expect.closeTo(cost, 9) });
});

test.each(["claude-opus-4-1", "claude-opus-5-1", "gpt-5.4", "model"])("the cost of %s is not told: nobody knows its prices", (model) => {
  expect(costed(model, USAGE)).toEqual({ usage: USAGE });
});
