/** The amount of reasoning for a model of OpenAI: an effort, in the words of its generation. */
import type { JSONObject } from "@ai-sdk/provider";
import type { Thinking } from "../../../core/config.js";
import { known, levelOf, type Wish } from "./thinking.js";

const OPENAI_EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** Empty for a model that does not reason: it would refuse the field. */
export function openaiThinking(model: string, wish: Wish): JSONObject {
  const version = reasoningVersion(model);
  if (version === undefined) return {};
  if (wish.effort !== undefined) return known(wish.effort, OPENAI_EFFORTS, "reasoningEffort");
  const level = levelOf(wish);
  return level === undefined ? {} : { reasoningEffort: openaiEffort(version, level) };
}

/** Summaries are the only thinking that OpenAI shows. They are requested only with thinking, as not every account has them. */
export function wantsSummary(wish: Wish): boolean {
  const level = levelOf(wish);
  return level !== undefined && level !== "disabled";
}

function openaiEffort(version: number, level: Thinking): (typeof OPENAI_EFFORTS)[number] {
  switch (level) {
    case "disabled":
      if (version >= 501) return version < 600 ? "none" : "low";
      return version >= 500 ? "minimal" : "low";
    case "enabled":
      return "medium";
    case "deep":
      return version >= 502 ? "xhigh" : "high";
    case "max":
      return version >= 600 ? "max" : openaiEffort(version, "deep");
    case "low":
    case "medium":
    case "high":
      return level;
    default:
      return level satisfies never;
  }
}

/** A reasoning model of OpenAI's own service; gpt-oss is served by others, who take the usual settings. */
export function reasons(model: string): boolean {
  return !/(^|\/)gpt-oss/.test(model) && reasoningVersion(model) !== undefined;
}

/** 504 for gpt-5.4, 0 for the o series and gpt-oss; undefined for a model without reasoning. */
function reasoningVersion(model: string): number | undefined {
  const name = model.slice(model.lastIndexOf("/") + 1);
  if (/^(o\d|gpt-oss)/.test(name)) return 0;
  const [, major, minor, variant] = /^gpt-(\d+)(?:\.(\d+))?(-chat)?/.exec(name) ?? [];
  if (major === undefined || Number(major) < 5 || (variant !== undefined && minor === undefined)) return undefined;
  return Number(major) * 100 + Number(minor ?? 0);
}
