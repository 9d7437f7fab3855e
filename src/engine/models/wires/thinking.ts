/** The requested amount of thinking: levels and budgets, which each wire converts to its vendor's terms. */
import type { JSONObject } from "@ai-sdk/provider";
import type { Thinking } from "../../../core/config.js";
import { ParleyError } from "../../../core/errors.js";
import type { ModelRequest } from "../model.js";

export type Wish = Pick<ModelRequest, "maxTokens" | "thinking" | "thinkingBudget" | "effort">;

/** Tokens, from little to much. */
export const BUDGETS = { low: 4_000, medium: 10_000, high: 20_000, deep: 32_000, max: 64_000 } as const;

/** A budget implies a level if none is given. */
export function levelOf({ thinking, thinkingBudget }: Wish): Thinking | undefined {
  if (thinkingBudget === undefined || (thinking !== undefined && thinking !== "enabled")) return thinking;
  if (thinkingBudget <= 0) return "disabled";
  const names = ["low", "medium", "high", "deep"] as const;
  return names.find((name) => thinkingBudget <= BUDGETS[name]) ?? "max";
}

export function budgetLevel(level: Thinking | undefined): keyof typeof BUDGETS {
  return level === undefined || level === "enabled" || level === "disabled" ? "medium" : level;
}

export function known(effort: string | undefined, efforts: readonly string[], key = "effort"): JSONObject {
  if (effort === undefined) return {};
  if (efforts.includes(effort)) return { [key]: effort };
  throw new ParleyError({
    code: "config",
    message: `There is no effort '${effort}' for this model; there are ${efforts.join(", ")}`,
    retryable: false,
    param: "effort",
  });
}
