/** Lines of the agent, as version 0.24 writes them and `@qwen-code/sdk` reads them. */
import * as v from "valibot";
import {
  content,
  controlRequest,
  controlResponse,
  McpMessage,
  messageOf,
  meta,
  permissionRequest,
  pieces,
  request,
  text,
} from "../../kit/stream-json/wire.js";
import { Modes } from "./op-records.js";
import { replies } from "./replies.js";
import { WireUsage } from "./usage.js";

export const Init = v.looseObject({
  type: v.literal("system"),
  subtype: v.literal("init"),
  uuid: text,
  session_id: text,
  cwd: text,
  tools: v.array(text),
  mcp_servers: v.array(v.looseObject({ name: text, status: v.union([v.picklist(["connected", "connecting", "disconnected"]), text]) })),
  model: text,
  permission_mode: v.union([Modes, text]),
  slash_commands: v.array(text),
  qwen_code_version: text,
  agents: v.array(text),
});

const TaskUsage = v.looseObject({ total_tokens: v.number(), tool_uses: v.number(), duration_ms: v.number() });

/** The `data` of the other lines of type `system`, by their subtype. */
const systemData = {
  task_started: v.looseObject({
    task_id: text,
    tool_use_id: v.optional(text),
    description: text,
    subagent_type: v.optional(text),
  }),
  task_notification: v.looseObject({
    task_id: text,
    tool_use_id: v.optional(text),
    status: v.union([v.picklist(["completed", "failed", "cancelled"]), text]),
    usage: v.optional(TaskUsage),
  }),
  retry: v.looseObject({
    reason: text,
    attempt: v.optional(v.number()),
    maxRetries: v.optional(v.number()),
    delayMs: v.optional(v.number()),
    discardedToolCalls: v.optional(v.union([v.number(), v.array(v.unknown())])),
    preserveText: v.optional(v.boolean()),
  }),
  model_fallback: v.looseObject({
    fromModel: text,
    toModel: text,
    statusCode: v.nullish(v.number()),
    fallbackIndex: v.optional(v.number()),
  }),
  continue_turn_failed: v.looseObject({ error: text }),
  session_recording_degraded: v.looseObject({ session_id: v.optional(text), reason: v.optional(text), message: text }),
  notice: v.looseObject({ level: v.optional(text), notice: text, kind: v.optional(text) }),
  error: v.looseObject({ message: text }),
} as const;
export type SystemName = keyof typeof systemData;
export type SystemFields<N extends SystemName> = v.InferOutput<(typeof systemData)[N]>;

function system<N extends SystemName>(subtype: N) {
  return v.looseObject({ type: v.literal("system"), subtype: v.literal(subtype), ...meta, data: systemData[subtype] });
}

const SystemLine = v.variant("subtype", [
  Init,
  system("task_started"),
  system("task_notification"),
  system("retry"),
  system("model_fallback"),
  system("continue_turn_failed"),
  system("session_recording_degraded"),
  system("notice"),
  system("error"),
]);

/** Blocks of one kind only; `usage` is on the last message of a model call, and zero before. */
export const Assistant = v.looseObject({ type: v.literal("assistant"), ...meta, message: messageOf(WireUsage) });
export type Assistant = v.InferOutput<typeof Assistant>;

/** Results of tools, the prompt of a sub-agent, reports on tasks. The host's own prompt is not repeated. */
export const UserLine = v.looseObject({
  type: v.literal("user"),
  ...meta,
  message: v.looseObject({
    role: v.literal("user"),
    content: v.union([text, v.array(v.variant("type", [content.Text, content.ToolResult]))]),
  }),
});

const Progress = v.variant("type", [
  v.looseObject({
    type: v.literal("mcp_tool_progress"),
    progress: v.number(),
    total: v.optional(v.number()),
    message: v.optional(text),
  }),
  v.looseObject({
    type: v.literal("shell_progress"),
    elapsedMs: v.optional(v.number()),
    lastOutputAgeMs: v.optional(v.number()),
    totalLines: v.optional(v.number()),
    totalBytes: v.optional(v.number()),
    timeoutMs: v.optional(v.number()),
  }),
]);

export const StreamEvent = v.variant("type", [
  pieces.message_start,
  pieces.content_block_start,
  pieces.content_block_delta,
  pieces.content_block_stop,
  pieces.message_stop,
  v.looseObject({ type: v.literal("tool_progress"), tool_use_id: text, content: Progress }),
  v.looseObject({ type: v.literal("goal_state"), goal_state: v.unknown() }),
]);
export type StreamEvent = v.InferOutput<typeof StreamEvent>;

export const StreamLine = v.looseObject({ type: v.literal("stream_event"), ...meta, event: StreamEvent });

const Denial = v.looseObject({ tool_name: text, tool_use_id: text, tool_input: v.unknown() });

/** `usage` counts the whole process, `duration_api_ms` the model calls; `stats` comes with the document of `json`. */
const resultFields = {
  type: v.literal("result"),
  uuid: text,
  session_id: text,
  duration_ms: v.number(),
  duration_api_ms: v.number(),
  num_turns: v.number(),
  usage: WireUsage,
  permission_denials: v.array(Denial),
  stats: v.optional(v.unknown()),
} as const;

export const Result = v.variant("subtype", [
  v.looseObject({
    ...resultFields,
    subtype: v.literal("success"),
    is_error: v.boolean(),
    result: text,
    structured_result: v.optional(v.unknown()),
  }),
  v.looseObject({
    ...resultFields,
    subtype: v.picklist(["error_during_execution", "error_max_turns"]),
    is_error: v.boolean(),
    error: v.optional(v.looseObject({ message: text, type: v.optional(text) })),
  }),
]);

const Suggestion = v.looseObject({ type: v.picklist(["allow", "deny", "modify"]), label: text, description: v.optional(text) });

/** The requests of an agent. */
export const asked = {
  can_use_tool: request("can_use_tool", {
    ...permissionRequest,
    permission_suggestions: v.nullish(v.array(Suggestion)),
    blocked_path: v.nullish(text),
  }),
  mcp_message: McpMessage,
} as const;

const AgentRequest = controlRequest(v.variant("subtype", [asked.can_use_tool, asked.mcp_message]));

const AgentResponse = controlResponse(
  v.union([
    v.variant("subtype", [
      replies.initialize,
      replies.interrupt,
      replies.continue_last_turn,
      replies.set_model,
      replies.set_effort,
      replies.supported_commands,
      replies.get_context_usage,
      replies.get_available_models,
      replies.get_usage_info,
      replies.mcp_server_status,
      replies.can_use_tool,
    ]),
    replies.set_permission_mode,
    v.record(text, v.unknown()),
  ]),
);

export const AgentLine = v.variant("type", [SystemLine, Assistant, UserLine, StreamLine, Result, AgentRequest, AgentResponse]);
