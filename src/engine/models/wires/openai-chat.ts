/** OpenAI's chat completions, as OpenAI itself takes them. */
import { openaiThinking } from "./openai-thinking.js";
import type { Wire } from "./wire.js";

export const openaiChatWire: Wire = {
  settings: (model, request) => ({ maxOutputTokens: request.maxTokens, providerOptions: { openai: openaiThinking(model, request) } }),
  takesThinking: () => false,
  imagesInResults: false,
};
