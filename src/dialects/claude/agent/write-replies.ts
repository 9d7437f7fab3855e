/** Answers to control requests. */
import * as v from "valibot";
import type { Fault } from "../../../core/errors.js";
import { RewindReply } from "../../../core/rewind.js";
import type { Out } from "../../dialect.js";
import { contextCounts } from "../../kit/stream-json/agent/context-counts.js";
import { granted, refusal } from "../../kit/stream-json/write-lines.js";
import { EFFORT_NAMES } from "../../kit/stream-json/efforts.js";
import { WIRE_VERSION } from "../wire/names.js";
import type { AgentState, Control } from "./state.js";
import { absolute } from "./tool-results.js";
import { modeOf, STATUS } from "./write-turns.js";

export function controlAnswer({ request_id, subtype, said }: Control, data: unknown, state: AgentState): Out {
  switch (subtype) {
    case "initialize":
      return granted(request_id, initialized(state));
    case "set_permission_mode":
      state.modeName = said;
      return granted(request_id, { mode: said });
    case "set_model":
      return granted(request_id, { model: said });
    case "mcp_set_servers": {
      const changes: unknown = JSON.parse(said);
      return granted(request_id, typeof changes === "object" && changes !== null ? changes : {});
    }
    case "get_context_usage":
      return granted(request_id, contextUsage(data, state));
    case "rewind_files":
      return granted(request_id, rewound(data, state));
    default:
      return granted(request_id, {});
  }
}

export function controlRefusal({ request_id, subtype, said }: Control, fault: Fault): Out {
  if (subtype !== "rewind_files") return refusal(request_id, fault.message);
  const error = fault.param === "turn" ? NO_CHECKPOINT : fault.code === "unsupported" ? NOT_ENABLED : fault.message;
  return said === PREVIEW ? granted(request_id, { canRewind: false, error }) : refusal(request_id, error);
}

/** The mark of a request that changes nothing. */
export const PREVIEW = "preview";

const NO_CHECKPOINT = "No file checkpoint found for this message.";
const NOT_ENABLED = "File rewinding is not enabled.";

function rewound(data: unknown, { config }: AgentState): Record<string, unknown> {
  const { files, left, why = {}, stat } = v.is(RewindReply, data) ? data : { files: [], left: [] };
  const kept = left.map((path) => `${path} (${why[path] ?? "it stays as it is"})`).join(", ");
  return {
    canRewind: files.length > 0 || left.length === 0,
    filesChanged: files.map((path) => absolute(path, config.cwd ?? "")),
    ...(stat !== undefined && { insertions: stat.added, deletions: stat.removed }),
    ...(kept !== "" && { error: `Left as they are: ${kept}` }),
  };
}

function initialized(state: AgentState): Record<string, unknown> {
  return {
    ...commandRows(state),
    output_style: "default",
    available_output_styles: ["default"],
    models: modelRows(state),
    account: { tokenSource: "none", apiKeySource: state.config.provider === "anthropic" ? "ANTHROPIC_API_KEY" : "none" },
    claude_code_version: WIRE_VERSION,
    current_permission_mode: modeOf(state),
    hooks_applied: true,
    hook_on_failure_supported: true,
    pending_permission_requests: [],
    capabilities: ["interrupt_receipt_v1"],
  };
}

export function commandRows({ catalogue }: AgentState): Record<string, unknown> {
  const rows = (catalogue.commands ?? []).map(({ name, description = "", argumentHint = "", aliases }) => ({
    name,
    description,
    argumentHint,
    ...(aliases !== undefined && { aliases }),
  }));
  return { commands: rows, agents: (catalogue.subagents ?? []).map(({ name, description = "" }) => ({ name, description })) };
}

/** The models that a host may set: the one of the command line and the present one. */
export function modelRows({ config, ownModel, capabilities }: AgentState): Record<string, unknown>[] {
  const efforts = Array.isArray(capabilities["efforts"])
    ? capabilities["efforts"].filter((name) => EFFORT_NAMES.includes(String(name)))
    : [];
  const abilities = efforts.length === 0 ? {} : { supportsEffort: true, supportedEffortLevels: efforts };
  const own = ownModel ?? config.model ?? "";
  const rows = [{ value: "default", resolvedModel: own, displayName: "Default", description: own, ...abilities }];
  const now = config.model ?? own;
  return now === own ? rows : [...rows, { value: now, resolvedModel: now, displayName: now, description: now, ...abilities }];
}

export function mcpStatus({ catalogue, config }: AgentState): Record<string, unknown>[] {
  return (catalogue.mcpServers ?? []).map(({ name, status, error, tools }) => ({
    name,
    status: STATUS[status],
    ...(error !== undefined && { error }),
    source: config.mcpServers?.[name]?.type === "host" ? "sdk" : "user",
    tools: tools.map(({ name: tool, description }) => ({ name: tool, ...(description !== undefined && { description }) })),
  }));
}

export function settingsOf({ config }: AgentState): Record<string, unknown> {
  const model = config.model ?? null;
  const effective = { ...(config.model !== undefined && { model: config.model }) };
  return { effective, sources: [], applied: { model, effort: config.effort || null } };
}

function contextUsage(data: unknown, { config, capabilities }: AgentState): Record<string, unknown> {
  const { counts, estimated, window: maxTokens } = contextCounts(data, capabilities);
  const categories = [
    ["system_prompt", "System prompt", counts.system],
    ["tools", "System tools", counts.tools],
    ["mcp_tools", "MCP tools", counts.mcpTools],
    ["memory", "Memory files", counts.memory],
    ["messages", "Messages", counts.messages],
  ] as const;
  const totalTokens = Math.max(counts.used ?? 0, estimated);
  const free = Math.max(0, maxTokens - totalTokens);
  return {
    categories: [
      ...categories.map(([id, name, tokens]) => ({ id, name, tokens, color: "inactive", kind: "used" })),
      { id: "free_space", name: "Free space", tokens: free, color: "promptBorder", kind: "free" },
    ],
    totalTokens,
    maxTokens,
    rawMaxTokens: maxTokens,
    percentage: maxTokens === 0 ? 0 : Math.round((100 * totalTokens) / maxTokens),
    gridRows: [],
    model: config.model ?? "",
    memoryFiles: [],
    mcpTools: [],
    agents: [],
  };
}
