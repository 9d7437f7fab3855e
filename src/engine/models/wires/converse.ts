/** Bedrock's Converse: one wire for models of many makers, which differ in what they take. */
import type { JSONSchema7, SharedV3ProviderMetadata } from "@ai-sdk/provider";
import { converseThinking, isNova } from "./converse-thinking.js";
import { objectSchema } from "./object-schema.js";
import { withoutReferences } from "./references.js";
import type { Wire } from "./wire.js";

export function converseWire(model: string): Wire {
  const common = {
    settings: converseThinking,
    // 3.75 MiB before base64.
    imageLimits: { chars: 5 * 2 ** 20, pixels: 8_000 },
    takesThinking: ({ bedrock }: SharedV3ProviderMetadata) => PROOFS.some((proof) => bedrock?.[proof] !== undefined),
  };
  if (!isNova(model)) return { ...common, imagesInResults: false };
  return {
    ...common,
    imagesInResults: true,
    cacheMark: { bedrock: { cachePoint: { type: "default" } } },
    // Nova refuses it right after a tool result.
    noMarkOnResults: true,
    toolSchema: plainSchema,
  };
}

/** Thinking needs one of these to be sent back; without it some models would take it for part of their answer. */
const PROOFS = ["signature", "redactedContent", "redactedData"];

/** Nova takes only these fields at the top, so there is no place for definitions either. */
function plainSchema(schema: Record<string, unknown>): JSONSchema7 {
  const { properties = {}, required } = objectSchema(withoutReferences(schema));
  return { type: "object", properties, ...(required !== undefined && { required }) };
}
