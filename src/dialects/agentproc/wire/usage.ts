/** Token counts of wire 0.4, where output includes reasoning and input excludes caches; ours are all disjoint. */
import type { Usage } from "../../../core/event.js";
import type { WireUsage } from "./records.js";

/** A value that is no number is ignored. */
export function readUsage(said: Readonly<Record<string, unknown>>): { usage: Usage; cost?: number } {
  const count = (name: keyof WireUsage): number => {
    const value = said[name];
    return typeof value === "number" && value > 0 ? value : 0;
  };
  const reasoning = Math.min(count("reasoning_tokens"), count("output_tokens"));
  const usage: Usage = {
    input: count("input_tokens"),
    output: count("output_tokens") - reasoning,
    cacheRead: count("cache_read_input_tokens"),
    cacheWrite: count("cache_creation_input_tokens"),
    reasoning,
  };
  const cost = count("cost_usd");
  return cost === 0 ? { usage } : { usage, cost };
}

export function writeUsage({ input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 }: Usage): WireUsage {
  return {
    input_tokens: input,
    output_tokens: output + reasoning,
    total_tokens: input + output + reasoning + cacheRead + cacheWrite,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
    reasoning_tokens: reasoning,
  };
}
