/** Answers to control requests that the agent had to act on. */
import * as v from "valibot";
import { CommandReply } from "../../../core/command.js";
import type { Fault } from "../../../core/errors.js";
import type { Out } from "../../dialect.js";
import { contextCounts } from "../../kit/stream-json/agent/context-counts.js";
import { granted, refusal } from "../../kit/stream-json/write-lines.js";
import type { AgentState, Control } from "./state.js";

const CAPABILITIES = {
  can_handle_can_use_tool: true,
  can_handle_hook_callback: false,
  can_set_permission_mode: true,
  can_set_model: true,
  can_set_effort: true,
  can_get_context_usage: true,
  can_get_available_models: true,
  can_get_usage_info: true,
  can_handle_mcp_message: true,
} as const;

export function controlAnswer({ request_id, subtype, said, applies = false }: Control, data: unknown, state: AgentState): Out {
  switch (subtype) {
    case "initialize":
      return granted(request_id, {
        subtype,
        session_id: state.sessionId,
        capabilities: CAPABILITIES,
        ...(said !== "" && { effort_status: { effort: said, applied: applies } }),
      });
    case "set_permission_mode":
      state.modeName = said;
      return granted(request_id, { status: "updated", mode: said });
    case "set_model":
      return granted(request_id, { subtype, model: said });
    case "set_effort":
      return granted(request_id, { subtype, effort: said, applied: true, override: null });
    case "get_context_usage":
      return granted(request_id, { subtype, ...contextUsage(data, said === "true", state) });
    case "get_available_models":
      return granted(request_id, { subtype, models: modelsIn(data, state) });
    default:
      return granted(request_id, { subtype });
  }
}

/** An effort that the model does not take is reported as not applied. */
export function controlRefusal({ request_id, subtype, said }: Control, fault: Fault): Out {
  if (subtype === "set_effort" && fault.param === "effort")
    return granted(request_id, { subtype, effort: said, applied: false, override: null });
  return refusal(request_id, fault.message);
}

function contextUsage(data: unknown, showDetails: boolean, { config, capabilities }: AgentState): Record<string, unknown> {
  const { counts, estimated, window: contextWindowSize } = contextCounts(data, capabilities);
  const totalTokens = counts.used ?? 0;
  const breakdown = {
    systemPrompt: counts.system,
    builtinTools: counts.tools,
    mcpTools: counts.mcpTools,
    memoryFiles: counts.memory,
    messages: counts.messages,
    freeSpace: Math.max(0, contextWindowSize - Math.max(totalTokens, estimated)),
  };
  return {
    modelName: config.model ?? "",
    totalTokens,
    contextWindowSize,
    breakdown,
    builtinTools: [],
    mcpTools: [],
    memoryFiles: [],
    skills: [],
    isEstimated: true,
    showDetails,
  };
}

function modelsIn(data: unknown, { config, capabilities }: AgentState): Record<string, unknown>[] {
  const choices = v.is(CommandReply, data) && data.result.type === "dialog" ? (data.result.choices ?? []) : [];
  const limit = capabilities["contextLimit"];
  return choices.map(({ value, label }) => ({
    id: value,
    label: label ?? value,
    capabilities: {},
    contextWindowSize: value === config.model && typeof limit === "number" ? limit : null,
  }));
}
