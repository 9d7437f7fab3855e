/** One request as the provider packages take it: the settings that all have, and each wire's own. */
import type { LanguageModelV3CallOptions, LanguageModelV3FunctionTool, SharedV3ProviderOptions } from "@ai-sdk/provider";
import type { ModelRequest, ToolSpec } from "./model.js";
import { CACHED, toPrompt } from "./vendor-prompt.js";
import { anthropicThinking, compatibleThinking, openaiThinking, wantsSummary } from "./vendor-thinking.js";
import type { VendorModel } from "./vendor.js";

export function callOptions(request: ModelRequest, vendor: VendorModel, signal: AbortSignal): LanguageModelV3CallOptions {
  const { wire, provider, id } = vendor;
  return {
    prompt: toPrompt(request.system, request.messages, { wire, provider, model: id }),
    tools: request.tools.map((tool, at) => toTool(tool, wire === "anthropic" && at === request.tools.length - 1)),
    abortSignal: signal,
    temperature: request.temperature,
    topP: request.topP,
    stopSequences: request.stop,
    // Anthropic tells the cost of the input at once, but only in the raw events: an answer that is broken off has been paid for too.
    includeRawChunks: wire === "anthropic",
    ...ownOptions(request, vendor),
  };
}

function toTool({ name, description, parameters }: ToolSpec, isMarked: boolean): LanguageModelV3FunctionTool {
  return { type: "function", name, description, inputSchema: parameters, ...(isMarked && { providerOptions: CACHED }) };
}

function ownOptions(
  request: ModelRequest,
  { wire, id }: VendorModel,
): { maxOutputTokens: number | undefined; providerOptions: SharedV3ProviderOptions } {
  const maxOutputTokens = request.maxTokens;
  switch (wire) {
    case "anthropic": {
      const thinking = anthropicThinking(id, request);
      return { maxOutputTokens: thinking.maxOutputTokens, providerOptions: { anthropic: thinking.options } };
    }
    case "openai-responses": {
      // Nothing is stored with the vendor: reasoning travels with the conversation, encrypted.
      const summary = wantsSummary(request) ? { reasoningSummary: "auto" } : {};
      return { maxOutputTokens, providerOptions: { openai: { store: false, ...summary, ...openaiThinking(id, request) } } };
    }
    case "openai-chat":
      return { maxOutputTokens, providerOptions: { openai: openaiThinking(id, request) } };
    case "compatible":
      return { maxOutputTokens, providerOptions: { compatible: compatibleThinking(request) } };
    default:
      return wire satisfies never;
  }
}
