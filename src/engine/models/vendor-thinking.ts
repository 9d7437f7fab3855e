/** How much a model should think, in each vendor's own terms: a budget of tokens, an effort, or nothing where it cannot be told. */
import type { JSONObject } from "@ai-sdk/provider";
import type { Thinking } from "../../core/config.js";
import { ParleyError } from "../../core/errors.js";
import type { ModelRequest } from "./model.js";

type Wish = Pick<ModelRequest, "maxTokens" | "thinking" | "thinkingBudget" | "effort">;

/** Tokens, from little to much. */
const BUDGETS = { low: 4_000, medium: 10_000, high: 20_000, deep: 32_000, max: 64_000 } as const;

// --- Anthropic ---

const ANTHROPIC_EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;
/** The least that the vendor takes. */
const LEAST_BUDGET = 1_024;

export interface AnthropicThinking {
  /** Without the budget: the package adds it. */
  maxOutputTokens: number | undefined;
  options: JSONObject;
}

/** Up to 4.5 a model is given a budget; later ones decide for themselves within an effort, and the latest refuse a budget. */
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
  // Without `display` the later models think in silence.
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
  return { maxOutputTokens: total - budgetTokens, options: { ...base.options, thinking: { type: "enabled", budgetTokens } } };
}

/** The vendor wants a limit in every request; the package's own would be all that the model can write, or next to nothing. */
function usualTokens(version: number): number | undefined {
  if (Number.isNaN(version)) return 8_192;
  if (version < 307) return undefined;
  return version >= 406 ? 64_000 : 32_000;
}

function outputLimit(model: string, version: number): number {
  if (Number.isNaN(version) || (model.includes("opus-4") && version < 405)) return 32_000;
  return version >= 406 ? 128_000 : 64_000;
}

/** 405 for claude-sonnet-4-5; a Claude without a number is taken for a new one; NaN for another vendor's model on this wire. */
function claudeVersion(model: string): number {
  if (!model.includes("claude")) return Number.NaN;
  const [, major, minor] = /claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2}))?(?!\d)/.exec(model) ?? [];
  return major === undefined ? Number.POSITIVE_INFINITY : Number(major) * 100 + Number(minor ?? 0);
}

// --- OpenAI ---

const OPENAI_EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** Empty for a model that does not reason: it would refuse the field. */
export function openaiThinking(model: string, wish: Wish): JSONObject {
  const version = reasoningVersion(model);
  if (version === undefined) return {};
  if (wish.effort !== undefined) return known(wish.effort, OPENAI_EFFORTS, "reasoningEffort");
  const level = levelOf(wish);
  return level === undefined ? {} : { reasoningEffort: openaiEffort(version, level) };
}

/** Summaries are the only thinking that OpenAI shows. They are asked for with thinking alone: not every account may have them. */
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
    default:
      return level;
  }
}

/** 504 for gpt-5.4, 0 for the o series and gpt-oss; undefined for a model that does not reason. */
function reasoningVersion(model: string): number | undefined {
  const name = model.slice(model.lastIndexOf("/") + 1);
  if (/^(o\d|gpt-oss)/.test(name)) return 0;
  const [, major, minor, variant] = /^gpt-(\d+)(?:\.(\d+))?(-chat)?/.exec(name) ?? [];
  if (major === undefined || Number(major) < 5 || (variant !== undefined && minor === undefined)) return undefined;
  return Number(major) * 100 + Number(minor ?? 0);
}

// --- others ---

/** Servers that speak OpenAI's chat wire take three efforts, if any; llama-server's templates can also be told not to think. */
export function compatibleThinking(wish: Wish): JSONObject {
  if (wish.effort !== undefined) return { reasoningEffort: wish.effort };
  const level = levelOf(wish);
  if (level === undefined || level === "enabled") return {};
  if (level === "disabled") return { chat_template_kwargs: { enable_thinking: false } };
  return { reasoningEffort: level === "deep" || level === "max" ? "high" : level };
}

// --- what was wished for ---

/** A budget names a level where none is named. */
function levelOf({ thinking, thinkingBudget }: Wish): Thinking | undefined {
  if (thinkingBudget === undefined || (thinking !== undefined && thinking !== "enabled")) return thinking;
  if (thinkingBudget <= 0) return "disabled";
  const names = ["low", "medium", "high", "deep"] as const;
  return names.find((name) => thinkingBudget <= BUDGETS[name]) ?? "max";
}

function budgetLevel(level: Thinking | undefined): keyof typeof BUDGETS {
  return level === undefined || level === "enabled" || level === "disabled" ? "medium" : level;
}

function known(effort: string | undefined, efforts: readonly string[], key = "effort"): JSONObject {
  if (effort === undefined) return {};
  if (efforts.includes(effort)) return { [key]: effort };
  throw new ParleyError({
    code: "config",
    message: `There is no effort '${effort}' for this model; there are ${efforts.join(", ")}`,
    retryable: false,
    param: "effort",
  });
}
