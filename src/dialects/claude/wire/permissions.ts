/** Permission updates: a question suggests some, and a host returns some with a yes. */
import * as v from "valibot";
import type { Call, Covers } from "../../../core/event.js";
import type { Answer } from "../../../core/op.js";
import { canonicalTool } from "../../../core/names.js";
import { modeNamed, wireTool } from "./names.js";
import type { Mode } from "../../../core/config.js";

const text = v.string();

const RuleValue = v.looseObject({ toolName: text, ruleContent: v.optional(text) });

const destination = v.optional(v.union([v.picklist(["session", "localSettings"]), text]));

/** One entry of `permission_suggestions` and of `updatedPermissions`. */
export const PermissionUpdate = v.variant("type", [
  v.looseObject({
    type: v.literal("addRules"),
    rules: v.array(RuleValue),
    behavior: v.union([v.picklist(["allow"]), text]),
    destination,
  }),
  v.looseObject({ type: v.literal("setMode"), mode: text, destination }),
  v.looseObject({ type: v.literal("addDirectories"), directories: v.array(text), destination }),
]);
export type PermissionUpdate = v.InferOutput<typeof PermissionUpdate>;
type RuleValue = v.InferOutput<typeof RuleValue>;

/** The rule for a yes with the grant "prefix"; undefined if a yes covers the call alone. */
function ruleOf({ name, category, covers }: Call): RuleValue | undefined {
  const toolName = wireTool(name);
  if (covers === undefined) return category === "mcp" ? { toolName } : undefined;
  if (covers.prefix !== undefined) return { toolName, ruleContent: `${covers.prefix}:*` };
  if (covers.domain !== undefined) return { toolName, ruleContent: `domain:${covers.domain}` };
  return covers.within === undefined ? { toolName } : { toolName, ruleContent: "./**" };
}

/** The updates that a question offers: for an edit the mode that accepts edits, for other calls a rule. */
export function suggestionsFor(call: Call): PermissionUpdate[] {
  if (call.category === "edit") return [{ type: "setMode", mode: "acceptEdits", destination: "session" }];
  const rule = ruleOf(call);
  return rule === undefined ? [] : [{ type: "addRules", rules: [rule], behavior: "allow", destination: "session" }];
}

/** The effect of a host's updates: the grant of its yes, and the mode that it sets. */
export interface Granted {
  grant: NonNullable<Answer["grant"]>;
  mode?: Mode;
}

/** Reads updates. Only the suggested rule and the whole tool reach beyond the call. */
export function grantedBy(updates: readonly PermissionUpdate[], call: Call): Granted {
  const granted: Granted = { grant: "call" };
  for (const update of updates) {
    if (update.type === "setMode") {
      const mode = modeNamed(update.mode);
      if (mode !== undefined) granted.mode = mode;
    } else if (update.type === "addRules" && update.behavior === "allow") {
      for (const rule of update.rules) {
        const grant = grantOf(rule, call);
        if (grant !== "call" && granted.grant !== "tool") granted.grant = grant;
      }
    }
  }
  return granted;
}

function grantOf(rule: RuleValue, call: Call): Granted["grant"] {
  if (canonicalTool(rule.toolName) !== canonicalTool(call.name)) return "call";
  if (rule.ruleContent === undefined || rule.ruleContent === "" || rule.ruleContent === "*") return "tool";
  return call.covers !== undefined && rule.ruleContent === ruleOf(call)?.ruleContent ? "prefix" : "call";
}

/** The reach of a yes that accepts the suggested rule; undefined if the question suggests none. */
export function coversIn(suggestions: readonly PermissionUpdate[], toolName: string): Covers | undefined {
  const rule = suggestedRule(suggestions, toolName);
  if (rule === undefined) return undefined;
  const { ruleContent } = rule;
  if (ruleContent === undefined || ruleContent === "") return { tool: canonicalTool(toolName) };
  if (ruleContent.startsWith("domain:")) return { domain: ruleContent.slice("domain:".length) };
  return toolName === "Bash" ? { prefix: ruleContent.replace(/:\*$|\s\*$/, "") } : undefined;
}

/** A grant as an update for this session. */
export function updateFor(grant: Answer["grant"], toolName: string, suggestions: readonly PermissionUpdate[]): PermissionUpdate[] {
  const suggested = grant === "prefix" ? suggestedRule(suggestions, toolName) : undefined;
  const rule = grant === "tool" ? { toolName } : suggested;
  return rule === undefined ? [] : [{ type: "addRules", rules: [rule], behavior: "allow", destination: "session" }];
}

function suggestedRule(suggestions: readonly PermissionUpdate[], toolName: string): RuleValue | undefined {
  const rules = suggestions.flatMap((update) => (update.type === "addRules" && update.behavior === "allow" ? update.rules : []));
  const [only, ...more] = rules;
  return more.length === 0 && only?.toolName === toolName ? only : undefined;
}

/** The updates of an answer that can be read; an unreadable one grants nothing. */
export function readUpdates(given: unknown): PermissionUpdate[] {
  return Array.isArray(given) ? given.filter((update) => v.is(PermissionUpdate, update)) : [];
}
