/** Token counts: `input_tokens` is uncached input, `output_tokens` includes thinking. */
import * as v from "valibot";
import type { Usage } from "../../../core/event.js";

const count = v.number();

export const WireUsage = v.looseObject({
  input_tokens: v.nullish(count),
  output_tokens: v.nullish(count),
  cache_read_input_tokens: v.nullish(count),
  cache_creation_input_tokens: v.nullish(count),
});
export type WireUsage = v.InferOutput<typeof WireUsage>;

/** Counts of one model, for the whole life of the process. */
export const ModelUsage = v.looseObject({
  inputTokens: count,
  outputTokens: count,
  cacheReadInputTokens: v.optional(count),
  cacheCreationInputTokens: v.optional(count),
  costUSD: v.optional(count),
  webSearchRequests: v.optional(count),
  contextWindow: v.optional(count),
  maxOutputTokens: v.optional(count),
});
export type ModelUsage = v.InferOutput<typeof ModelUsage>;

export function wireUsage({ input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 }: Usage): WireUsage {
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output + reasoning,
  };
}

/** `more` is a part of the costs that no model call told. */
export function modelUsage({ usage, cost }: { usage: Usage; cost: number }, more: number): ModelUsage {
  const { input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage;
  return {
    inputTokens: input,
    outputTokens: output + reasoning,
    cacheReadInputTokens: cacheRead,
    cacheCreationInputTokens: cacheWrite,
    webSearchRequests: 0,
    costUSD: cost + more,
  };
}

export const NO_USAGE: Usage = { input: 0, output: 0 };

export function readUsage({ input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens }: WireUsage): Usage {
  return {
    input: input_tokens ?? 0,
    output: output_tokens ?? 0,
    ...(cache_read_input_tokens && { cacheRead: cache_read_input_tokens }),
    ...(cache_creation_input_tokens && { cacheWrite: cache_creation_input_tokens }),
  };
}

export function isEmpty({ input, output, cacheRead = 0, cacheWrite = 0 }: Usage): boolean {
  return input + output + cacheRead + cacheWrite === 0;
}
