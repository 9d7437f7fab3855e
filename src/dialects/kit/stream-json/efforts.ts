/** Efforts as levels of thinking, for models that take a level and no effort. */
import type { Thinking } from "../../../core/config.js";

const EFFORTS: Readonly<Record<string, Thinking>> = { low: "low", medium: "medium", high: "high", xhigh: "deep", max: "max" };

export const EFFORT_NAMES: readonly string[] = Object.keys(EFFORTS);

export function thinkingFor(effort: string): Thinking | undefined {
  return Object.hasOwn(EFFORTS, effort) ? EFFORTS[effort] : undefined;
}

/** The effort for a level of thinking; undefined for the levels that are switches. */
export function effortFor(level: Thinking): string | undefined {
  return Object.entries(EFFORTS).find(([, thinking]) => thinking === level)?.[0];
}
