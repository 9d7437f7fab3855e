/** Control requests of the host: this side answers each, or waits for the op that it became. */
import { runsUnasked } from "../../../core/modes.js";
import type { SessionConfig } from "../../../core/config.js";
import { canonicalTool, categoryOf } from "../../../core/names.js";
import type { Op } from "../../../core/op.js";
import type { Step } from "../../dialect.js";
import { echo } from "../../kit/issues.js";
import { isRecord } from "../../../core/values/json-object.js";
import { ASK_USER } from "../wire/host-tools.js";
import { readBy, type Refused } from "../../kit/stream-json/agent/read-host-lines.js";
import { granted, refusal } from "../../kit/stream-json/write-lines.js";
import { EFFORT_NAMES } from "../../kit/stream-json/efforts.js";
import { MODE_NAMES, modeNamed } from "../wire/names.js";
import { askedAgain } from "../../kit/stream-json/agent/read-prompts.js";
import { controlAnswer } from "./write-replies.js";
import { answer, command, configure, effortPatch } from "../../kit/stream-json/agent/control-ops.js";
import { interrupted, isSettled } from "../../kit/stream-json/agent/session.js";
import { type AgentState, type Control } from "./state.js";
import { requests, type RequestFields, type RequestName } from "../wire/op-records.js";
import { ofHost, serversOf } from "../wire/servers.js";
import { usageInfo } from "./usage-info.js";
import { STATUS } from "./write-turns.js";

/** The text for a prompt that was interrupted. */
export const CANCELLED = "Operation cancelled.";

/** The longest time that a host may take for a permission. */
const LONGEST_MS = 600_000;

export type KnownRequest = { [N in RequestName]: RequestFields<N> }[RequestName];

export function readRequest(request: unknown): KnownRequest | Refused {
  return readBy<KnownRequest>(requests, request, {
    unknown: (subtype) => ({ refused: `Unknown control request subtype: ${subtype}` }),
    invalid: { set_model: "Invalid model specified for set_model request" },
  });
}

/** Some requests wait for the session, or for its surroundings. */
export function canAnswer({ subtype }: KnownRequest, { isReady, isGathered, catalogue }: AgentState): boolean {
  switch (subtype) {
    case "supported_commands":
      return isGathered || catalogue.commands !== undefined;
    case "initialize":
    case "get_context_usage":
    case "get_available_models":
    case "set_effort":
    case "continue_last_turn":
    case "can_use_tool":
      return isReady;
    default:
      return true;
  }
}

export function onRequest(request_id: string, request: KnownRequest, state: AgentState): Step<Op> {
  switch (request.subtype) {
    case "initialize":
      return onInitialize(request_id, request, state);
    case "interrupt":
      return { in: interrupted(state, CANCELLED), out: [granted(request_id, { subtype: "interrupt" })] };
    case "continue_last_turn":
      return onContinue(request_id, state);
    case "set_permission_mode":
      return onMode(request_id, request.mode, state);
    case "set_model":
      return onModel(request_id, request.model, state);
    case "set_effort":
      return onEffort(request_id, request.effort, state);
    case "supported_commands":
      return answer(granted(request_id, { subtype: request.subtype, commands: (state.catalogue.commands ?? []).map(({ name }) => name) }));
    case "get_context_usage":
      return command("context", { request_id, subtype: request.subtype, said: String(request.show_details === true) }, state);
    case "get_available_models":
      return command("model", { request_id, subtype: request.subtype, said: "" }, state);
    case "get_usage_info":
      return answer(granted(request_id, usageInfo(request.range ?? "all", state)));
    case "mcp_server_status":
      return answer(granted(request_id, { subtype: request.subtype, status: serverStatus(state) }));
    case "can_use_tool":
      return answer(granted(request_id, ownVerdict(request.tool_name, state)));
    default:
      request satisfies never;
      return { in: [], out: [] };
  }
}

// --- initialize ---

