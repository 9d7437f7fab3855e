/** Chat completions as others than OpenAI took them over: llama-server and its kind. */
import type { JSONObject } from "@ai-sdk/provider";
import { levelOf, type Wish } from "./thinking.js";
import type { Wire } from "./wire.js";

export const compatibleWire: Wire = {
  settings: (_, request) => ({ maxOutputTokens: request.maxTokens, providerOptions: { compatible: compatibleThinking(request) } }),
  // Plain words, which these models want back only within the turn that they belong to.
  takesThinking: (_, isOfThisTurn) => isOfThisTurn,
  imagesInResults: false,
};

/** Most take three efforts, if any; llama-server's templates can also be told not to think. */
function compatibleThinking(wish: Wish): JSONObject {
  if (wish.effort !== undefined) return { reasoningEffort: wish.effort };
  const level = levelOf(wish);
  if (level === undefined || level === "enabled") return {};
  if (level === "disabled") return { chat_template_kwargs: { enable_thinking: false } };
  return { reasoningEffort: level === "deep" || level === "max" ? "high" : level };
}
