/** The amount of thinking for Claude: a budget of tokens for older models, an effort for newer ones. */
import type { JSONObject } from "@ai-sdk/provider";
import type { Thinking } from "../../../core/config.js";
import { BUDGETS, budgetLevel, known, levelOf, type Wish } from "./thinking.js";

const ANTHROPIC_EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;
/** The vendor's least budget. */
const LEAST_BUDGET = 1_024;

export interface AnthropicThinking {
  /** Without the budget: the package adds it. */
  maxOutputTokens: number | undefined;
  options: JSONObject;
}

/** Up to 4.5 a model takes a budget; later ones decide within an effort, and the latest refuse a budget. */
export function anthropicThinking(model: string, wish: Wish): AnthropicThinking {
  const version = claudeVersion(model);
  const level = levelOf(wish);
  const effort = version >= 406 || model.includes("opus-4-5") ? wish.effort : undefined;
  const base = { maxOutputTokens: wish.maxTokens ?? usualTokens(version), options: known(effort, ANTHROPIC_EFFORTS) };
  if (level === undefined || version < 307) return base;
  if (level === "disabled") return { ...base, options: { ...base.options, thinking: { type: "disabled" } } };
  const isExact = wish.thinkingBudget !== undefined && version < 407;
  if (version >= 406 && !isExact) return { ...base, options: { ...adaptive(version, level), ...base.options } };
  return budgeted(model, version, wish, base);
}

function adaptive(version: number, level: Thinking): JSONObject {
  // Without `display` later models do not show their thinking.
  const thinking = { type: "adaptive", display: "summarized" };
  if (level === "enabled" || level === "disabled") return { thinking };
  return { thinking, effort: level === "deep" ? (version >= 407 ? "xhigh" : "high") : level };
}

/** The budget is part of `max_tokens` and must leave room for an answer. */
function budgeted(model: string, version: number, wish: Wish, base: AnthropicThinking): AnthropicThinking {
  const wanted = wish.thinkingBudget ?? BUDGETS[budgetLevel(levelOf(wish))];
  const total = wish.maxTokens ?? Math.min(outputLimit(model, version), (base.maxOutputTokens ?? 0) + wanted);
  const budgetTokens = Math.min(Math.max(wanted, LEAST_BUDGET), Math.floor((total * 3) / 4));
  if (budgetTokens < LEAST_BUDGET) return base;
  const options = { ...base.options, ...betas(version), thinking: { type: "enabled", budgetTokens } };
  return { maxOutputTokens: total - budgetTokens, options };
}

/** From 4 to 4.6 a model with a budget thinks between its calls only if it is asked to. */
function betas(version: number): JSONObject {
  return version >= 400 && version <= 406 ? { anthropicBeta: ["interleaved-thinking-2025-05-14"] } : {};
}

/** The vendor requires a limit; the package's default is the model's whole output, or very small. */
function usualTokens(version: number): number | undefined {
  if (Number.isNaN(version)) return 8_192;
  if (version < 307) return undefined;
  return version >= 406 ? 64_000 : 32_000;
}

function outputLimit(model: string, version: number): number {
  if (Number.isNaN(version) || (model.includes("opus-4") && version < 405)) return 32_000;
  return version >= 406 ? 128_000 : 64_000;
}

/** 405 for claude-sonnet-4-5; a Claude without a number counts as new; NaN for another vendor's model on this wire. */
export function claudeVersion(model: string): number {
  if (!model.includes("claude")) return Number.NaN;
  const [, major, minor] = /claude-(?:[a-z]+-)?v?(\d+)(?:[-.](\d{1,2}))?(?!\d)/.exec(model) ?? [];
  return major === undefined ? Number.POSITIVE_INFINITY : Number(major) * 100 + Number(minor ?? 0);
}
