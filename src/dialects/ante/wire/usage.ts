/** Counts of tokens. The wire's input includes tokens read from and written to the cache; ours are disjoint. */
import type { Usage } from "../../../core/event.js";
import type { WireUsage } from "./records.js";

export function readUsage({ input_tokens = 0, output_tokens = 0, cache_read_tokens, cache_creation_tokens }: WireUsage): Usage {
  const cacheRead = cache_read_tokens ?? 0;
  const cacheWrite = cache_creation_tokens ?? 0;
  return { input: Math.max(0, input_tokens - cacheRead - cacheWrite), output: output_tokens, cacheRead, cacheWrite };
}

export function writeUsage({
  input,
  output,
  cacheRead,
  cacheWrite,
  reasoning = 0,
}: Usage): Required<Pick<WireUsage, "input_tokens" | "output_tokens">> & WireUsage {
  return {
    input_tokens: input + (cacheRead ?? 0) + (cacheWrite ?? 0),
    output_tokens: output + reasoning,
    ...(cacheRead !== undefined && { cache_read_tokens: cacheRead }),
    ...(cacheWrite !== undefined && { cache_creation_tokens: cacheWrite }),
  };
}
