/** Parses the text of a rule: `Tool` or `Tool(pattern)`. engine/permissions/rules.ts gives it its meaning. */
import { ParleyError } from "../errors.js";

export function parseRule(text: string): { tool: string; pattern?: string } {
  const rule = text.trim();
  const open = rule.indexOf("(");
  const tool = open < 0 ? rule : rule.slice(0, open);
  if (tool === "") throw malformed(text, "names no tool");
  if (/[\s,()]/.test(tool)) throw malformed(text, `has a tool name with a space, a comma or a bracket, '${tool}'`);
  if (open < 0) return { tool };
  if (!rule.endsWith(")")) throw malformed(text, rule.includes(")") ? "has text after its closing bracket" : "lacks its closing bracket");
  const pattern = rule.slice(open + 1, -1).trim();
  if (pattern === "") throw malformed(text, "has an empty pattern");
  return pattern === "*" ? { tool } : { tool, pattern };
}

export function isRule(text: string): boolean {
  try {
    parseRule(text);
    return true;
  } catch {
    return false;
  }
}

export function malformed(text: string, problem: string): ParleyError {
  return new ParleyError({ code: "config", message: `The rule '${text}' ${problem}. Write Tool or Tool(pattern).`, retryable: false });
}
