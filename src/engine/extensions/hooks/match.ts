/**
 * Which calls a hook is about: `Tool`, `Tool(pattern)`, `mcp__server__*`, a category, or several joined by `|`. They mean what deny rules
 * mean by them (rules.ts): a call that may be meant is one.
 */
import { messageOf } from "../../../core/errors.js";
import { alternatives } from "../../../core/hooks.js";
import type { JudgedCall } from "../../permissions/rules.js";

export type Match = (call: JudgedCall) => Promise<boolean>;

/** The sentence is about what is wrong with the text. */
export async function compileMatch(text: string | undefined): Promise<Match | { problem: string }> {
  if (text === undefined) return () => Promise.resolve(true);
  try {
    const { compileRules } = await import("../../permissions/rules.js");
    const rules = await compileRules(alternatives(text).map((deny) => ({ deny })));
    return async (call) => (await rules.judge(call)).decision !== "none";
  } catch (error) {
    return { problem: messageOf(error) };
  }
}
