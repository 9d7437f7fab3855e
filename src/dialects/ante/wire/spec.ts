/** Converts a model with its settings. */
import type { SessionConfig, Thinking as OurThinking } from "../../../core/config.js";
import { Thinking, type ModelSpec } from "./records.js";

type Level = (typeof Thinking.options)[number];

const LEVELS: Readonly<Record<Level, OurThinking>> = { Disabled: "disabled", Enabled: "enabled", Deep: "deep", Max: "max" };

export function readThinking(level: Level): OurThinking {
  return LEVELS[level];
}

/** The wire has four levels; a level between enabled and deep is written as the nearest lower one. */
export function writeThinking(level: OurThinking): Level {
  return Thinking.options.find((name) => LEVELS[name] === level) ?? "Enabled";
}

export function readSpec(spec: ModelSpec): SessionConfig & { model: string } {
  return {
    model: spec.name ?? spec.id ?? "",
    ...(spec.temperature != null && { temperature: spec.temperature }),
    ...(spec.top_p != null && { topP: spec.top_p }),
    ...(spec.top_k != null && { topK: spec.top_k }),
    ...(spec.max_tokens != null && { maxTokens: spec.max_tokens }),
    ...(spec.stop_sequences != null && { stop: spec.stop_sequences }),
    ...(spec.context_limit != null && { contextLimit: spec.context_limit }),
    ...(spec.thinking != null && { thinking: readThinking(spec.thinking) }),
  };
}

/** Unset fields are left out, never null. */
export function writeSpec(config: SessionConfig): ModelSpec {
  const { model = "", temperature, topP, topK, maxTokens, stop, contextLimit, thinking } = config;
  return {
    name: model,
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(topK !== undefined && { top_k: topK }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(stop !== undefined && { stop_sequences: stop }),
    ...(contextLimit !== undefined && { context_limit: contextLimit }),
    ...(thinking !== undefined && { thinking: writeThinking(thinking) }),
  };
}
