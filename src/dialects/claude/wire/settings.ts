/**
 * The settings of `--settings` and `--managed-settings`: their permissions are rules of the session. In Claude Code a rule of Edit covers
 * every tool that edits, and a path is absolute with two slashes, or `~`; one slash means the workspace.
 */
import * as v from "valibot";
import type { Rule, SessionConfig } from "../../../core/config.js";
import { parseRule } from "../../../core/text/rule-text.js";
import { readJson } from "../../kit/json-text.js";
import type { ReadText } from "../../kit/program.js";
import { partsOf } from "./tool-entries.js";

const texts = v.optional(v.array(v.string(), "must be a list of texts"));

const Settings = v.looseObject({
  permissions: v.optional(v.looseObject({ deny: texts, ask: texts, allow: texts, additionalDirectories: texts })),
});

const EFFECTS = ["deny", "ask", "allow"] as const;
type Effect = (typeof EFFECTS)[number];

/** Throws the problem with it: a rule that cannot be read must not be passed over. */
export function readSettings(json: string): ReadText {
  const { permissions = {}, ...others } = readJson(Settings, json);
  const { deny, ask, allow, additionalDirectories: directories, ...more } = permissions;
  const unused = [...Object.keys(others), ...Object.keys(more).map((key) => `permissions.${key}`)];
  const rules: Rule[] = [];
  for (const [effect, list = []] of [
    ["deny", deny],
    ["ask", ask],
    ["allow", allow],
  ] as const) {
    for (const text of list) {
      const rule = ruleText(text, effect);
      if (rule === undefined) unused.push(`permissions.${effect} ${text}`);
      else rules.push(ruleOf(effect, rule));
    }
  }
  const config: SessionConfig = { ...(rules.length > 0 && { rules }), ...(directories !== undefined && { directories }) };
  return { config, unused };
}

function ruleOf(effect: Effect, text: string): Rule {
  if (effect === "deny") return { deny: text };
  return effect === "ask" ? { ask: text } : { allow: text };
}

/** A rule in our words; undefined for an allow that we could only say too widely. */
function ruleText(text: string, effect: Effect): string | undefined {
  parseRule(text);
  const { tool, pattern } = partsOf(text.trim());
  const own = tool === "Edit" ? "edit" : tool;
  if (pattern === undefined || pattern.trim() === "*") return own;
  if (!PATHS.has(own)) return effect === "allow" && !PATTERNS.has(own) ? undefined : `${own}(${pattern})`;
  const path = pathText(pattern.trim());
  // Our pattern without a slash is that name at any depth.
  return effect === "allow" && pattern.startsWith("/") && !path.includes("/") ? undefined : `${own}(${path})`;
}

/** Tools whose patterns are paths, and those with other patterns that an allow may have. */
const PATHS: ReadonlySet<string> = new Set(["Read", "edit", "Write", "Glob", "Grep"]);
const PATTERNS: ReadonlySet<string> = new Set(["Bash", "WebFetch"]);

function pathText(pattern: string): string {
  if (pattern.startsWith("//")) return pattern.slice(1);
  return pattern.startsWith("/") ? pattern.replace(/^\/+/, "") : pattern;
}
