/** Lines of the host, as Claude Code 2.1 reads them. */
import * as v from "valibot";
import { CancelRequest, controlRequest, HostResponse, Prompt, request, text } from "../../kit/stream-json/wire.js";
import { Agents } from "./agents.js";
import { HookMatcher } from "./hooks.js";
import { McpServerConfig } from "./servers.js";

/** The requests of a host. Names of modes and models are any text here: the agent's side refuses a wrong one and lists the right ones. */
export const requests = {
  initialize: request("initialize", {
    hooks: v.nullish(v.record(text, v.array(HookMatcher))),
    sdkMcpServers: v.nullish(v.array(text)),
    jsonSchema: v.nullish(v.record(text, v.unknown())),
    systemPrompt: v.nullish(v.union([text, v.array(text)])),
    appendSystemPrompt: v.nullish(text),
    agents: v.nullish(Agents),
  }),
  interrupt: request("interrupt", {}),
  set_permission_mode: request("set_permission_mode", { mode: text }),
  set_model: request("set_model", { model: v.nullish(text) }),
  set_max_thinking_tokens: request("set_max_thinking_tokens", { max_thinking_tokens: v.nullish(v.number()) }),
  apply_flag_settings: request("apply_flag_settings", { settings: v.record(text, v.unknown()) }),
  get_settings: request("get_settings", {}),
  get_context_usage: request("get_context_usage", {}),
  mcp_status: request("mcp_status", {}),
  mcp_set_servers: request("mcp_set_servers", { servers: v.record(text, McpServerConfig) }),
  reload_plugins: request("reload_plugins", {}),
  reload_skills: request("reload_skills", {}),
  list_models: request("list_models", {}),
  rewind_files: request("rewind_files", { user_message_id: text, dry_run: v.nullish(v.boolean()) }),
  stop_task: request("stop_task", { task_id: text }),
} as const;
export type RequestName = keyof typeof requests;
export type RequestFields<N extends RequestName> = v.InferOutput<(typeof requests)[N]>;
export type KnownRequest = { [N in RequestName]: RequestFields<N> }[RequestName];

const HostRequest = controlRequest(
  v.variant("subtype", [
    requests.initialize,
    requests.interrupt,
    requests.set_permission_mode,
    requests.set_model,
    requests.set_max_thinking_tokens,
    requests.apply_flag_settings,
    requests.get_settings,
    requests.get_context_usage,
    requests.mcp_status,
    requests.mcp_set_servers,
    requests.reload_plugins,
    requests.reload_skills,
    requests.list_models,
    requests.rewind_files,
    requests.stop_task,
  ]),
);

/** Lines without an effect here: keep-alives, and environment variables for a running program. */
const KeepAlive = v.looseObject({ type: v.literal("keep_alive") });
const Variables = v.looseObject({ type: v.literal("update_environment_variables") });
export const QUIET: ReadonlySet<string> = new Set(["keep_alive", "update_environment_variables"]);

export const HostLine = v.variant("type", [Prompt, HostRequest, HostResponse, CancelRequest, KeepAlive, Variables]);
