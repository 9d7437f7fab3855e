/** A turn on this wire: it begins with `system/init`, is timed and counted, and ends with exactly one `result`. */
import { type Part, plainText } from "../../../core/content.js";
import type { Fault } from "../../../core/errors.js";
import type { EventOf } from "../../../core/event.js";
import type { Out } from "../../dialect.js";
import { envelopeOf, type Outcome } from "../../kit/stream-json/agent/session.js";
import { asking } from "../../kit/stream-json/agent/turn.js";
import { MessageWriter } from "../../kit/stream-json/agent/message-writer.js";
import { uuidOf } from "../../kit/stream-json/uuid.js";
import { line } from "../../kit/stream-json/write-lines.js";
import type { ResultMeta } from "../wire/event-records.js";
import { listedTool, WIRE_VERSION, wireMode, wireTool } from "../wire/names.js";
import { wireInput } from "../wire/tool-input.js";
import { type ModelUsage, modelUsage, NO_USAGE, wireUsage } from "../wire/usage.js";
import { ONE_BLOCK, syntheticLine, systemLine, usageOrNone, userLine } from "./lines.js";
import type { AgentState } from "./state.js";
import { resultData } from "./tool-results.js";
import { taskResult } from "./write-tasks.js";

/** The writer of messages of the session's own agent, or of the sub-agents under a call. */
export function speechOf(state: AgentState, under: string | undefined): MessageWriter {
  const key = under ?? "";
  const known = state.speeches.get(key);
  if (known !== undefined) return known;
  const speech = new MessageWriter({
    envelope: envelopeOf(state, under),
    model: () => state.config.model ?? "",
    partial: state.switches.partial,
    usage: usageOrNone,
    oneBlock: ONE_BLOCK,
  });
  state.speeches.set(key, speech);
  return speech;
}

export function modeOf({ modeName, config }: AgentState): string {
  return modeName ?? wireMode(config.mode);
}

// --- the beginning ---

export const STATUS = { ready: "connected", connecting: "pending", failed: "failed" } as const;

export function initLine(state: AgentState): Out {
  const { env, sessionId, config, capabilities, catalogue } = state;
  const servers = catalogue.mcpServers ?? [];
  const known = Array.isArray(capabilities["tools"]) ? capabilities["tools"].filter((name) => typeof name === "string") : [];
  const tools = known.filter((name) => name !== "Skill" || (catalogue.skills ?? []).length > 0);
  return line({
    type: "system",
    subtype: "init",
    cwd: config.cwd ?? "",
    session_id: sessionId,
    tools: [...tools.map(listedTool), ...servers.flatMap((server) => server.tools.map(({ qualifiedName }) => qualifiedName))],
    mcp_servers: servers.map(({ name, status }) => ({ name, status: STATUS[status] })),
    model: config.model ?? "",
    permissionMode: modeOf(state),
    slash_commands: (catalogue.commands ?? []).map(({ name }) => name),
    apiKeySource: config.provider === "anthropic" ? "ANTHROPIC_API_KEY" : "none",
    claude_code_version: WIRE_VERSION,
    output_style: "default",
    agents: (catalogue.subagents ?? []).map(({ name }) => name),
    skills: (catalogue.skills ?? []).map(({ name }) => name),
    plugins: [],
    capabilities: ["interrupt_receipt_v1"],
    uuid: uuidOf(env.stamp().id),
  });
}

// --- on the way ---

/** `wasAsked`: the host was asked about this call, and had not answered. */
export function toolResult(event: EventOf<"tool.ended">, wasAsked: boolean, at: number, state: AgentState): Out[] {
  const { turn } = state;
  const { call: id, status, under } = event;
  const call = turn?.calls.get(id);
  if (call !== undefined && (status === "denied" || (status === "cancelled" && wasAsked)))
    turn?.denials.push({ tool_name: wireTool(call.name), tool_use_id: id, tool_input: wireInput(call.name, call.input) });
  if (turn !== undefined && under === undefined) asking(turn, at);
  const content = contentOf(event);
  const block = { tool_use_id: id, type: "tool_result", content, is_error: status !== "ok" };
  const result =
    status === "ok" ? dataOf(event, at, state, content) : `Error: ${typeof content === "string" ? content : plainText(event.output ?? [])}`;
  const decider = state.decided.get(id);
  const envelope = envelopeOf(state, under);
  // The host hears of a denial that it did not make itself.
  const told =
    status === "denied" && decider === undefined && call !== undefined
      ? [systemLine("permission_denied", { tool_name: wireTool(call.name), tool_use_id: id, message: plainContent(content) }, envelope)]
      : [];
  return [...told, userLine({ content: [block], result, meta: metaOf(id, status, decider) }, envelope)];
}

