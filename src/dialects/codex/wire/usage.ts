/** Token counts: Codex's are inclusive, ours are disjoint. */
import type { Usage } from "../../../core/event.js";
import type { ExecUsage } from "./exec.js";
import type { TokenCounts } from "./threads.js";

export function readUsage({
  inputTokens,
  cachedInputTokens,
  cacheWriteInputTokens,
  outputTokens,
  reasoningOutputTokens,
}: TokenCounts): Usage {
  const [cacheRead, cacheWrite] = [cachedInputTokens, cacheWriteInputTokens ?? 0];
  return {
    input: Math.max(0, inputTokens - cacheRead - cacheWrite),
    output: Math.max(0, outputTokens - reasoningOutputTokens),
    ...(cacheRead > 0 && { cacheRead }),
    ...(cacheWrite > 0 && { cacheWrite }),
    ...(reasoningOutputTokens > 0 && { reasoning: reasoningOutputTokens }),
  };
}

export function writeUsage({ input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 }: Usage): TokenCounts {
  const [inputTokens, outputTokens] = [input + cacheRead + cacheWrite, output + reasoning];
  return {
    totalTokens: inputTokens + outputTokens,
    inputTokens,
    cachedInputTokens: cacheRead,
    cacheWriteInputTokens: cacheWrite,
    outputTokens,
    reasoningOutputTokens: reasoning,
  };
}

export function writeExecUsage(usage: Usage): ExecUsage {
  const counts = writeUsage(usage);
  return {
    input_tokens: counts.inputTokens,
    cached_input_tokens: counts.cachedInputTokens,
    cache_write_input_tokens: counts.cacheWriteInputTokens ?? 0,
    output_tokens: counts.outputTokens,
    reasoning_output_tokens: counts.reasoningOutputTokens,
  };
}
