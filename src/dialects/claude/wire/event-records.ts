/** Lines of the agent, as Claude Code 2.1 writes them and the Claude Agent SDK reads them. */
import * as v from "valibot";
import {
  content,
  controlRequest,
  controlResponse,
  McpMessage,
  meta,
  permissionRequest,
  pieces,
  request,
  text,
} from "../../kit/stream-json/wire.js";
import { PermissionUpdate } from "./permissions.js";
import { ModelUsage, WireUsage } from "./usage.js";

const count = v.number();

// --- system ---

const system = <N extends string, E extends v.ObjectEntries>(subtype: N, entries: E) =>
  v.looseObject({ type: v.literal("system"), subtype: v.literal(subtype), uuid: text, session_id: text, ...entries });

export const Init = system("init", {
  cwd: text,
  tools: v.array(text),
  mcp_servers: v.array(v.looseObject({ name: text, status: v.union([v.picklist(["connected", "pending", "failed"]), text]) })),
  model: text,
  permissionMode: text,
  slash_commands: v.array(text),
  agents: v.optional(v.array(text)),
  skills: v.optional(v.array(text)),
});

const TaskUsage = v.looseObject({ total_tokens: count, tool_uses: count, duration_ms: count });

/** The other lines of type `system`. */
export const systemLines = {
  status: system("status", {
    status: v.nullish(v.union([v.picklist(["compacting", "requesting"]), text])),
    permissionMode: v.optional(text),
    compact_result: v.optional(v.union([v.picklist(["success", "failed"]), text])),
    compact_error: v.optional(text),
  }),
  session_state_changed: system("session_state_changed", { state: v.union([v.picklist(["running", "requires_action", "idle"]), text]) }),
  compact_boundary: system("compact_boundary", {
    compact_metadata: v.looseObject({
      trigger: v.union([v.picklist(["auto", "manual"]), text]),
      pre_tokens: count,
      post_tokens: v.optional(count),
    }),
  }),
  api_retry: system("api_retry", {
    attempt: count,
    max_retries: count,
    retry_delay_ms: count,
    error_status: v.nullish(count),
    error: v.optional(text),
  }),
  informational: system("informational", {
    content: text,
    level: v.union([v.picklist(["info", "warning"]), text]),
    tag: v.optional(text),
  }),
  permission_denied: system("permission_denied", { tool_name: text, tool_use_id: text, message: v.optional(text) }),
  task_started: system("task_started", {
    task_id: text,
    tool_use_id: v.optional(text),
    description: text,
    subagent_type: v.optional(text),
    prompt: v.optional(text),
  }),
  task_notification: system("task_notification", {
    task_id: text,
    tool_use_id: v.optional(text),
    status: v.union([v.picklist(["completed", "failed", "stopped"]), text]),
    summary: v.optional(text),
    usage: v.optional(TaskUsage),
  }),
} as const;
export type SystemName = keyof typeof systemLines;

const SystemLine = v.variant("subtype", [
  Init,
  systemLines.status,
  systemLines.session_state_changed,
  systemLines.compact_boundary,
  systemLines.api_retry,
  systemLines.informational,
  systemLines.permission_denied,
  systemLines.task_started,
  systemLines.task_notification,
]);

// --- messages ---

/** One block a line; the lines of one model call share `message.id`. Blocks of unknown types are skipped. */
export const Assistant = v.looseObject({
  type: v.literal("assistant"),
  ...meta,
  message: v.looseObject({
    id: text,
    role: v.literal("assistant"),
    model: text,
    content: v.array(v.union([content.Block, v.unknown()])),
    stop_reason: v.nullish(text),
    usage: v.nullish(WireUsage),
  }),
  error: v.optional(text),
});
export type Assistant = v.InferOutput<typeof Assistant>;

/** The decision about a call that did not run. */
export const ResultMeta = v.looseObject({
  id: text,
  non_execution_kind: v.optional(text),
  permission_decision: v.optional(v.looseObject({ decision: v.union([v.picklist(["accept", "reject"]), text]), source: v.optional(text) })),
});
export type ResultMeta = v.InferOutput<typeof ResultMeta>;

