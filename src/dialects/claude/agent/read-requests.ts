/** Control requests of the host: this side answers each, or waits for the op that it became. */
import type { SessionConfig } from "../../../core/config.js";
import type { Op } from "../../../core/op.js";
import type { Step } from "../../dialect.js";
import { echo } from "../../kit/issues.js";
import { answer, command, configure, effortPatch } from "../../kit/stream-json/agent/control-ops.js";
import { address, interrupted, isSettled } from "../../kit/stream-json/agent/session.js";
import { readBy, type Refused } from "../../kit/stream-json/agent/read-host-lines.js";
import { granted, refusal } from "../../kit/stream-json/write-lines.js";
import { ASK_USER, STRUCTURED } from "../wire/host-tools.js";
import { EFFORT_NAMES } from "../../kit/stream-json/efforts.js";
import { agentsOf } from "../wire/agents.js";
import { MODE_NAMES, modelNamed, modeNamed } from "../wire/names.js";
import { type KnownRequest, type RequestFields, requests } from "../wire/op-records.js";
import { ofHost, serversOf } from "../wire/servers.js";
import { withSchema } from "../../kit/host-tools.js";
import { notice } from "./lines.js";
import type { AgentState, Control } from "./state.js";
import { commandRows, controlAnswer, mcpStatus, modelRows, PREVIEW, settingsOf } from "./write-replies.js";
import { INTERRUPTED } from "./write-turns.js";

export function readRequest(request: unknown): KnownRequest | Refused {
  return readBy<KnownRequest>(requests, request, {
    unknown: (subtype) => ({ refused: `Unsupported control request subtype: ${subtype}`, code: "unsupported_request" }),
  });
}

/** Most requests wait for the session; `initialize` also waits for the catalogue that its answer lists. */
export function canAnswer({ subtype }: KnownRequest, { isReady, isGathered, catalogue }: AgentState): boolean {
  if (subtype === "initialize") return isReady && (isGathered || catalogue.commands !== undefined);
  return subtype === "interrupt" || isReady;
}

export function onRequest(request_id: string, request: KnownRequest, state: AgentState): Step<Op> {
  const { subtype } = request;
  const control = (said = ""): Control => ({ request_id, subtype, said });
  switch (subtype) {
    case "initialize":
      return onInitialize(request, control(), state);
    case "interrupt":
      state.isStopping = state.turn !== undefined;
      return { in: interrupted(state, INTERRUPTED), out: [granted(request_id, { still_queued: [] })] };
    case "set_permission_mode":
      return onMode(request.mode, control(request.mode), state);
    case "set_model":
      return onModel(request.model ?? "", control(), state);
    case "set_max_thinking_tokens":
      return changed(thinkingPatch(request.max_thinking_tokens), control(), state);
    case "apply_flag_settings":
      return onSettings(request.settings, control(), state);
    case "get_settings":
      return answer(granted(request_id, settingsOf(state)));
    case "get_context_usage":
      return command("context", control(), state);
    case "mcp_status":
      return answer(granted(request_id, { mcpServers: mcpStatus(state) }));
    case "mcp_set_servers":
      return onServers(request, control(), state);
    case "reload_plugins":
    case "reload_skills":
      return answer(granted(request_id, { ...commandRows(state), plugins: [], mcpServers: mcpStatus(state), error_count: 0 }));
    case "list_models":
      return answer(granted(request_id, { models: modelRows(state) }));
    case "rewind_files":
      return onRewind(request, control(request.dry_run === true ? PREVIEW : ""), state);
    case "stop_task":
      return answer(refusal(request_id, `No task is running with the id ${echo(request.task_id)}: sub-agents end with their turn`));
    default:
      request satisfies never;
      return { in: [], out: [] };
  }
}

/** Files go back to their state before a prompt, also those that others have changed since; the conversation stays. */
function onRewind({ user_message_id: turn, dry_run }: RequestFields<"rewind_files">, control: Control, state: AgentState): Step<Op> {
  const head = address(state);
  state.controls.set(head.id, control);
  const extent = { files: true, conversation: false, force: true, ...(dry_run === true && { preview: true }) };
  return { in: [{ type: "session.rewind", ...head, turn, ...extent }], out: [] };
}

