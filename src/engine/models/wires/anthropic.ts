/** Anthropic's messages, wherever Claude is served. */
import * as v from "valibot";
import type { Usage } from "../../../core/event.js";
import { anthropicThinking } from "./anthropic-thinking.js";
import type { Wire } from "./wire.js";

export const anthropicWire: Wire = {
  settings(model, request) {
    const { maxOutputTokens, options } = anthropicThinking(model, request);
    return { maxOutputTokens, providerOptions: { anthropic: options } };
  },
  wantsThinkingFirst: ({ providerOptions }) => v.is(Budgeted, providerOptions?.["anthropic"]),
  takesThinking: ({ anthropic }) => anthropic?.["signature"] !== undefined || anthropic?.["redactedData"] !== undefined,
  imagesInResults: true,
  imageLimits: { chars: 5 * 2 ** 20, pixels: 8_000 },
  cacheMark: { anthropic: { cacheControl: { type: "ephemeral" } } },
  usageSoFar,
  isHarmless: (error) => v.is(UnknownEvent, error),
};

/** With adaptive thinking a turn may begin without thinking. */
const Budgeted = v.looseObject({ thinking: v.looseObject({ type: v.literal("enabled") }) });

const MessageStart = v.looseObject({
  type: v.literal("message_start"),
  message: v.looseObject({
    usage: v.looseObject({
      input_tokens: v.number(),
      output_tokens: v.nullish(v.number(), 0),
      cache_read_input_tokens: v.nullish(v.number(), 0),
      cache_creation_input_tokens: v.nullish(v.number(), 0),
    }),
  }),
});

/** The usage of the input comes at once, but only in the raw events. */
function usageSoFar(event: unknown): Usage | undefined {
  const start = v.safeParse(MessageStart, event, { abortEarly: true });
  if (!start.success) return undefined;
  const { usage } = start.output.message;
  const { input_tokens: input, output_tokens: output, cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite } = usage;
  return { input, output, cacheRead, cacheWrite, reasoning: 0 };
}

const EVENTS = [
  "message_start",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
  "ping",
  "error",
];

/** Anthropic may add kinds of events at any time, which must be ignored; the package warns and goes on. */
const UnknownEvent = v.looseObject({
  name: v.literal("AI_TypeValidationError"),
  value: v.looseObject({ type: v.pipe(v.string(), v.notValues(EVENTS)) }),
});
