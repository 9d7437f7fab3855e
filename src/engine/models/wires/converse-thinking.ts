/** The amount of thinking for a model on Converse: each maker has its own field, and most have none. */
import type { JSONObject } from "@ai-sdk/provider";
import { openaiThinking } from "./openai-thinking.js";
import { known, levelOf, type Wish } from "./thinking.js";
import type { WireSettings } from "./wire.js";

export function converseThinking(model: string, wish: Wish): WireSettings {
  const maker = MAKERS.find(({ makes }) => makes(model));
  if (maker !== undefined) return maker.settings(model, wish);
  const asked = wish.effort ?? levelOf(wish);
  return {
    ...settings(wish, {}),
    ...(asked !== undefined &&
      asked !== "enabled" && { notes: [`How much ${model} thinks cannot be set on Bedrock: '${asked}' was left out`] }),
  };
}

export function isNova(model: string): boolean {
  return model.includes("amazon.nova");
}

interface Maker {
  makes(model: string): boolean;
  settings(model: string, wish: Wish): WireSettings;
}

const MAKERS: readonly Maker[] = [
  { makes: (model) => model.includes("openai."), settings: openaiSettings },
  { makes: (model) => isNova(model) && model.includes("nova-2"), settings: novaSettings },
];

/** gpt-oss has the field of chat completions, later models that of responses. */
function openaiSettings(model: string, wish: Wish): WireSettings {
  const name = model.slice(model.indexOf("openai.") + "openai.".length);
  const { reasoningEffort: effort } = openaiThinking(name, wish);
  if (effort === undefined) return settings(wish, {});
  return settings(wish, name.startsWith("gpt-oss") ? { reasoning_effort: effort } : { reasoning: { effort } });
}

const NOVA_EFFORTS = ["low", "medium", "high"] as const;

function novaSettings(_: string, wish: Wish): WireSettings {
  known(wish.effort, NOVA_EFFORTS);
  const effort = wish.effort ?? novaEffort(wish);
  if (effort === undefined) return settings(wish, {});
  if (effort === "disabled") return settings(wish, { reasoningConfig: { type: "disabled" } });
  const fields = { reasoningConfig: { type: "enabled", maxReasoningEffort: effort } };
  if (effort !== "high") return settings(wish, fields);
  // With its highest effort Nova refuses a limit, a temperature and a topP.
  const notes = wish.maxTokens === undefined ? [] : ["Nova takes no limit of tokens with its highest effort: maxTokens was left out"];
  return { ...settings({}, fields), noSampling: true, notes };
}

function novaEffort(wish: Wish): string | undefined {
  const level = levelOf(wish);
  if (level === "enabled") return "medium";
  return level === "deep" || level === "max" ? "high" : level;
}

function settings({ maxTokens }: Wish, fields: JSONObject): WireSettings {
  const bedrock: JSONObject = Object.keys(fields).length === 0 ? {} : { additionalModelRequestFields: fields };
  return { maxOutputTokens: maxTokens, providerOptions: { bedrock } };
}
