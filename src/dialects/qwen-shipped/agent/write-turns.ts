/** A turn on this wire: it begins with `system/init`, is timed and counted, and ends with exactly one `result`. */
import { plainText } from "../../../core/content.js";
import type { Fault } from "../../../core/errors.js";
import type { EventOf } from "../../../core/event.js";
import type { Out } from "../../dialect.js";
import { uuidOf } from "../../kit/stream-json/uuid.js";
import { envelopeOf, type Outcome } from "../../kit/stream-json/agent/session.js";
import { type AgentState } from "./state.js";
import { asking, type AgentTurn, type CountedCall } from "../../kit/stream-json/agent/turn.js";
import { line, userLine } from "../../kit/stream-json/write-lines.js";
import { NO_USAGE, writeUsage } from "../wire/usage.js";
import type { Progress } from "./write-progress.js";
import { MessageWriter } from "../../kit/stream-json/agent/message-writer.js";
import { WIRE_VERSION, wireMode, wireTool } from "../wire/names.js";
import { shortened } from "./shorten.js";

export type Turn = AgentTurn<CountedCall & { progress?: Progress }>;

/** The writer of messages of the session's own agent, or of the sub-agents under a call. */
export function speechOf(state: AgentState, under: string | undefined): MessageWriter {
  const key = under ?? "";
  const known = state.speeches.get(key);
  if (known !== undefined) return known;
  const speech = new MessageWriter({
    envelope: envelopeOf(state, under),
    model: () => modelOf(state),
    partial: state.switches.partial,
    usage: (usage) => (usage === undefined ? NO_USAGE : writeUsage(usage)),
  });
  state.speeches.set(key, speech);
  return speech;
}

function modelOf({ config }: AgentState): string {
  return config.model ?? "";
}

// --- the beginning ---

export function initLine(state: AgentState): Out {
  const { sessionId, config, capabilities, catalogue } = state;
  const servers = catalogue.mcpServers ?? [];
  const known = Array.isArray(capabilities["tools"]) ? capabilities["tools"].filter((name) => typeof name === "string") : [];
  const tools = known.filter((name) => name !== "Skill" || (catalogue.skills ?? []).length > 0);
  return line({
    type: "system",
    subtype: "init",
    uuid: sessionId,
    session_id: sessionId,
    cwd: config.cwd ?? "",
    tools: [...tools.map(wireTool), ...servers.flatMap((server) => server.tools.map(({ qualifiedName }) => qualifiedName))],
    mcp_servers: servers.map(({ name, status }) => ({ name, status: STATUS[status] })),
    model: modelOf(state),
    permission_mode: state.modeName ?? wireMode(config.mode),
    slash_commands: (catalogue.commands ?? []).map(({ name }) => name),
    qwen_code_version: WIRE_VERSION,
    agents: (catalogue.subagents ?? []).map(({ name }) => name),
  });
}

export const STATUS = { ready: "connected", connecting: "connecting", failed: "disconnected" } as const;

// --- on the way ---

/** The result of a call goes to the model next. */
export function toolResult(event: EventOf<"tool.ended">, at: number, state: AgentState): Out {
  const { turn } = state;
  const call = turn?.calls.get(event.call);
  const excluded = event.status === "failed" && state.config.disallowedTools?.includes(call?.name ?? "") === true;
  if ((event.status === "denied" || excluded) && call !== undefined) {
    turn?.denials.push({ tool_name: wireTool(call.name), tool_use_id: event.call, tool_input: call.input });
  }
  if (turn !== undefined && event.under === undefined) asking(turn, at);
  countTool(wireTool(call?.name ?? ""), event.status === "ok", state);
  const content = excluded ? `${wireTool(call?.name ?? "")} is denied by the rule ${call?.name ?? ""} (--exclude-tools)` : contentOf(event);
  const block = { type: "tool_result", tool_use_id: event.call, is_error: event.status !== "ok", content: shortened(content) };
  return userLine([block], envelopeOf(state, event.under));
}

function contentOf({ status, reason, output = [] }: EventOf<"tool.ended">): string {
  return status === "denied" || status === "cancelled" ? `[Operation Cancelled] Reason: ${reason || "no reason given"}` : plainText(output);
}

function countTool(name: string, ok: boolean, { tools }: AgentState): void {
  const { count, success, fail } = tools.get(name) ?? { count: 0, success: 0, fail: 0 };
  tools.set(name, { count: count + 1, success: success + (ok ? 1 : 0), fail: fail + (ok ? 0 : 1) });
}

// --- the end ---

