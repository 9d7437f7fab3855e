/** xAI's responses: as OpenAI's, with efforts of its own and events that its package does not know. */
import type { JSONObject } from "@ai-sdk/provider";
import * as v from "valibot";
import type { ModelFacts } from "../facts.js";
import { known, levelOf, type Wish } from "./thinking.js";
import type { Wire } from "./wire.js";

export const xaiWire: Wire = {
  settings(model, request, { efforts = [] }) {
    const { options, notes } = xaiThinking(request, efforts, model);
    // Nothing is stored with the vendor: reasoning travels with the conversation, encrypted.
    return { maxOutputTokens: request.maxTokens, providerOptions: { xai: { store: false, ...options } }, notes };
  },
  takesThinking: ({ xai }) => typeof xai?.["reasoningEncryptedContent"] === "string",
  imagesInResults: true,
  isHarmless: (error) => v.is(UnknownEvent, error),
  // The package's text for a failed response; it does not pass on the reason.
  failedFinish: (raw) => (raw === "error" ? "it gave no reason" : undefined),
};

interface XaiThinking {
  options: JSONObject;
  notes: string[];
}

function xaiThinking(wish: Wish, efforts: NonNullable<ModelFacts["efforts"]>, model: string): XaiThinking {
  const level = levelOf(wish);
  const cannot = (what: string): XaiThinking => ({ options: {}, notes: [what] });
  if (efforts.length === 0) {
    const isWished = wish.effort !== undefined || (level !== undefined && level !== "enabled");
    return isWished ? cannot(`How much ${model} reasons cannot be set; it decides for itself`) : { options: {}, notes: [] };
  }
  if (wish.effort !== undefined) return { options: known(wish.effort, efforts, "reasoningEffort"), notes: [] };
  if (level === undefined || level === "enabled") return { options: {}, notes: [] };
  if (level === "disabled" && !efforts.includes("none")) return cannot(`${model} cannot stop reasoning`);
  return { options: { reasoningEffort: fitting(level, efforts) }, notes: [] };
}

const WORDS = { disabled: ["none"], low: ["low"], medium: ["medium", "high"], high: ["high"], deep: ["xhigh"], max: ["xhigh"] } as const;

function fitting(level: keyof typeof WORDS, efforts: readonly string[]): string {
  return WORDS[level].find((word) => efforts.includes(word)) ?? efforts.at(-1) ?? "high";
}

/** Events that the package cannot read. It warns and goes on; none of them is part of the answer. */
const UnknownEvent = v.looseObject({
  name: v.literal("AI_TypeValidationError"),
  value: v.looseObject({
    type: v.pipe(
      v.string(),
      v.check(
        (type) =>
          !/^(error|response\.(created|in_progress|output_|content_part|reasoning_|function_call|done|completed|incomplete|failed))/.test(
            type,
          ),
      ),
    ),
  }),
});
