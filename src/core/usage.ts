/** Sums of token counts. */
import type { Usage } from "./event.js";

export function addUsage(sum: Usage | undefined, more: Usage): Usage {
  if (sum === undefined) return more;
  return {
    input: sum.input + more.input,
    output: sum.output + more.output,
    cacheRead: (sum.cacheRead ?? 0) + (more.cacheRead ?? 0),
    cacheWrite: (sum.cacheWrite ?? 0) + (more.cacheWrite ?? 0),
    reasoning: (sum.reasoning ?? 0) + (more.reasoning ?? 0),
  };
}