/** The outcome of a turn: success or not, its text, and the exit code of a process for this turn alone. */
export interface End {
  exit: number;
  subtype: "success" | "error_during_execution" | "error_max_turns";
  text: string;
}

export function endOf(event: EventOf<"turn.ended">, state: AgentState): End {
  const { turn, structured, switches } = state;
  if (structured !== undefined) return { exit: 0, subtype: "success", text: JSON.stringify(structured.value) };
  switch (event.outcome) {
    case "interrupted":
      return { exit: EXITS.interrupted, subtype: "error_during_execution", text: "Operation cancelled." };
    case "failed":
      return {
        exit: event.fault?.code === "limit" ? EXITS.budget : 1,
        subtype: "error_during_execution",
        text: failureText(event.fault, event.reason),
      };
    case "completed": {
      const stop = STOPS[event.finish ?? ""];
      if (stop !== undefined) return stop;
      if (switches.schema !== undefined) return { exit: 1, subtype: "error_during_execution", text: NO_STRUCTURE };
      return { exit: 0, subtype: "success", text: turn?.text ?? "" };
    }
    default:
      event.outcome satisfies never;
      return { exit: 1, subtype: "error_during_execution", text: "" };
  }
}

const NO_STRUCTURE = "The model ended without calling structured_output, so there is no structured result";

/** The exit codes of a process that runs one prompt. */
const EXITS = { turns: 53, budget: 55, interrupted: 130 } as const;

const STOPS: Readonly<Record<string, End>> = {
  max_turns: { exit: EXITS.turns, subtype: "error_max_turns", text: "Reached the limit of model calls of one turn (--max-session-turns)" },
  max_tool_calls: { exit: EXITS.budget, subtype: "error_during_execution", text: "Reached the limit of tool calls (--max-tool-calls)" },
  max_cost: { exit: EXITS.budget, subtype: "error_during_execution", text: "Reached the limit of the session's costs" },
  loop: {
    exit: 1,
    subtype: "error_during_execution",
    text: "The model repeats the same calls with the same results; the turn was stopped",
  },
};

/** A provider's failure is written as in the original, both as a message and in the result. */
function failureText(fault: Fault | undefined, reason = ""): string {
  const message = (fault?.message ?? reason).replace("(maxSeconds)", "(--max-wall-time)");
  return isApiError(fault) ? `[API Error: ${message}]` : message;
}

export function isApiError(fault: Fault | undefined): boolean {
  return fault?.code === "provider" || fault?.code === "context_overflow";
}

/** `usage` counts the whole process. */
export function resultLine({ subtype, text }: Omit<End, "exit">, at: number, state: AgentState): Out {
  const { turn, env, sessionId: session_id, structured, switches } = state;
  const isError = subtype !== "success";
  return line({
    type: "result",
    subtype,
    uuid: uuidOf(env.stamp().id),
    session_id,
    is_error: isError,
    duration_ms: turn === undefined ? 0 : Math.max(0, at - turn.since),
    duration_api_ms: turn?.modelMs ?? 0,
    num_turns: turn?.modelCalls ?? 0,
    ...(isError ? {} : { result: text }),
    usage: writeUsage(state.usage),
    permission_denials: turn?.denials ?? [],
    ...(isError && { error: { message: text } }),
    ...(structured !== undefined && { structured_result: structured.value }),
    ...(switches.format === "whole" && { stats: statsOf(state) }),
  });
}

/** The result for a prompt that became no turn. */
export function outcomeLines(outcome: Outcome, state: AgentState): Out[] {
  const at = state.env.stamp().at;
  if ("problem" in outcome) return [resultLine({ subtype: "error_during_execution", text: outcome.problem }, at, state)];
  const { text } = outcome;
  return [initLine(state), ...speechOf(state, undefined).say(text), resultLine({ subtype: "success", text }, at, state)];
}

function statsOf({ usage, modelCalls, tools, config }: AgentState): unknown {
  const { input_tokens, output_tokens, total_tokens } = writeUsage(usage);
  const tokens = {
    prompt: input_tokens,
    candidates: output_tokens,
    total: total_tokens,
    cached: usage.cacheRead ?? 0,
    thoughts: usage.reasoning ?? 0,
  };
  const counts = [...tools.values()];
  const sum = (pick: (count: (typeof counts)[number]) => number): number => counts.reduce((total, count) => total + pick(count), 0);
  return {
    models: { [config.model ?? ""]: { api: { totalRequests: modelCalls }, tokens } },
    tools: {
      totalCalls: sum(({ count }) => count),
      totalSuccess: sum(({ success }) => success),
      totalFail: sum(({ fail }) => fail),
      byName: Object.fromEntries(tools),
    },
  };
}
