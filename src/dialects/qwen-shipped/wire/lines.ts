/** The wire that Qwen Code shipped: every line, both directions, as version 0.24 writes it and `@qwen-code/sdk` reads it. */
import * as v from "valibot";
import { content, controlRequest, message, meta, request, text, WireUsage } from "./parts.js";
import { replies } from "./replies.js";

export const VERSION = "0.24";

// --- host → agent ---

const Modes = v.picklist(["plan", "default", "auto-edit", "auto", "yolo"]);
const Efforts = v.picklist(["low", "medium", "high", "xhigh", "max"]);

const AgentDefinition = v.looseObject({
  name: text,
  description: v.optional(text),
  systemPrompt: v.optional(text),
  tools: v.optional(v.array(text)),
  level: v.optional(text),
});

const McpServerConfig = v.looseObject({
  command: v.optional(text),
  args: v.optional(v.array(text)),
  env: v.optional(v.record(text, text)),
  cwd: v.optional(text),
  url: v.optional(text),
  httpUrl: v.optional(text),
  headers: v.optional(v.record(text, text)),
  tcp: v.optional(text),
  timeout: v.optional(v.number()),
  includeTools: v.optional(v.array(text)),
  excludeTools: v.optional(v.array(text)),
});
export type McpServerConfig = v.InferOutput<typeof McpServerConfig>;
/** The file that `--mcp-config` names. */
export const McpConfig = v.looseObject({ mcpServers: v.record(text, McpServerConfig) });

/** What a host can ask. `mode`, `model` and `effort` are judged by whoever answers: a wrong one is an error reply that lists the right ones. */
export const requests = {
  initialize: request("initialize", {
    hooks: v.optional(v.unknown()),
    timeout: v.optional(v.looseObject({ canUseTool: v.optional(v.number()) })),
    sdkMcpServers: v.optional(v.record(text, v.looseObject({ type: v.optional(v.literal("sdk")), name: v.optional(text) }))),
    mcpServers: v.optional(v.record(text, McpServerConfig)),
    agents: v.optional(v.array(AgentDefinition)),
    effort: v.optional(text),
  }),
  interrupt: request("interrupt", {}),
  continue_last_turn: request("continue_last_turn", {}),
  set_permission_mode: request("set_permission_mode", { mode: v.union([Modes, text]) }),
  set_model: request("set_model", { model: text }),
  set_effort: request("set_effort", { effort: v.union([Efforts, text]) }),
  supported_commands: request("supported_commands", {}),
  get_context_usage: request("get_context_usage", { show_details: v.optional(v.boolean()) }),
  get_available_models: request("get_available_models", {}),
  get_usage_info: request("get_usage_info", { range: v.optional(v.picklist(["today", "week", "month", "all"])) }),
  mcp_server_status: request("mcp_server_status", {}),
  can_use_tool: request("can_use_tool", {
    tool_name: text,
    tool_use_id: v.optional(text),
    input: v.optional(v.record(text, v.unknown())),
  }),
} as const;
export type RequestName = keyof typeof requests;
export type RequestFields<N extends RequestName> = v.InferOutput<(typeof requests)[N]>;

const HostRequest = controlRequest(
  v.variant("subtype", [
    requests.initialize,
    requests.interrupt,
    requests.continue_last_turn,
    requests.set_permission_mode,
    requests.set_model,
    requests.set_effort,
    requests.supported_commands,
    requests.get_context_usage,
    requests.get_available_models,
    requests.get_usage_info,
    requests.mcp_server_status,
    requests.can_use_tool,
  ]),
);

/** To `can_use_tool`. Whatever does not say allow, in any case, denies. */
export const Permission = v.looseObject({
  behavior: v.union([v.picklist(["allow", "deny"]), text]),
  updatedInput: v.nullish(v.record(text, v.unknown())),
  message: v.nullish(text),
  interrupt: v.nullish(v.boolean()),
});

/** To `mcp_message`; a notification is answered too. */
export const McpAnswer = v.looseObject({ mcp_response: v.optional(v.record(text, v.unknown())) });

const Failure = v.looseObject({ subtype: v.literal("error"), request_id: text, error: v.union([text, v.looseObject({ message: text })]) });