/** The result of a call that ran, in the shape of its tool; of other tools what the model sees. */
function dataOf({ call: id, output = [] }: EventOf<"tool.ended">, at: number, state: AgentState, content: unknown): unknown {
  const call = state.turn?.calls.get(id);
  if (call === undefined) return content;
  const task = state.tasks.get(id);
  if (task !== undefined) return taskResult(id, task, plainText(output), at) ?? content;
  const { name, input, since = at } = call;
  const around = { cwd: state.config.cwd ?? "", took: Math.max(0, at - since), todos: state.todos };
  const data = resultData({ name, input, output }, around) ?? content;
  state.todos = output.flatMap((part) => (part.type === "todo" ? [part.items] : [])).at(-1) ?? state.todos;
  return data;
}

function plainContent(content: string | unknown[]): string {
  return typeof content === "string" ? content : JSON.stringify(content);
}

function contentOf({ status, reason, output = [] }: EventOf<"tool.ended">): string | unknown[] {
  if (status === "denied") return reason || "The user denied this tool use.";
  if (status === "cancelled") return reason || "The tool use was cancelled.";
  return output.some(({ type }) => type === "image") ? output.map(blockOf) : plainText(output);
}

function blockOf(part: Part): unknown {
  if (part.type !== "image") return { type: "text", text: plainText([part]) };
  return { type: "image", source: { type: "base64", media_type: part.mime, data: part.data } };
}

/** Tells a denied call from a cancelled one, as their results look alike, and who decided. */
function metaOf(id: string, status: EventOf<"tool.ended">["status"], decider: "user" | "hook" | undefined): ResultMeta {
  if (status === "cancelled") return { id, non_execution_kind: "user-rejected" };
  const isDenied = status === "denied";
  const source = decider === "user" ? (isDenied ? "user_reject" : "user_temporary") : (decider ?? "config");
  const permission_decision = { decision: isDenied ? "reject" : "accept", source };
  return { id, ...(isDenied && { non_execution_kind: "permission-rule" }), permission_decision };
}

// --- the end ---

type TerminalReason = "completed" | "max_turns" | "budget_exhausted" | "aborted_streaming" | "aborted_tools" | "api_error" | StoppedByHook;

/** A hook ended the turn before its end, or at it. */
type StoppedByHook = "hook_stopped" | "stop_hook_prevented";

/** A result: the words of a success, or of a failure that the API or the agent had. */
export type End = { text: string; reason?: TerminalReason } & (
  | { subtype: "success"; stop: "end_turn" | "max_tokens" | null; api?: { status: number | undefined } }
  | { subtype: "error_during_execution" | "error_max_turns" | "error_max_budget_usd" }
);

export function endOf(event: EventOf<"turn.ended">, state: AgentState): End {
  const { turn, structured, switches, stopped, blocked } = state;
  if (structured !== undefined)
    return { subtype: "success", text: JSON.stringify(structured.value), stop: "end_turn", reason: "completed" };
  switch (event.outcome) {
    case "interrupted":
      if (blocked !== undefined) return { subtype: "success", text: blocked, stop: null };
      if (stopped !== undefined) return { subtype: "success", text: "", stop: null, reason: "hook_stopped" };
      return {
        subtype: "error_during_execution",
        text: INTERRUPTED,
        reason: turn?.hadTools === true ? "aborted_tools" : "aborted_streaming",
      };
    case "failed": {
      if (blocked !== undefined) return { subtype: "success", text: blocked, stop: null };
      const text = failureText(event.fault, event.reason);
      return isApiError(event.fault)
        ? { subtype: "success", text, stop: null, reason: "api_error", api: { status: event.fault?.status } }
        : { subtype: "error_during_execution", text };
    }
    case "completed":
      if (event.finish === "max_turns")
        return {
          subtype: "error_max_turns",
          text: `Reached maximum number of turns (${state.config.maxTurns ?? ""})`,
          reason: "max_turns",
        };
      if (isOverBudget(event, state))
        return {
          subtype: "error_max_budget_usd",
          text: `Reached maximum budget ($${state.config.maxCost ?? ""})`,
          reason: "budget_exhausted",
        };
      if (STOPS.has(event.finish ?? "")) return { subtype: "error_during_execution", text: STOPS.get(event.finish ?? "") ?? "" };
      if (switches.schema !== undefined) return { subtype: "error_during_execution", text: NO_STRUCTURE };
      return {
        subtype: "success",
        text: turn?.text ?? "",
        stop: stopOf(event) ?? "end_turn",
        reason: stopped === undefined ? "completed" : "stop_hook_prevented",
      };
    default:
      event.outcome satisfies never;
      return { subtype: "error_during_execution", text: "" };
  }
}

