/** List prices of models by name, in US dollars for a million tokens. Other models have no cost. */
import type { Usage } from "../../core/event.js";

/** Thinking counts as output. Without cache prices, cached tokens cost as other input. */
export interface Prices {
  input: number;
  output: number;
  cacheRead?: number | undefined;
  cacheWrite?: number | undefined;
}

/** The vendor's usual price factors for its cache. */
function listed(input: number, output: number, cacheRead = input / 10): Prices {
  return { input, output, cacheRead, cacheWrite: input * 1.25 };
}

/** As Claude Code 2.1.325 calculates; the first match counts. */
const TABLE: readonly [RegExp, Prices][] = [
  [/\bclaude-opus-5-5\b/, listed(4, 20, 0.2)],
  [/\bclaude-fable-5-2\b/, listed(8, 40, 0.2)],
  [/\bclaude-opus-(?:4[-.][5-8]\b|5(?![-.]\d{1,2}(?!\d)))/, listed(5, 25)],
  [/\bclaude-sonnet-5(?![-.]\d{1,2}(?!\d))/, listed(2, 10)],
  [/\bclaude-(?:sonnet-4|3[-.][57]-sonnet)\b/, listed(3, 15)],
  [/\bclaude-haiku-4[-.]5\b/, listed(1, 5)],
  [/\bclaude-3[-.]5-haiku\b/, listed(0.8, 4)],
];

const MILLION = 1_000_000;

/** Undefined for unknown prices. */
export function pricesOf(model: string): Prices | undefined {
  return TABLE.find(([pattern]) => pattern.test(model))?.[1];
}

/** Token counts, with their cost if the model's prices are known: `prices` are those of the config. */
export function costed(model: string, usage: Usage, prices = pricesOf(model)): { usage: Usage; cost?: number } {
  if (prices === undefined) return { usage };
  const { input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage;
  const read = input * prices.input + cacheRead * (prices.cacheRead ?? prices.input) + cacheWrite * (prices.cacheWrite ?? prices.input);
  return { usage, cost: (read + (output + reasoning) * prices.output) / MILLION };
}