export const HostResponse = v.looseObject({
  type: v.literal("control_response"),
  response: v.variant("subtype", [
    v.looseObject({ subtype: v.literal("success"), request_id: text, response: v.nullish(v.union([Permission, McpAnswer, v.unknown()])) }),
    Failure,
  ]),
});
export type HostResponse = v.InferOutput<typeof HostResponse>;

export const CancelRequest = v.looseObject({ type: v.literal("control_cancel_request"), request_id: v.nullish(text) });

/** `session_id`, `uuid` and `options` of a prompt say nothing here: a process has one session. */
export const Prompt = v.looseObject({
  type: v.literal("user"),
  session_id: v.nullish(text),
  message: v.looseObject({ role: v.literal("user"), content: v.union([text, v.array(content.Given)]) }),
  parent_tool_use_id: v.nullish(text),
});
export type Prompt = v.InferOutput<typeof Prompt>;

export const HostLine = v.variant("type", [Prompt, HostRequest, HostResponse, CancelRequest]);

// --- agent → host ---

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

/** The other lines of type `system`: what each has in its `data`. */
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

/** Blocks of one kind only; `usage` counts on the last one of a model call, and is zeros before. */
export const Assistant = v.looseObject({ type: v.literal("assistant"), ...meta, message });
export type Assistant = v.InferOutput<typeof Assistant>;

/** Results of tools, the prompt of a sub-agent, news of a task. The host's own prompt is not said again. */
export const UserLine = v.looseObject({
  type: v.literal("user"),
  ...meta,
  message: v.looseObject({
    role: v.literal("user"),
    content: v.union([text, v.array(v.variant("type", [content.Text, content.ToolResult]))]),
  }),
});

const index = { index: v.number() } as const;
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
  v.looseObject({
    type: v.literal("message_start"),
    message: v.looseObject({ id: text, role: v.literal("assistant"), model: text, content: v.array(v.unknown()) }),
  }),
  v.looseObject({ type: v.literal("content_block_start"), ...index, content_block: content.Block }),
  v.looseObject({
    type: v.literal("content_block_delta"),
    ...index,
    delta: v.variant("type", [
      v.looseObject({ type: v.literal("text_delta"), text }),
      v.looseObject({ type: v.literal("thinking_delta"), thinking: text }),
      v.looseObject({ type: v.literal("input_json_delta"), partial_json: text }),
    ]),
  }),
  v.looseObject({ type: v.literal("content_block_stop"), ...index }),
  v.looseObject({ type: v.literal("message_stop") }),
  v.looseObject({ type: v.literal("tool_progress"), tool_use_id: text, content: Progress }),
  v.looseObject({ type: v.literal("goal_state"), goal_state: v.unknown() }),
]);
export type StreamEvent = v.InferOutput<typeof StreamEvent>;

export const StreamLine = v.looseObject({ type: v.literal("stream_event"), ...meta, event: StreamEvent });

const Denial = v.looseObject({ tool_name: text, tool_use_id: text, tool_input: v.unknown() });
export type Denial = v.InferOutput<typeof Denial>;

/** `usage` is of the whole process, `duration_api_ms` of the model calls; `stats` comes with the one document of `json`. */
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

/** What an agent asks its host. */
export const asked = {
  can_use_tool: request("can_use_tool", {
    tool_name: text,
    tool_use_id: text,
    input: v.record(text, v.unknown()),
    permission_suggestions: v.nullish(v.array(Suggestion)),
    blocked_path: v.nullish(text),
  }),
  mcp_message: request("mcp_message", { server_name: text, message: v.record(text, v.unknown()) }),
} as const;

const AgentRequest = controlRequest(v.variant("subtype", [asked.can_use_tool, asked.mcp_message]));

const AgentResponse = v.looseObject({
  type: v.literal("control_response"),
  response: v.variant("subtype", [
    v.looseObject({
      subtype: v.literal("success"),
      request_id: text,
      response: v.nullish(
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
      ),
    }),
    Failure,
  ]),
});

export const AgentLine = v.variant("type", [SystemLine, Assistant, UserLine, StreamLine, Result, AgentRequest, AgentResponse]);