/** As in Claude Code, the answer that reaches the limit of the costs counts as beyond it. */
function isOverBudget({ finish }: EventOf<"turn.ended">, { config, costs }: AgentState): boolean {
  return finish === "max_cost" || (config.maxCost !== undefined && costs >= config.maxCost);
}

/** The reason for which the last message of a turn ends, where that is not plain: null for a message that was cut off. */
export function stopOf({ outcome, finish }: EventOf<"turn.ended">): "max_tokens" | null | undefined {
  if (outcome !== "completed") return null;
  return finish === "length" ? "max_tokens" : undefined;
}

export function blockedText(prompt: string, reason: string): string {
  return `UserPromptSubmit operation blocked by hook:\n${reason}\n\nOriginal prompt: ${prompt}`;
}

export const INTERRUPTED = "[Request interrupted by user]";
const NO_STRUCTURE = "The model ended without calling StructuredOutput, so there is no structured output";

const STOPS: ReadonlyMap<string, string> = new Map([
  ["max_tool_calls", "Reached the limit of tool calls of one turn"],
  ["loop", "The model repeats the same calls with the same results; the turn was stopped"],
]);

/** The text of a provider's failure, which Claude Code writes both as a message and in the result. */
function failureText(fault: Fault | undefined, reason = ""): string {
  const message = fault?.message ?? reason;
  return isApiError(fault) ? `API Error: ${message}` : message;
}

function isApiError(fault: Fault | undefined): boolean {
  return fault?.code === "provider" || fault?.code === "context_overflow";
}

/** The wire's name for the kind of an API failure. */
export function apiErrorKind(status: number | undefined): string {
  if (status === 401) return "authentication_failed";
  if (status === 403) return "billing_error";
  if (status === 404) return "model_not_found";
  if (status === 429) return "rate_limit";
  if (status === 529) return "overloaded";
  if (status === 400) return "invalid_request";
  return status !== undefined && status >= 500 ? "server_error" : "unknown";
}

export function resultLine(end: End, at: number, state: AgentState): Out {
  const { turn, env, sessionId: session_id, structured, costs } = state;
  const api = end.subtype === "success" ? end.api : undefined;
  const isError = end.subtype !== "success" || api !== undefined;
  state.isFailed = isError;
  return line({
    type: "result",
    subtype: end.subtype,
    is_error: isError,
    ...(api !== undefined && { api_error_status: api.status ?? null }),
    duration_ms: turn === undefined ? 0 : Math.max(0, at - turn.since),
    duration_api_ms: turn?.modelMs ?? 0,
    num_turns: state.blocked === undefined ? (turn?.modelCalls ?? 0) : 0,
    stop_reason: end.subtype === "success" ? end.stop : null,
    ...(end.subtype === "success" ? { result: end.text } : { errors: [end.text] }),
    session_id,
    total_cost_usd: costs,
    usage: wireUsage(turn?.usage ?? NO_USAGE),
    modelUsage: modelUsages(state),
    permission_denials: turn?.denials ?? [],
    ...(structured !== undefined && { structured_output: structured.value }),
    terminal_reason: end.reason,
    uuid: uuidOf(env.stamp().id),
  });
}

/** Costs that no model call told are those of the first model. */
function modelUsages({ spent, costs, config, capabilities }: AgentState): Record<string, ModelUsage> {
  const told = [...spent.values()].reduce((sum, { cost }) => sum + cost, 0);
  const { contextLimit = 0, outputLimit = 0 } = capabilities;
  const rows = [...spent].map(([model, each], index): [string, ModelUsage] => {
    const limits = model === config.model ? { contextWindow: Number(contextLimit), maxOutputTokens: Number(outputLimit) } : NO_LIMITS;
    return [model, { ...modelUsage(each, index === 0 ? Math.max(0, costs - told) : 0), ...limits }];
  });
  return Object.fromEntries(rows);
}

const NO_LIMITS = { contextWindow: 0, maxOutputTokens: 0 };

/** The result for a prompt that became no turn. */
export function outcomeLines(outcome: Outcome, state: AgentState): Out[] {
  const at = state.env.stamp().at;
  if ("problem" in outcome) return [resultLine({ subtype: "error_during_execution", text: outcome.problem }, at, state)];
  const { text } = outcome;
  return [
    initLine(state),
    syntheticLine(text, envelopeOf(state)),
    resultLine({ subtype: "success", text, stop: "end_turn", reason: "completed" }, at, state),
  ];
}
