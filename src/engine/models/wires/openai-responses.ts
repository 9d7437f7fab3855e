/** OpenAI's responses. */
import { openaiThinking, wantsSummary } from "./openai-thinking.js";
import type { Wire } from "./wire.js";

export const openaiResponsesWire: Wire = {
  settings(model, request) {
    // Nothing is stored with the vendor: reasoning travels with the conversation, encrypted.
    const summary = wantsSummary(request) ? { reasoningSummary: "auto" } : {};
    const openai = { store: false, ...summary, ...openaiThinking(model, request) };
    return { maxOutputTokens: request.maxTokens, providerOptions: { openai } };
  },
  takesThinking: ({ openai }) => typeof openai?.["reasoningEncryptedContent"] === "string",
  imagesInResults: true,
};