/** A request that changes nothing here is answered at once. */
function changed(patch: SessionConfig, control: Control, state: AgentState): Step<Op> {
  return Object.keys(patch).length === 0 ? answer(controlAnswer(control, undefined, state)) : configure(patch, control, state);
}

// --- initialize ---

function onInitialize(request: RequestFields<"initialize">, control: Control, state: AgentState): Step<Op> {
  const { config, switches } = state;
  const servers = ofHost(request.sdkMcpServers ?? []);
  for (const name of Object.keys(servers)) if (!isSettled(name, state)) state.awaited.add(name);
  state.isControlled = true;
  const { config: hooks, unknown } = state.hooks.register(request.hooks ?? {});
  const schema = request.jsonSchema ?? undefined;
  if (schema !== undefined) switches.schema = schema;
  const { hostTools = [], ...restricted } = withSchema(STRUCTURED, schema, config);
  const others = (config.hostTools ?? []).filter(({ name }) => name !== ASK_USER.name && name !== STRUCTURED);
  const kept = schema === undefined ? (config.hostTools ?? []).filter(({ name }) => name === STRUCTURED) : hostTools;
  const patch: SessionConfig = {
    // Not every driven agent takes tools of its host.
    ...(state.capabilities["hostTools"] === true && { hostTools: [...others, ...kept, ASK_USER], ...restricted }),
    ...systemPatch(request),
    ...(Object.keys(servers).length > 0 && { mcpServers: { ...config.mcpServers, ...servers } }),
    ...(request.agents && { subagents: agentsOf(request.agents) }),
    ...hooks,
  };
  const warnings = unknown.map((event) => notice(`The hook ${event} is never asked here`, state));
  const step = changed(patch, control, state);
  return { in: step.in, out: [...warnings, ...step.out] };
}

/** The SDK sends an empty system prompt if its user gave none: our own then stays. */
function systemPatch({ systemPrompt = "", appendSystemPrompt = "" }: RequestFields<"initialize">): SessionConfig {
  const system = Array.isArray(systemPrompt) ? systemPrompt.join("\n\n") : (systemPrompt ?? "");
  return { ...(system.trim() !== "" && { system }), ...(appendSystemPrompt && { appendSystem: appendSystemPrompt }) };
}

// --- settings ---

function onMode(name: string, control: Control, state: AgentState): Step<Op> {
  const mode = modeNamed(name);
  if (mode === undefined) return answer(refusal(control.request_id, `Cannot set permission mode: must be one of ${MODE_NAMES.join(", ")}`));
  return changed({ mode }, control, state);
}

function onModel(name: string, control: Control, state: AgentState): Step<Op> {
  const model = modelNamed(name) ?? state.ownModel;
  control.said = model ?? state.config.model ?? "";
  return changed(model === undefined ? {} : { model }, control, state);
}

/** Thinking for a token budget: null leaves the amount to the model, 0 switches thinking off. */
function thinkingPatch(budget: number | null | undefined): SessionConfig {
  if (budget === null || budget === undefined) return { thinking: "enabled" };
  return budget === 0 ? { thinking: "disabled" } : { thinking: "enabled", thinkingBudget: budget };
}

/** Applies the two settings that a session has here: the model and the effort. */
function onSettings({ model, effortLevel }: Record<string, unknown>, control: Control, state: AgentState): Step<Op> {
  const named = typeof model === "string" ? (modelNamed(model) ?? state.ownModel) : undefined;
  const effort = typeof effortLevel === "string" && EFFORT_NAMES.includes(effortLevel) ? effortPatch(effortLevel, state) : undefined;
  return changed({ ...(named !== undefined && { model: named }), ...effort }, control, state);
}

/** The request names all servers of the host: the others that it brought before go. */
function onServers({ servers }: RequestFields<"mcp_set_servers">, control: Control, state: AgentState): Step<Op> {
  const mcpServers = serversOf(servers);
  const before = Object.keys(state.config.mcpServers ?? {});
  const added = Object.keys(mcpServers).filter((name) => !before.includes(name));
  const removed = before.filter((name) => !(name in mcpServers));
  control.said = JSON.stringify({ added, removed, errors: {} });
  return changed({ mcpServers }, control, state);
}
