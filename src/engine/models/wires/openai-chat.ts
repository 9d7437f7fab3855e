/** Chat completions at OpenAI itself, and with the visible thinking of servers at other addresses. */
import * as v from "valibot";
import type { ModelRequest } from "../model.js";
import { openaiThinking, reasons } from "./openai-thinking.js";
import type { Wire, WireSettings } from "./wire.js";

/** `takesCacheKey`: the server knows `prompt_cache_key`. */
export function openaiChatWire(takesCacheKey: boolean): Wire {
  return {
    settings(model, request) {
      const thinking = openaiThinking(model, request);
      const key = takesCacheKey && request.cacheKey !== undefined ? { prompt_cache_key: request.cacheKey } : {};
      return {
        maxOutputTokens: request.maxTokens,
        providerOptions: { openai: { ...thinking, ...key } },
        ...(reasons(model) && thinking["reasoningEffort"] !== "none" && withoutSampling(model, request)),
      };
    },
    // OpenAI shows no thinking; other servers want it back only within its turn.
    takesThinking: (_, isOfThisTurn) => isOfThisTurn,
    imagesInResults: false,
    refusalIn: (raw) => (v.is(RefusalChunk, raw) ? raw.choices.map(({ delta }) => delta?.refusal ?? "").join("") : ""),
  };
}

/** A reasoning model of OpenAI refuses these settings. */
function withoutSampling(model: string, { temperature, topP, topK }: ModelRequest): Pick<WireSettings, "noSampling" | "notes"> {
  const given = Object.entries({ temperature, topP, topK }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (given.length === 0) return {};
  return { noSampling: true, notes: [`${model} takes no ${given.join(", ")} while it reasons; left out`] };
}

/** A reasoning model of OpenAI has another name for the limit of an answer. */
export function asOpenaiTakesIt(model: string, body: Record<string, unknown>): Record<string, unknown> {
  const { max_tokens, ...rest } = body;
  return max_tokens === undefined || !reasons(model) ? body : { ...rest, max_completion_tokens: max_tokens };
}

const RefusalChunk = v.looseObject({
  choices: v.array(v.looseObject({ delta: v.nullish(v.looseObject({ refusal: v.nullish(v.string()) })) })),
});
