/** Anthropic's messages on Bedrock, which has its own list of betas for each model. */
import type { JSONObject } from "@ai-sdk/provider";
import { anthropicThinking, claudeVersion } from "./anthropic-thinking.js";
import { anthropicWire } from "./anthropic.js";
import type { Wire } from "./wire.js";

export const anthropicBedrockWire: Wire = {
  ...anthropicWire,
  settings(model, request) {
    const { maxOutputTokens, options } = anthropicThinking(model, request);
    return { maxOutputTokens, providerOptions: { anthropic: { ...options, ...withBetas(model, options) } } };
  },
};

function withBetas(model: string, { effort, anthropicBeta }: JSONObject): JSONObject {
  const version = claudeVersion(model);
  // The package asks for streamed arguments, which is a beta: older models refuse it.
  if (version < 400 || version > 406) return { toolStreaming: false };
  const asked = Array.isArray(anthropicBeta) ? anthropicBeta : [];
  const wanted = effort !== undefined && model.includes("opus-4-5") ? [...asked, "effort-2025-11-24"] : asked;
  return wanted.length === 0 ? {} : { anthropicBeta: wanted };
}
