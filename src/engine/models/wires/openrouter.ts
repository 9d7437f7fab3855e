/** OpenRouter's chat completions: one way to ask any model to reason, and `reasoning_details` with the vendor's own data. */
import type { JSONObject, LanguageModelV3Usage } from "@ai-sdk/provider";
import * as v from "valibot";
import { known, levelOf, type Wish } from "./thinking.js";
import type { Details, Wire } from "./wire.js";

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh"] as const;

const details: Details = {
  read: (raw) => (v.is(DetailChunk, raw) ? raw.choices.flatMap(({ delta }) => delta?.reasoning_details ?? []) : []),
  keep: (pieces) => ({ openrouter: { details: joined(pieces) } }),
  replay(metas) {
    const all = metas.flatMap(({ openrouter }) => (v.is(v.array(Detail), openrouter?.["details"]) ? openrouter["details"] : []));
    return all.length === 0 ? undefined : { openaiCompatible: { reasoning_details: all } };
  },
};

export const openrouterWire: Wire = {
  settings: (_, request) => ({ maxOutputTokens: request.maxTokens, providerOptions: { openrouter: reasoning(request) } }),
  takesThinking: ({ openrouter }) => openrouter?.["details"] !== undefined,
  imagesInResults: false,
  details,
};

function reasoning(wish: Wish): JSONObject {
  if (wish.effort !== undefined) return { reasoning: known(wish.effort, EFFORTS) };
  const level = levelOf(wish);
  if (level === undefined) return {};
  if (level === "disabled") return { reasoning: { effort: "none" } };
  if (wish.thinkingBudget !== undefined) return { reasoning: { max_tokens: wish.thinkingBudget } };
  if (level === "enabled") return { reasoning: { enabled: true } };
  return { reasoning: { effort: level === "deep" || level === "max" ? "xhigh" : level } };
}

// --- reasoning details ---

const Detail = v.custom<JSONObject>((value) => v.is(v.looseObject({ type: v.string() }), value));
const DetailChunk = v.looseObject({
  choices: v.array(v.looseObject({ delta: v.nullish(v.looseObject({ reasoning_details: v.nullish(v.array(Detail)) })) })),
});

/** Pieces of one item are adjacent: their texts are joined, and the last piece's other fields count. */
function joined(pieces: readonly JSONObject[]): JSONObject[] {
  const items: JSONObject[] = [];
  for (const piece of pieces) {
    const last = items.at(-1);
    if (last === undefined || last["type"] !== piece["type"] || last["index"] !== piece["index"] || "data" in piece) items.push(piece);
    else items.splice(-1, 1, merged(last, piece));
  }
  return items;
}

function merged(first: JSONObject, second: JSONObject): JSONObject {
  const said = Object.entries(second).filter(([, value]) => value !== null && value !== undefined);
  const texts = ["text", "summary"].flatMap((key) => {
    const both = [first[key], second[key]].filter((text) => typeof text === "string");
    return both.length === 0 ? [] : [[key, both.join("")]];
  });
  return { ...first, ...Object.fromEntries(said), ...Object.fromEntries(texts) };
}

// --- the cache ---

const TextBody = v.looseObject({
  messages: v.array(v.looseObject({ role: v.string(), content: v.nullish(v.union([v.string(), v.array(v.looseObject({}))])) })),
});
type Message = v.InferOutput<typeof TextBody>["messages"][number];

/** Anthropic takes four marks: one on the system prompt with its tools, and the last two messages get the others. */
const MARKED_MESSAGES = 2;
const MARK = { cache_control: { type: "ephemeral" } };

/** The package cannot mark a part of a message whose content is a text, so the mark is set on the body. */
export function withCacheMarks(body: Record<string, unknown>): Record<string, unknown> {
  if (!v.is(TextBody, body)) return body;
  const { messages } = body;
  const told = messages.filter(({ role }) => role === "user" || role === "tool").slice(-MARKED_MESSAGES);
  return {
    ...body,
    messages: messages.map((message) => {
      if (message.role === "assistant") return message;
      // The same shape with and without a mark: marks move on, and earlier content must stay the same.
      return inParts(message, message.role === "system" || told.includes(message));
    }),
  };
}

function inParts(message: Message, isMarked: boolean): Message {
  const { content } = message;
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
  return { ...message, content: parts.map((part, at) => (isMarked && at === parts.length - 1 ? { ...part, ...MARK } : part)) };
}

// --- usage ---

const Counts = v.looseObject({
  prompt_tokens: v.nullish(v.number()),
  completion_tokens: v.nullish(v.number()),
  prompt_tokens_details: v.nullish(v.looseObject({ cached_tokens: v.nullish(v.number()), cache_write_tokens: v.nullish(v.number()) })),
  completion_tokens_details: v.nullish(v.looseObject({ reasoning_tokens: v.nullish(v.number()) })),
});

/** The package's counts, with the tokens written to the cache. */
export function openrouterUsage(usage: unknown): LanguageModelV3Usage {
  const counts = v.is(Counts, usage) ? usage : {};
  const total = counts.prompt_tokens ?? undefined;
  const written = counts.completion_tokens ?? undefined;
  const cacheRead = counts.prompt_tokens_details?.cached_tokens ?? 0;
  const cacheWrite = counts.prompt_tokens_details?.cache_write_tokens ?? 0;
  const thought = counts.completion_tokens_details?.reasoning_tokens ?? 0;
  return {
    inputTokens: { total, noCache: total === undefined ? undefined : total - cacheRead - cacheWrite, cacheRead, cacheWrite },
    outputTokens: { total: written, text: written === undefined ? undefined : written - thought, reasoning: thought },
  };
}
