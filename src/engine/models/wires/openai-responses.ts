/** OpenAI's responses. */
import type { Wire } from "./wire.js";
import { openaiThinking, wantsSummary } from "./openai-thinking.js";

/** `takesCacheKey`: the server knows `prompt_cache_key`. */
export function openaiResponsesWire(takesCacheKey: boolean): Wire {
  return {
    settings(model, request) {
      // Nothing is stored with the vendor: reasoning travels with the conversation, encrypted.
      const summary = wantsSummary(request) ? { reasoningSummary: "auto" } : {};
      const key = takesCacheKey && request.cacheKey !== undefined ? { promptCacheKey: request.cacheKey } : {};
      const openai = { store: false, ...key, ...summary, ...openaiThinking(model, request) };
      return { maxOutputTokens: request.maxTokens, providerOptions: { openai } };
    },
    withoutRefused({ providerOptions, ...settings }, message) {
      const { reasoningSummary, ...openai } = providerOptions?.["openai"] ?? {};
      if (reasoningSummary === undefined || !NO_SUMMARY.test(message)) return undefined;
      return { ...settings, providerOptions: { ...providerOptions, openai } };
    },
    takesThinking: ({ openai }) => typeof openai?.["reasoningEncryptedContent"] === "string",
    imagesInResults: true,
  };
}

/** OpenAI shows summaries only to verified organisations; some other servers have none. */
const NO_SUMMARY = /reasoning[ ._]summar/i;
