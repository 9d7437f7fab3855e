/**
 * Entries with a pattern in the lists of tools: with `Bash(cargo test *)` the allowed list leaves only calls of this kind, the disallowed
 * one forbids them, and with the approved one they run unasked. A pattern means what it means in a rule (rules.ts); where an allow rule
 * cannot have one, the allowed list leaves the tool.
 */
import type { SessionConfig } from "../../core/config.js";
import { neededCalls } from "./ruled-call.js";
import { compileRules, takesPattern, type Rules } from "./rules.js";
import { covers, hasPattern, parseEntry, type ToolEntry } from "./tool-lists.js";

/** Compiles the session's rules with the entries of its lists. Throws a `config` fault for an entry that cannot be read. */
export async function compileLimits(config: SessionConfig): Promise<Rules> {
  const { rules = [], allowedTools = [], disallowedTools = [], approveTools = [] } = config;
  const forbidden = disallowedTools.map(parseEntry).flatMap((entry) => (entry.pattern === undefined ? [] : [{ deny: write(entry) }]));
  const approved = approveTools.filter(hasPattern).map((allow) => ({ allow }));
  const own = await compileRules([...rules, ...forbidden, ...approved]);
  const allowed = allowedTools.map(parseEntry);
  const left = allowed.filter((entry) => isLimit(entry) && !allowed.some((other) => !isLimit(other) && covers(other, entry.tool)));
  if (left.length === 0) return own;
  const limits = await compileRules(left.map((entry) => ({ allow: write(entry) })));
  return {
    async judge(call) {
      for (const each of neededCalls(call)) {
        const limit = left.filter((entry) => covers(entry, each.tool)).map(write);
        const isLeft = limit.length === 0 || (await limits.judge(each)).decision === "allow";
        if (!isLeft) return { decision: "deny", rule: `${limit.join(", ")} of the allowed tools` };
      }
      return own.judge(call);
    },
    hiding: (tools) => own.hiding(tools),
  };
}

function isLimit({ tool, pattern }: ToolEntry): boolean {
  return pattern !== undefined && takesPattern(tool);
}

function write({ tool, pattern }: ToolEntry): string {
  return pattern === undefined ? tool : `${tool}(${pattern})`;
}