/** Results of tools, and messages about the conversation. The host's own prompt is not repeated. */
export const UserLine = v.looseObject({
  type: v.literal("user"),
  ...meta,
  message: v.looseObject({
    role: v.literal("user"),
    content: v.union([text, v.array(content.Given)]),
  }),
  isReplay: v.optional(v.boolean()),
  tool_use_result: v.optional(v.unknown()),
  tool_result_meta: v.optional(v.array(ResultMeta)),
});

const messageDelta = v.looseObject({
  type: v.literal("message_delta"),
  delta: v.looseObject({ stop_reason: v.nullish(text) }),
  usage: v.optional(WireUsage),
});

const messageStart = v.looseObject({
  type: v.literal("message_start"),
  message: v.looseObject({
    id: text,
    role: v.literal("assistant"),
    model: text,
    content: v.array(v.unknown()),
    usage: v.optional(WireUsage),
  }),
});

export const StreamEvent = v.variant("type", [
  messageStart,
  pieces.content_block_start,
  pieces.content_block_delta,
  pieces.content_block_stop,
  messageDelta,
  pieces.message_stop,
]);
export type StreamEvent = v.InferOutput<typeof StreamEvent>;

const StreamLine = v.looseObject({ type: v.literal("stream_event"), ...meta, event: StreamEvent });

export const ToolProgress = v.looseObject({
  type: v.literal("tool_progress"),
  ...meta,
  tool_use_id: text,
  tool_name: text,
  elapsed_time_seconds: count,
});

// --- the end of a turn ---

const Denial = v.looseObject({ tool_name: text, tool_use_id: text, tool_input: v.unknown() });

/** `usage` is the turn's, of the session's own agent; `modelUsage` and `total_cost_usd` count the whole process. */
const resultFields = {
  type: v.literal("result"),
  uuid: text,
  session_id: text,
  is_error: v.boolean(),
  duration_ms: count,
  duration_api_ms: count,
  num_turns: count,
  stop_reason: v.nullish(text),
  total_cost_usd: count,
  usage: WireUsage,
  modelUsage: v.record(text, ModelUsage),
  permission_denials: v.array(Denial),
  terminal_reason: v.optional(
    v.union([
      v.picklist([
        "completed",
        "max_turns",
        "budget_exhausted",
        "aborted_streaming",
        "aborted_tools",
        "api_error",
        "hook_stopped",
        "stop_hook_prevented",
      ]),
      text,
    ]),
  ),
} as const;

export const Result = v.variant("subtype", [
  v.looseObject({ ...resultFields, subtype: v.literal("success"), result: text, structured_output: v.optional(v.unknown()) }),
  v.looseObject({
    ...resultFields,
    subtype: v.picklist(["error_during_execution", "error_max_turns", "error_max_budget_usd"]),
    errors: v.array(text),
  }),
]);

// --- control ---

/** The questions of an agent. */
export const asked = {
  can_use_tool: request("can_use_tool", {
    ...permissionRequest,
    permission_suggestions: v.nullish(v.array(v.union([PermissionUpdate, v.unknown()]))),
    display_name: v.nullish(text),
    description: v.nullish(text),
    decision_reason: v.nullish(text),
  }),
  hook_callback: request("hook_callback", { callback_id: text, input: v.record(text, v.unknown()), tool_use_id: v.nullish(text) }),
  mcp_message: McpMessage,
} as const;
export type PermissionAsked = v.InferOutput<(typeof asked)["can_use_tool"]>;
export type HookAsked = v.InferOutput<(typeof asked)["hook_callback"]>;

const AgentRequest = controlRequest(v.variant("subtype", [asked.can_use_tool, asked.hook_callback, asked.mcp_message]));

/** The agent cancels a question that is settled; a host cancels nothing. */
const Cancelled = v.looseObject({ type: v.literal("control_cancel_request"), request_id: text });

const KeepAlive = v.looseObject({ type: v.literal("keep_alive") });

const AgentResponse = controlResponse(v.record(text, v.unknown()));

export const AgentLine = v.variant("type", [
  SystemLine,
  Assistant,
  UserLine,
  StreamLine,
  ToolProgress,
  Result,
  AgentRequest,
  AgentResponse,
  Cancelled,
  KeepAlive,
]);
