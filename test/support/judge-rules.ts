/** Judges calls by rules in a short form. */
import type { Rule } from "../../src/core/config.js";
import type { RuledCall } from "../../src/engine/permissions/ruled-call.js";
import { compileRules, type Verdict } from "../../src/engine/permissions/rules.js";

export type Decision = Verdict["decision"];

/** `-Bash(rm *)` denies, `?…` asks, `+…` allows. */
export function rule(text: string): Rule {
  const body = text.slice(1);
  if (text.startsWith("-")) return { deny: body };
  return text.startsWith("?") ? { ask: body } : { allow: body };
}

export async function judge(rules: readonly string[], call: Partial<RuledCall>): Promise<Verdict> {
  const compiled = await compileRules(rules.map((text) => rule(text)));
  return compiled.judge({ tool: "Bash", category: "exec", args: {}, paths: [], ...call });
}

export async function decide(rules: readonly string[], call: Partial<RuledCall>): Promise<Decision> {
  return (await judge(rules, call)).decision;
}

export const bash = (command: string): Partial<RuledCall> => ({ args: { command } });
