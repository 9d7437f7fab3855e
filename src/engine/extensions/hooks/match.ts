/**
 * Which calls a hook is about: `Tool`, `Tool(pattern)`, `mcp__server__*`, a category, or several joined by `|`. They mean what deny rules
 * mean by them (rules.ts): a call that may be meant is one.
 */
import { messageOf } from "../../../core/errors.js";
import { isRule } from "../../rule-text.js";
import type { JudgedCall } from "../../rules.js";

export type Match = (call: JudgedCall) => Promise<boolean>;

export function isMatch(text: string): boolean {
  return alternatives(text).every(isRule);
}

/** The sentence is about what is wrong with the text. */
export async function compileMatch(text: string | undefined): Promise<Match | { problem: string }> {
  if (text === undefined) return () => Promise.resolve(true);
  try {
    const { compileRules } = await import("../../rules.js");
    const rules = await compileRules(alternatives(text).map((deny) => ({ deny })));
    return async (call) => (await rules.judge(call)).decision !== "none";
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** A `|` within brackets belongs to the pattern. */
function alternatives(text: string): string[] {
  const found = [""];
  let depth = 0;
  for (const letter of text) {
    if (letter === "(") depth++;
    if (letter === ")") depth--;
    if (letter === "|" && depth === 0) found.push("");
    else found.push((found.pop() ?? "") + letter);
  }
  return found;
}
