/** A vendor's model behind our contract: its package is loaded with the first request, its stream becomes ours. */
import type { LanguageModelV3, LanguageModelV3StreamPart, LanguageModelV3Usage, SharedV3ProviderMetadata } from "@ai-sdk/provider";
import type { Usage } from "../../core/event.js";
import type { Finish, Model, ModelCall, ModelPart, ModelRequest } from "./model.js";
import { vendorFault } from "./vendor-fault.js";
import { toPrompt } from "./vendor-prompt.js";

export interface VendorModel {
  provider: string;
  id: string;
  contextLimit?: number;
  /** Which variable holds the key, for the message that a refused key gets. */
  keyVariable?: string;
  load(): Promise<LanguageModelV3>;
}

export function vendorModel(vendor: VendorModel): Model {
  let loaded: Promise<LanguageModelV3> | undefined;
  return {
    provider: vendor.provider,
    id: vendor.id,
    thinking: true,
    ...(vendor.contextLimit !== undefined && { contextLimit: vendor.contextLimit }),
    async *stream(request, signal) {
      try {
        loaded ??= vendor.load();
        const { stream } = await (await loaded).doStream(callOptions(request, signal));
        yield* translate(stream);
      } catch (error) {
        throw vendorFault(error, vendor);
      }
    },
  };
}

function callOptions(request: ModelRequest, signal: AbortSignal): Parameters<LanguageModelV3["doStream"]>[0] {
  return {
    prompt: toPrompt(request.system, request.messages),
    tools: request.tools.map((tool) => ({
      type: "function",
      name: tool.name,
      description: tool.description,
      inputSchema: tool.parameters,
    })),
    abortSignal: signal,
    maxOutputTokens: request.maxTokens,
    temperature: request.temperature,
    topP: request.topP,
    stopSequences: request.stop,
  };
}

/** Signatures come on different parts with each vendor: what any part of a block carries is kept with the block. */
async function* translate(stream: ReadableStream<LanguageModelV3StreamPart>): AsyncIterable<ModelPart> {
  let meta: SharedV3ProviderMetadata | undefined;
  for await (const part of stream) {
    if ("providerMetadata" in part && part.providerMetadata !== undefined) meta = { ...meta, ...part.providerMetadata };
    switch (part.type) {
      case "text-delta":
        yield { type: "text", text: part.delta };
        break;
      case "reasoning-delta":
        yield { type: "thinking", text: part.delta };
        break;
      case "text-start":
      case "reasoning-start":
        meta = part.providerMetadata;
        break;
      case "text-end":
      case "reasoning-end":
        yield { type: part.type === "text-end" ? "text.end" : "thinking.end", ...(meta !== undefined && { meta }) };
        meta = undefined;
        break;
      case "tool-input-start":
        yield { type: "call.delta", id: part.id, name: part.toolName, text: "" };
        break;
      case "tool-input-delta":
        yield { type: "call.delta", id: part.id, text: part.delta };
        break;
      case "tool-call":
        yield { type: "call", call: toCall(part.toolCallId, part.toolName, part.input), ...(meta !== undefined && { meta }) };
        meta = undefined;
        break;
      case "finish":
        yield { type: "usage", usage: toUsage(part.usage) };
        yield { type: "finish", reason: FINISH[part.finishReason.unified] ?? "other" };
        break;
      case "error":
        throw part.error;
      default:
      // Sources, raw chunks and vendor-run tools are not asked for.
    }
  }
}

const FINISH: Record<string, Finish> = {
  stop: "stop",
  length: "length",
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
};

function toCall(id: string, name: string, input: string): ModelCall {
  try {
    const args: unknown = input === "" ? {} : JSON.parse(input);
    if (typeof args === "object" && args !== null && !Array.isArray(args)) return { id, name, args: { ...args } };
  } catch {
    // Told by `raw`.
  }
  return { id, name, args: {}, raw: input };
}

function toUsage({ inputTokens, outputTokens }: LanguageModelV3Usage): Usage {
  const cacheRead = inputTokens.cacheRead ?? 0;
  const cacheWrite = inputTokens.cacheWrite ?? 0;
  const reasoning = outputTokens.reasoning ?? 0;
  return {
    input: inputTokens.noCache ?? Math.max(0, (inputTokens.total ?? 0) - cacheRead - cacheWrite),
    output: outputTokens.text ?? Math.max(0, (outputTokens.total ?? 0) - reasoning),
    cacheRead,
    cacheWrite,
    reasoning,
  };
}
