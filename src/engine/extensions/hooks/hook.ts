/** The type of a hook: when it is asked, its input, and its answer. A command and a callback of the host are the same here. */
import * as v from "valibot";
import type { Category, EventOf } from "../../../core/event.js";
import type { HookEvent } from "../../../core/hooks.js";
import type { Emit } from "../../turn/turn.js";
import type { RuledCall } from "../../permissions/ruled-call.js";

/** A hook of the config. */
export interface HookCommand {
  match?: string | undefined;
  command: readonly string[];
  timeoutMs?: number | undefined;
}
export type HookCommands = Readonly<Record<HookEvent, readonly HookCommand[]>>;

export interface HookInput {
  event: HookEvent;
  session: string;
  sessionId?: string;
  cwd: string;
  turn?: string;
  call?: { id: string; name: string; args: Record<string, unknown>; category: Category };
  prompt?: string;
  output?: string;
  status?: EventOf<"tool.ended">["status"];
  outcome?: EventOf<"turn.ended">["outcome"];
}

/** `allow` is no objection and nothing more: a call that would be asked about or denied still is. Other keys are ignored. */
const HookAnswer = v.looseObject({
  decision: v.optional(v.picklist(["block", "allow"], "decision must be 'block' or absent")),
  reason: v.optional(v.string("reason must be a text")),
  args: v.optional(v.record(v.string(), v.unknown(), "args must be an object")),
  context: v.optional(v.string("context must be a text")),
});
interface HookAnswer {
  decision?: "block" | "allow" | undefined;
  reason?: string | undefined;
  args?: Record<string, unknown> | undefined;
  context?: string | undefined;
}

/** The result of asking a hook. `failure` is the rest of a sentence that begins with the name of the hook; `interrupted` is neither. */
export type HookResult = { answer: HookAnswer } | { failure: string } | { interrupted: true };

export interface HookScope {
  /** The turn, where there is one. */
  id?: string;
  emit: Emit;
  signal: AbortSignal;
}

export interface Hook {
  /** "The pre_tool_use hook 'guard.sh'" */
  readonly name: string;
  concerns(call: RuledCall): Promise<boolean>;
  /** Never throws. */
  ask(input: HookInput, scope: HookScope): Promise<HookResult>;
}

/** The checked value itself, and not the schema's copy of it: that leaves out names like "constructor", which an argument may have. */
export function toAnswer(value: unknown): HookResult {
  if (v.is(HookAnswer, value)) return { answer: value };
  const { issues } = v.safeParse(HookAnswer, value);
  return { failure: `gave an answer that cannot be used: ${issues?.map(({ message }) => message).join("; ") ?? ""}` };
}
