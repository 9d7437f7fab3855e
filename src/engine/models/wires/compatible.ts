/** Chat completions on other servers than OpenAI's: llama-server and the like. */
import type { JSONObject } from "@ai-sdk/provider";
import type { Compat } from "../../../core/providers/own-provider.js";
import { levelOf, type Wish } from "./thinking.js";
import type { Wire } from "./wire.js";

export function compatibleWire({ reasoningEffort: takesEffort = true, promptCacheKey = false }: Compat): Wire {
  return {
    settings(model, request) {
      const thinking = compatibleThinking(request);
      const isWished = Object.keys(thinking).length > 0;
      const isLeftOut = isWished && !takesEffort;
      const key: JSONObject = promptCacheKey && request.cacheKey !== undefined ? { prompt_cache_key: request.cacheKey } : {};
      const options = { ...key, ...(takesEffort && thinking) };
      return {
        maxOutputTokens: request.maxTokens,
        // Left out: the package checks even an empty setting several times.
        ...(Object.keys(options).length > 0 && { providerOptions: { compatible: options } }),
        ...(isLeftOut && { notes: [`How much ${model} thinks cannot be set (compat.reasoningEffort is false)`] }),
      };
    },
    // Thinking as plain text, which these models want back only within its turn.
    takesThinking: (_, isOfThisTurn) => isOfThisTurn,
    imagesInResults: false,
  };
}

/** Most take three efforts, if any; llama-server's templates can also switch thinking off. */
function compatibleThinking(wish: Wish): JSONObject {
  if (wish.effort !== undefined) return { reasoningEffort: wish.effort };
  const level = levelOf(wish);
  if (level === undefined || level === "enabled") return {};
  if (level === "disabled") return { chat_template_kwargs: { enable_thinking: false } };
  return { reasoningEffort: level === "deep" || level === "max" ? "high" : level };
}
