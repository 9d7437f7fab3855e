/**
 * A grant as people read and name it: `Bash(git push:*)`, `Write(**)` for a tool within the workspace, `WebFetch(domain:example.com)`, or a
 * tool. It looks like a rule and covers less: as much as a yes to the question did (prefix-grants.ts).
 */
import type { Covers } from "../../../core/event.js";
import { canonicalTool } from "../../../core/names.js";
import { isRule, parseRule } from "../../../core/text/rule-text.js";
import { grantFor, type PrefixGrant } from "./prefix-grants.js";

const WITHIN = "**";
const BEGINNING = ":*";
const DOMAIN = "domain:";

export function ruleOf({ prefix, domain, tool = "", within }: Covers): string {
  if (prefix !== undefined) return `Bash(${prefix}${BEGINNING})`;
  if (domain !== undefined) return `WebFetch(${DOMAIN}${domain})`;
  return within === undefined ? tool : `${tool}(${WITHIN})`;
}

/** Undefined for a text that no question could have led to, as a wider one: files are edited by hand. */
export async function grantOf(text: string): Promise<PrefixGrant | undefined> {
  if (!isRule(text)) return undefined;
  const { tool, pattern } = parseRule(text);
  if (/\*/.test(tool) || canonicalTool(tool) !== tool) return undefined;
  if (tool === "Bash") return pattern?.endsWith(BEGINNING) === true ? ofCommand(pattern.slice(0, -BEGINNING.length)) : undefined;
  if (tool === "WebFetch") return pattern?.startsWith(DOMAIN) === true ? ofDomain(pattern.slice(DOMAIN.length)) : undefined;
  if (pattern === undefined) return { covers: { tool } };
  return pattern === WITHIN ? { covers: { tool, within: "workspace" } } : undefined;
}

/** The grant that a yes to the beginning alone would give is this one, or there is none. */
async function ofCommand(prefix: string): Promise<PrefixGrant | undefined> {
  const grant = await grantFor({ tool: "Bash", category: "exec", args: { command: prefix }, paths: [] });
  return grant?.covers.prefix === prefix ? grant : undefined;
}

async function ofDomain(domain: string): Promise<PrefixGrant | undefined> {
  const grant = await grantFor({ tool: "WebFetch", category: "exec", args: { url: `http://${domain}/` }, paths: [] });
  return grant?.covers.domain === domain ? grant : undefined;
}
