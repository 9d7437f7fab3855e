/** Google's generateContent, at Google itself and on Vertex AI. */
import * as v from "valibot";
import type { Usage } from "../../../core/event.js";
import { geminiSchema } from "./gemini-schema.js";
import { geminiThinking } from "./gemini-thinking.js";
import type { Wire } from "./wire.js";

export const geminiWire: Wire = {
  settings(model, request) {
    const { options, notes } = geminiThinking(model, request);
    return { maxOutputTokens: request.maxTokens, providerOptions: { google: options }, notes };
  },
  // Summaries without a signature are useless to the model and would only cost input.
  takesThinking: ({ google, vertex }) => (google ?? vertex)?.["thoughtSignature"] !== undefined,
  // Before Gemini 3 a function response is text, and it takes fewer kinds of images than a prompt.
  imagesInResults: false,
  imageTypes: ["image/png", "image/jpeg", "image/webp"],
  toolSchema: geminiSchema,
  usageSoFar,
  failedFinish: (raw) => (MISCALLED.has(raw) ? `The model wrote a call that cannot be used (${raw})` : undefined),
  isExpected: (warning) => warning.type === "other" && warning.message.includes(NO_SIGNATURE),
};

/** The model failed to write a call. A retry usually succeeds. */
const MISCALLED = new Set(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"]);

/** The package's placeholder signature for calls by another model, and its warning about them. */
const NO_SIGNATURE = "skip_thought_signature_validator";

const count = v.nullish(v.number(), 0);
const Counted = v.looseObject({
  usageMetadata: v.looseObject({
    promptTokenCount: count,
    cachedContentTokenCount: count,
    candidatesTokenCount: count,
    thoughtsTokenCount: count,
  }),
});

/** Every event has the usage so far. */
function usageSoFar(event: unknown): Usage | undefined {
  const counted = v.safeParse(Counted, event, { abortEarly: true });
  if (!counted.success) return undefined;
  const { promptTokenCount, cachedContentTokenCount, candidatesTokenCount, thoughtsTokenCount } = counted.output.usageMetadata;
  return {
    input: Math.max(0, promptTokenCount - cachedContentTokenCount),
    output: candidatesTokenCount,
    cacheRead: cachedContentTokenCount,
    cacheWrite: 0,
    reasoning: thoughtsTokenCount,
  };
}
