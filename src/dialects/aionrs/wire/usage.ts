/** Token counts: the wire's and ours. */
import type { Usage } from "../../../core/event.js";
import type { WireUsage } from "./records.js";

/** The counts are disjoint on both sides; the wire counts reasoning as output. */
export function writeUsage(usage: Usage | undefined): WireUsage {
  return {
    input_tokens: usage?.input ?? 0,
    output_tokens: (usage?.output ?? 0) + (usage?.reasoning ?? 0),
    cache_read_tokens: usage?.cacheRead ?? 0,
    cache_write_tokens: usage?.cacheWrite ?? 0,
  };
}

export function readUsage(usage: WireUsage): Usage {
  return {
    input: tokens(usage.input_tokens),
    output: tokens(usage.output_tokens),
    cacheRead: tokens(usage.cache_read_tokens),
    cacheWrite: tokens(usage.cache_write_tokens),
  };
}

/** JSON can express numbers that are no counts, and one (1e999) that it cannot write back. */
function tokens(count = 0): number {
  return count >= 0 && Number.isFinite(count) ? count : 0;
}