function onInitialize(request_id: string, request: RequestFields<"initialize">, state: AgentState): Step<Op> {
  const { config } = state;
  const servers = { ...ofHost(request.sdkMcpServers), ...serversOf(request.mcpServers) };
  for (const name of Object.keys(servers)) if (!isSettled(name, state)) state.awaited.add(name);
  state.isControlled = true;
  const { canUseTool } = request.timeout ?? {};
  const others = (config.hostTools ?? []).filter(({ name }) => name !== ASK_USER.name);
  const effort = request.effort === undefined ? undefined : effortPatch(request.effort, state);
  const patch: SessionConfig = {
    // Not every driven agent takes tools of its host.
    ...(state.capabilities["hostTools"] === true && { hostTools: [...others, ASK_USER] }),
    ...(canUseTool !== undefined && canUseTool > 0 && { answerSeconds: Math.min(canUseTool, LONGEST_MS) / 1000 }),
    ...(Object.keys(servers).length > 0 && { mcpServers: { ...config.mcpServers, ...servers } }),
    ...(request.agents !== undefined && { subagents: request.agents.map(agentOf) }),
    ...effort,
  };
  const control: Control = { request_id, subtype: "initialize", said: request.effort ?? "", applies: effort !== undefined };
  return Object.keys(patch).length === 0 ? answer(controlAnswer(control, undefined, state)) : configure(patch, control, state);
}

function agentOf(agent: NonNullable<RequestFields<"initialize">["agents"]>[number]): NonNullable<SessionConfig["subagents"]>[number] {
  const { name, description, systemPrompt, tools, modelConfig } = agent;
  const model = isRecord(modelConfig) ? modelConfig["model"] : undefined;
  return {
    name,
    description: description ?? name,
    ...(systemPrompt !== undefined && { system: systemPrompt }),
    ...(tools !== undefined && tools.length > 0 && { tools }),
    ...(typeof model === "string" && model !== "" && { model }),
  };
}

// --- what runs ---

function onContinue(request_id: string, state: AgentState): Step<Op> {
  const interruption = state.turn === undefined && state.asked.length === 0 ? state.unfinished : "none";
  const accepted = interruption !== "none";
  if (accepted) state.asked.push({ ...askedAgain(state), isHeld: true });
  return answer(granted(request_id, { subtype: "continue_last_turn", accepted, interruption }));
}

// --- settings ---

function onMode(request_id: string, name: string, state: AgentState): Step<Op> {
  const mode = modeNamed(name);
  if (mode === undefined)
    return answer(refusal(request_id, `Invalid permission mode: ${echo(name)}. Valid values are: ${MODE_NAMES.join(", ")}`));
  return configure({ mode }, { request_id, subtype: "set_permission_mode", said: name }, state);
}

function onModel(request_id: string, model: string, state: AgentState): Step<Op> {
  if (model.trim() === "") return answer(refusal(request_id, "Invalid model specified for set_model request"));
  return configure({ model }, { request_id, subtype: "set_model", said: model }, state);
}

function onEffort(request_id: string, effort: string, state: AgentState): Step<Op> {
  if (!EFFORT_NAMES.includes(effort))
    return answer(refusal(request_id, `Invalid effort: ${echo(effort)}. Valid values are: ${EFFORT_NAMES.join(", ")}`));
  const patch = effortPatch(effort, state);
  if (patch === undefined) return answer(granted(request_id, { subtype: "set_effort", effort, applied: false, override: null }));
  return configure(patch, { request_id, subtype: "set_effort", said: effort }, state);
}

// --- what is known here ---

function serverStatus({ catalogue }: AgentState): Record<string, string> {
  return Object.fromEntries((catalogue.mcpServers ?? []).map(({ name, status }) => [name, STATUS[status]]));
}

/** Whether the tool would run unasked now. */
function ownVerdict(name: string, { config }: AgentState): Record<string, unknown> {
  const category = categoryOf(canonicalTool(name));
  const { mode = "default" } = config;
  const runs = category === "info" || runsUnasked(mode, category);
  if (runs) return { subtype: "can_use_tool", behavior: "allow" };
  return { subtype: "can_use_tool", behavior: "deny", message: `${name} is asked for in this mode` };
}
