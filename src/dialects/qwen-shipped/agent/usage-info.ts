/** The usage dashboard: the usage of this process. Earlier processes are not counted, so every range shows the same. */
import { writeUsage } from "../wire/usage.js";
import type { AgentState } from "./state.js";

export function usageInfo(range: string, state: AgentState): Record<string, unknown> {
  const { usage, modelCalls, tools, config, env } = state;
  const { input_tokens, output_tokens, total_tokens = 0 } = writeUsage(usage);
  const cachedTokens = usage.cacheRead ?? 0;
  const toolCalls = [...tools.values()].reduce((sum, { count }) => sum + count, 0);
  const generatedAt = new Date(env.stamp().at).toISOString();
  return {
    subtype: "get_usage_info",
    generatedAt,
    range,
    summary: {
      totalTokens: total_tokens,
      inputTokens: input_tokens,
      outputTokens: output_tokens,
      cachedTokens,
      thoughtsTokens: usage.reasoning ?? 0,
      requests: modelCalls,
      sessions: 1,
      toolCalls,
      cacheReadRate: input_tokens === 0 ? 0 : cachedTokens / input_tokens,
    },
    models: modelCalls === 0 ? [] : [{ model: config.model ?? "", tokens: total_tokens, requests: modelCalls }],
    daily: [{ date: generatedAt.slice(0, "2000-01-01".length), tokens: total_tokens, sessions: 1 }],
  };
}
