/** Lines of the host, as version 0.24 reads them. */
import * as v from "valibot";
import { CancelRequest, controlRequest, HostResponse, Prompt, request, text } from "../../kit/stream-json/wire.js";

export const Modes = v.picklist(["plan", "default", "auto-edit", "auto", "yolo"]);
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
/** The content of the file that `--mcp-config` names. */
export const McpConfig = v.looseObject({ mcpServers: v.record(text, McpServerConfig) });

/** The requests of a host. The agent's side checks `mode`, `model` and `effort`: a wrong one gets an error that lists the right ones. */
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

export const HostLine = v.variant("type", [Prompt, HostRequest, HostResponse, CancelRequest]);
