/** The answer to each control request of the host. */
import * as v from "valibot";
import { request, text } from "../../kit/stream-json/wire.js";

const count = v.number();

export const replies = {
  initialize: request("initialize", {
    session_id: v.optional(text),
    capabilities: v.optional(v.record(text, v.unknown())),
    effort_status: v.optional(v.looseObject({ effort: text, applied: v.boolean() })),
  }),
  interrupt: request("interrupt", {}),
  continue_last_turn: request("continue_last_turn", {
    accepted: v.boolean(),
    interruption: v.picklist(["none", "interrupted_prompt", "interrupted_turn"]),
  }),
  /** The only answer without a subtype. */
  set_permission_mode: v.looseObject({ status: v.literal("updated"), mode: text }),
  set_model: request("set_model", { model: text }),
  set_effort: request("set_effort", { effort: text, applied: v.boolean(), override: v.nullish(v.unknown()) }),
  supported_commands: request("supported_commands", { commands: v.array(text) }),
  get_context_usage: request("get_context_usage", {
    modelName: text,
    totalTokens: count,
    contextWindowSize: count,
    breakdown: v.record(text, v.unknown()),
    isEstimated: v.optional(v.boolean()),
    showDetails: v.optional(v.boolean()),
  }),
  get_available_models: request("get_available_models", {
    models: v.array(v.looseObject({ id: text, label: v.optional(text), contextWindowSize: v.nullish(count) })),
  }),
  get_usage_info: request("get_usage_info", {
    generatedAt: text,
    range: text,
    summary: v.looseObject({ totalTokens: count, inputTokens: count, outputTokens: count, requests: count, sessions: count }),
    models: v.array(v.unknown()),
  }),
  mcp_server_status: request("mcp_server_status", { status: v.record(text, text) }),
  can_use_tool: request("can_use_tool", { behavior: v.picklist(["allow", "deny"]), message: v.optional(text) }),
} as const;
