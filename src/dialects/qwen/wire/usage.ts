/** Token counts. The wire's are inclusive, as OpenAI's: its prompt includes the cache, its completion the reasoning. */
import type { Usage } from "../../../core/event.js";
import type { WireUsage } from "./event-records.js";

export function readUsage(usage: WireUsage): Usage {
  const cacheRead = usage.prompt_tokens_details?.cached_tokens ?? 0;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  return {
    input: Math.max(0, usage.prompt_tokens - cacheRead),
    output: Math.max(0, usage.completion_tokens - reasoning),
    ...(cacheRead > 0 && { cacheRead }),
    ...(reasoning > 0 && { reasoning }),
  };
}

export function writeUsage({ input, output, cacheRead, cacheWrite, reasoning }: Usage): WireUsage {
  const prompt_tokens = input + (cacheRead ?? 0) + (cacheWrite ?? 0);
  const completion_tokens = output + (reasoning ?? 0);
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    ...(cacheRead !== undefined && cacheRead > 0 && { prompt_tokens_details: { cached_tokens: cacheRead } }),
    ...(reasoning !== undefined && reasoning > 0 && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}
