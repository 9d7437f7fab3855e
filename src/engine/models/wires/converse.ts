/** Bedrock's Converse: one wire for models of many makers, which do not take the same things on it. */
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
    // Right behind a tool result, Nova refuses it.
    noMarkOnResults: true,
    toolSchema: plainSchema,
  };
}

/** Thinking goes back with one of these; without, some models would take it for a part of their answer. */
const PROOFS = ["signature", "redactedContent", "redactedData"];

/** At the top, Nova takes these fields and no other, so there is no place for definitions either. */
function plainSchema(schema: Record<string, unknown>): JSONSchema7 {
  const { properties = {}, required } = objectSchema(withoutReferences(schema));
  return { type: "object", properties, ...(required !== undefined && { required }) };
}
