/** Hooks of our host: a callback of Claude Code becomes a question to the host, and the host's answer its output. */
import * as v from "valibot";
import type { Event } from "../../../core/event.js";
import { canonicalTool, categoryOf } from "../../../core/names.js";
import type { OpOf } from "../../../core/op.js";
import type { Step } from "../../dialect.js";
import { granted, refusal } from "../../kit/stream-json/write-lines.js";
import type { HookAsked } from "../wire/event-records.js";
import { HOOKS } from "../wire/hooks.js";
import type { HostState } from "./state.js";

const text = v.string();

const Input = v.looseObject({
  hook_event_name: text,
  cwd: v.optional(text),
  session_id: v.optional(text),
  tool_name: v.optional(text),
  tool_input: v.optional(v.record(text, v.unknown())),
  tool_use_id: v.optional(text),
  tool_response: v.optional(v.unknown()),
  error: v.optional(text),
  prompt: v.optional(text),
  last_assistant_message: v.optional(text),
});
type Input = v.InferOutput<typeof Input>;

const Answer = v.looseObject({
  decision: v.optional(text),
  reason: v.optional(text),
  args: v.optional(v.record(text, v.unknown())),
  context: v.optional(text),
});

export function onHook(request_id: string, { callback_id, input }: HookAsked, state: HostState): Step<Event> {
  const read = v.safeParse(Input, input);
  const event = read.success ? Object.entries(HOOKS).find(([, names]) => names.includes(read.output.hook_event_name))?.[0] : undefined;
  if (!read.success || event === undefined) return { in: [], out: [refusal(request_id, "The input of the hook cannot be read")] };
  state.hooks.set(request_id, read.output.hook_event_name);
  const data = { callback: callback_id, input: ownInput(event, read.output, state) };
  return { in: [{ type: "host.request", session: state.session, request: request_id, kind: "hook", data }], out: [] };
}

function ownInput(event: string, input: Input, { session, running }: HostState): object {
  const { tool_name, tool_use_id, tool_input = {}, cwd = "", session_id, prompt, hook_event_name } = input;
  const name = tool_name === undefined ? undefined : canonicalTool(tool_name);
  const output = input.error ?? input.last_assistant_message ?? wordsOf(input.tool_response);
  return {
    event,
    session,
    cwd,
    ...(session_id !== undefined && { sessionId: session_id }),
    ...(running !== undefined && { turn: running.told.address.turn }),
    ...(name !== undefined && { call: { id: tool_use_id ?? "", name, args: tool_input, category: categoryOf(name) } }),
    ...(prompt !== undefined && { prompt }),
    ...(output !== undefined && { output }),
    ...(event === "post_tool_use" && { status: hook_event_name === "PostToolUse" ? "ok" : "failed" }),
    ...(event === "stop" && { outcome: "completed" }),
  };
}

function wordsOf(response: unknown): string | undefined {
  return response === undefined || typeof response === "string" ? response : JSON.stringify(response);
}

/** Answers a callback; undefined if no callback waits for this answer. */
export function hookAnswered({ request, ok, data }: OpOf<"host.answer">, state: HostState): Step<Event> | undefined {
  const event = state.hooks.get(request);
  if (event === undefined) return undefined;
  state.hooks.delete(request);
  const settled: Event = { type: "host.settled", session: state.session, request, ok };
  const answer = ok ? v.safeParse(Answer, data ?? {}) : undefined;
  if (answer?.success !== true) return { in: [settled], out: [refusal(request, failureOf(data))] };
  return { in: [settled], out: [granted(request, outputOf(event, answer.output))] };
}

function outputOf(event: string, { decision, reason = "", args, context }: v.InferOutput<typeof Answer>): object {
  const isBlocked = decision === "block";
  const specific = {
    ...(event === "PreToolUse" && isBlocked && { permissionDecision: "deny", permissionDecisionReason: reason }),
    ...(event === "PreToolUse" && args !== undefined && { updatedInput: args }),
    ...(context !== undefined && event !== "Stop" && { additionalContext: context }),
  };
  return {
    ...(isBlocked && event !== "PreToolUse" && { decision: "block", reason }),
    ...(Object.keys(specific).length > 0 && { hookSpecificOutput: { hookEventName: event, ...specific } }),
  };
}

function failureOf(data: unknown): string {
  const read = v.safeParse(v.looseObject({ message: text }), data);
  return read.success ? read.output.message : typeof data === "string" ? data : "the host gave no reason";
}

/** Settles a callback that the agent cancelled. */
export function hookCancelled(request_id: string, { hooks, session }: HostState): Event[] {
  if (!hooks.delete(request_id)) return [];
  return [{ type: "host.settled", session, request: request_id, ok: false, reason: "the agent took it back" }];
}
