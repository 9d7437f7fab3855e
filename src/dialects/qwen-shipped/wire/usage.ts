/** Token counts. The wire's input includes tokens read from the cache. */
import * as v from "valibot";
import type { Usage } from "../../../core/event.js";

export const WireUsage = v.looseObject({
  input_tokens: v.number(),
  output_tokens: v.number(),
  cache_read_input_tokens: v.optional(v.number()),
  total_tokens: v.optional(v.number()),
});
export type WireUsage = v.InferOutput<typeof WireUsage>;

export const NO_USAGE: WireUsage = { input_tokens: 0, output_tokens: 0 };

export function writeUsage({ input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 }: Usage): WireUsage {
  const input_tokens = input + cacheRead + cacheWrite;
  const output_tokens = output + reasoning;
  return { input_tokens, output_tokens, cache_read_input_tokens: cacheRead, total_tokens: input_tokens + output_tokens };
}

export function readUsage({ input_tokens, output_tokens, cache_read_input_tokens: cacheRead = 0 }: WireUsage): Usage {
  return { input: Math.max(0, input_tokens - cacheRead), output: output_tokens, ...(cacheRead > 0 && { cacheRead }) };
}
