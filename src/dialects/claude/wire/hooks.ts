/** Hooks of a host on this wire: their events, the input of a callback and its answer. */
import * as v from "valibot";
import type { HostEvent } from "../../../core/hooks.js";

const text = v.string();

/** One matcher of an event, and the callbacks behind it. A callback that fails blocks, unless its matcher says `continue`. */
export const HookMatcher = v.looseObject({
  matcher: v.nullish(text),
  hookCallbackIds: v.array(text),
  timeout: v.nullish(v.number()),
  onFailure: v.nullish(v.union([v.picklist(["continue", "block"]), text])),
});
export type HookMatcher = v.InferOutput<typeof HookMatcher>;

/** Claude Code's events for each of ours. A failed tool has an event of its own there. */
export const HOOKS: Readonly<Record<HostEvent, readonly string[]>> = {
  pre_tool_use: ["PreToolUse"],
  post_tool_use: ["PostToolUse", "PostToolUseFailure"],
  prompt: ["UserPromptSubmit"],
  stop: ["Stop"],
  session_start: ["SessionStart"],
};

const Specific = v.looseObject({
  permissionDecision: v.nullish(v.union([v.picklist(["allow", "deny", "ask"]), text])),
  permissionDecisionReason: v.nullish(text),
  updatedInput: v.nullish(v.record(text, v.unknown())),
  additionalContext: v.nullish(text),
});

/** The answer of a callback. `continue: false` ends the turn. */
export const HookOutput = v.looseObject({
  continue: v.nullish(v.boolean()),
  stopReason: v.nullish(text),
  decision: v.nullish(v.union([v.picklist(["approve", "block"]), text])),
  reason: v.nullish(text),
  hookSpecificOutput: v.nullish(Specific),
});
export type HookOutput = v.InferOutput<typeof HookOutput>;

/** The input of a hook from our engine; `OwnAnswer` is the answer that the engine takes. */
export const OwnInput = v.looseObject({
  event: text,
  call: v.optional(v.looseObject({ id: text, name: text, args: v.record(text, v.unknown()) })),
  prompt: v.optional(text),
  output: v.optional(text),
  status: v.optional(text),
});
export type OwnInput = v.InferOutput<typeof OwnInput>;

export interface OwnAnswer {
  decision?: "block";
  reason?: string;
  args?: Record<string, unknown>;
  context?: string;
}
