/** The amount of thinking for Gemini: a budget of tokens up to 2.5, a level from 3 on. Neither can always be switched off. */
import type { JSONObject } from "@ai-sdk/provider";
import { BUDGETS, budgetLevel, known, levelOf, type Wish } from "./thinking.js";

const LEVELS = ["minimal", "low", "medium", "high"] as const;
type Level = (typeof LEVELS)[number];

/** Tokens; `off` if 0 is allowed, too. */
interface Range {
  least: number;
  most: number;
  off: boolean;
}

export interface GeminiThinking {
  options: JSONObject;
  /** Settings that cannot be fulfilled. */
  notes: string[];
}

export function geminiThinking(model: string, wish: Wish): GeminiThinking {
  const version = geminiVersion(model);
  if (version >= 300) return byLevel(model, version, wish);
  const range = budgetRange(model, version);
  return range === undefined ? without(model, wish) : byBudget(model, range, wish);
}

// --- up to 2.5: budgets ---

function budgetRange(model: string, version: number): Range | undefined {
  if (version !== 205) return undefined;
  if (model.includes("flash-lite")) return { least: 512, most: 24_576, off: true };
  return model.includes("pro") ? { least: 128, most: 32_768, off: false } : { least: 1, most: 24_576, off: true };
}

/** Thinking counts as output: a limit must leave room for the answer. */
function byBudget(model: string, range: Range, wish: Wish): GeminiThinking {
  const notes = wish.effort === undefined ? [] : [`${model} takes no effort; use --thinking or a thinking budget`];
  const level = levelOf(wish);
  if (level === undefined) return { options: {}, notes };
  if (level === "disabled") {
    if (range.off) return { options: thinking({ thinkingBudget: 0 }), notes };
    const note = `${model} cannot stop thinking; it gets its smallest budget, ${range.least} tokens`;
    return { options: thinking({ thinkingBudget: range.least }), notes: [...notes, note] };
  }
  const room = wish.maxTokens === undefined ? range.most : Math.floor((wish.maxTokens * 3) / 4);
  const wanted = Math.min(wish.thinkingBudget ?? BUDGETS[budgetLevel(level)], room);
  const thinkingBudget = Math.min(Math.max(wanted, range.least), range.most);
  if (wish.thinkingBudget !== undefined && wish.thinkingBudget !== thinkingBudget) {
    notes.push(`${model} gets a thinking budget of ${thinkingBudget} tokens, not ${wish.thinkingBudget}: it takes ${limits(range)}`);
  }
  return { options: thinking({ thinkingBudget, includeThoughts: true }), notes };
}

function limits({ least, most }: Range): string {
  return `${least} to ${most}, and three quarters of the limit of the answer`;
}

// --- from 3 on: levels ---

function byLevel(model: string, version: number, wish: Wish): GeminiThinking {
  const levels = levelsOf(model, version);
  const level = levelOf(wish);
  const shown = level === undefined || level === "disabled" ? {} : { includeThoughts: true };
  const named = known(wish.effort, levels, "thinkingLevel");
  if (wish.effort !== undefined) return { options: thinking({ ...named, ...shown }), notes: [] };
  if (level === undefined) return { options: {}, notes: [] };
  // The model's own default fits "enabled".
  if (level === "enabled") return { options: thinking(shown), notes: [] };
  if (level === "disabled") {
    const [least = "low"] = levels;
    return {
      options: thinking({ thinkingLevel: least }),
      notes: [`${model} cannot stop thinking; it thinks at its lowest level, ${least}`],
    };
  }
  const wanted = level === "deep" || level === "max" ? "high" : level;
  const thinkingLevel = levels.includes(wanted) ? wanted : "high";
  const notes = thinkingLevel === wanted ? [] : [`${model} has no thinking level ${wanted}; it thinks at ${thinkingLevel}`];
  return { options: thinking({ thinkingLevel, ...shown }), notes };
}

function levelsOf(model: string, version: number): readonly Level[] {
  if (!model.includes("pro")) return LEVELS;
  return version === 300 ? ["low", "high"] : ["low", "medium", "high"];
}

// --- the others ---

function without(model: string, wish: Wish): GeminiThinking {
  const level = levelOf(wish);
  const isWanted = wish.effort !== undefined || (level !== undefined && level !== "disabled");
  return { options: {}, notes: isWanted ? [`${model} does not think, or cannot be told how much`] : [] };
}

function thinking(thinkingConfig: JSONObject): JSONObject {
  return { thinkingConfig };
}

/** 205 for gemini-2.5-pro; a Gemini without a number counts as new; NaN for another model. */
function geminiVersion(model: string): number {
  if (!model.includes("gemini-")) return Number.NaN;
  const [, major, minor] = /gemini-(\d+)(?:\.(\d+))?/.exec(model) ?? [];
  return major === undefined ? Number.POSITIVE_INFINITY : Number(major) * 100 + Number(minor ?? 0);
}
