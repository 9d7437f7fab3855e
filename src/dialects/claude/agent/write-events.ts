/** Agent → host, written: events of a turn and of the session as lines. */
import type { EventOf } from "../../../core/event.js";
import { isRecord } from "../../../core/values/json-object.js";
import type { Op } from "../../../core/op.js";
import { addUsage } from "../../../core/usage.js";
import type { Out, Step } from "../../dialect.js";
import { address, envelopeOf, timeOf } from "../../kit/stream-json/agent/session.js";
import { taskOf } from "../../kit/stream-json/agent/tasks.js";
import { asking, LIMIT_NOTICES, newTurn } from "../../kit/stream-json/agent/turn.js";
import { endOfCall, forgetPrompt, handedOver, noteCall, noteUsage, answeredAtEnd } from "../../kit/stream-json/agent/turn-state.js";
import type { TurnLines } from "../../kit/stream-json/agent/turn-events.js";
import { line } from "../../kit/stream-json/write-lines.js";
import { STRUCTURED } from "../wire/host-tools.js";
import { wireTool } from "../wire/names.js";
import { wireInput } from "../wire/tool-input.js";
import { NO_USAGE } from "../wire/usage.js";
import { uuidOf } from "../../kit/stream-json/uuid.js";
import { notice, replayLine, syntheticLine, systemLine, userLine } from "./lines.js";
import type { AgentState } from "./state.js";
import { apiErrorKind, endOf, initLine, INTERRUPTED, resultLine, speechOf, stopOf, toolResult } from "./write-turns.js";
import { taskEnded, taskStarted } from "./write-tasks.js";

export const TURN_LINES: TurnLines<AgentState> = {
  speechOf,
  started: onStarted,
  ended: onEnded,
  called: onCall,
  callStarted: onCallStarted,
  progress: onProgress,
  callEnded: onCallEnded,
  approval: onApproval,
  usage: onUsage,
  notice: onNotice,
  compaction: onCompaction,
  error: (message, state) => [notice(message, state, "warning", "error")],
};

// --- turns ---

function onStarted(event: EventOf<"turn.started">, state: AgentState): Out[] {
  state.turn = { ...newTurn(event.turn ?? "", timeOf(event, state)), usage: NO_USAGE, hadTools: false };
  state.structured = undefined;
  state.speeches.clear();
  const { said } = state.asked.find(({ op }) => op?.turn === event.turn) ?? {};
  return [initLine(state), ...(said === undefined ? [] : [replayLine(said, event.turn ?? "", envelopeOf(state))])];
}

/** A hook of the event Stop has the model go on: its words are what the model hears next. */
export function wentOn(reason: string, state: AgentState): Out[] {
  if (state.turn !== undefined) asking(state.turn, state.env.stamp().at);
  return [userLine({ content: [{ type: "text", text: `Stop hook feedback:\n${reason}` }] }, envelopeOf(state))];
}

function onEnded(event: EventOf<"turn.ended">, state: AgentState): Out[] {
  const at = timeOf(event, state);
  answeredAtEnd(event, at, state);
  const end = endOf(event, state);
  const last = [...state.speeches.values()].flatMap((speech) => speech.end(stopOf(event)));
  const said = saidAtEnd(event, end, state);
  const back = state.questions.settled(() => true);
  const result = resultLine(end, at, state);
  state.turn = state.stopped = state.blocked = undefined;
  state.isStopping = false;
  state.hooks.turnEnded();
  state.decided.clear();
  state.tasks.clear();
  state.speeches.clear();
  state.allowed.clear();
  forgetPrompt(event, state);
  const exit: Out[] = state.switches.isOneShot && state.isFailed ? [{ exit: 1, reason: end.text }] : [];
  return [...last, ...back, ...said, result, ...exit];
}

/** The line before the result: an API failure as a message of the agent, an interrupt as a message of the user. */
function saidAtEnd({ outcome }: EventOf<"turn.ended">, end: ReturnType<typeof endOf>, state: AgentState): Out[] {
  if (state.blocked !== undefined) return [notice(end.text, state)];
  if (end.subtype === "success" && end.api !== undefined) return [syntheticLine(end.text, envelopeOf(state), apiErrorKind(end.api.status))];
  if (outcome !== "interrupted" || end.subtype === "success") return [];
  const text = state.turn?.hadTools === true ? INTERRUPTED.replace("]", " for tool use]") : INTERRUPTED;
  return [userLine({ content: [{ type: "text", text }] }, envelopeOf(state))];
}

// --- calls ---

function onCall(event: EventOf<"tool.requested">, state: AgentState): Out[] {
  const { call, under } = event;
  const input = noteCall(event, state);
  return speechOf(state, under).call(call.id, wireTool(call.name), wireInput(call.name, input));
}

/** Starts the sub-agent together with its Spawn call. */
function onCallStarted(event: EventOf<"tool.started">, state: AgentState): Out[] {
  const { call, args, under } = event;
  const said = speechOf(state, under).end();
  const known = state.turn?.calls.get(call);
  if (known !== undefined) known.since = timeOf(event, state);
  const task = known?.name === "Spawn" ? taskOf(args ?? known.input, event.at ?? 0) : undefined;
  if (task === undefined) return said;
  state.tasks.set(call, task);
  return [...said, ...taskStarted(call, task, state)];
}

/** Writes progress at most once a second, without the output, which the result has. Sub-agents have lines of their own. */
function onProgress(event: EventOf<"tool.progress">, state: AgentState): Out[] {
  const call = state.turn?.calls.get(event.call);
  if (call === undefined || call.name === "Spawn") return [];
  const at = timeOf(event, state);
  call.since ??= at;
  const seconds = Math.floor(Math.max(0, at - call.since) / 1000);
  if (seconds <= (call.toldSeconds ?? 0)) return [];
  call.toldSeconds = seconds;
  const { env, session_id, under } = envelopeOf(state, event.under);
  return [
    line({
      type: "tool_progress",
      tool_use_id: event.call,
      tool_name: wireTool(call.name),
      parent_tool_use_id: under,
      elapsed_time_seconds: seconds,
      session_id,
      uuid: uuidOf(env.stamp().id),
    }),
  ];
}

function onCallEnded(given: EventOf<"tool.ended">, state: AgentState): Step<Op> {
  const [event, isRefused] = endOfCall(given, state);
  const said = speechOf(state, event.under).end();
  const own = state.speeches.get(event.call)?.end() ?? [];
  const task = state.tasks.get(event.call);
  const wasAsked = state.questions.askedAbout() === event.call;
  const next = state.questions.settled(({ call }) => state.isStopping || call === event.call);
  const ended = task === undefined ? [] : taskEnded(event, task, state);
  if ((event.status === "cancelled" || isRefused) && state.turn !== undefined) state.turn.hadTools = true;
  const result = toolResult(event, wasAsked, timeOf(event, state), state);
  return { in: handedOver(event, STRUCTURED, state), out: [...said, ...next, ...own, ...ended, ...result] };
}

/** Asks the host, unless the control channel is not open or the mode asks nobody. */
function onApproval({ calls, under }: EventOf<"approval.requested">, state: AgentState): Step<Op> {
  const said = speechOf(state, under).end();
  const open = calls.filter(({ id }) => !state.allowed.has(id));
  const granted = calls
    .filter(({ id }) => state.allowed.has(id))
    .map(({ id }) => ({ call: id, decision: "allow" as const, grant: "call" as const }));
  const reason = refusalReason(state);
  const denied = reason === undefined ? [] : open.map(({ id }) => ({ call: id, decision: "deny" as const, reason }));
  const answers = [...granted, ...denied];
  const answer: Op[] = answers.length === 0 ? [] : [{ type: "approval.answer", ...address(state), answers }];
  return { in: answer, out: [...said, ...(reason === undefined ? state.questions.permissions(open) : [])] };
}

/** The reason for which the host is asked nothing; undefined where it is asked. */
export function refusalReason({ isControlled, isDeaf, modeName, switches }: AgentState): string | undefined {
  if (isDeaf && isControlled) return "Input closed";
  if (!isControlled) return NOBODY;
  if (switches.asksNobody) return UNANSWERED;
  return modeName === "dontAsk" ? "The mode dontAsk denies what would be asked" : undefined;
}

const NOBODY =
  "nobody can be asked here: the host did not open the control channel with initialize. --permission-mode, --allowedTools or a rule can allow it";
const UNANSWERED =
  "Permission for this was requested, but it has not been granted: the host answers no questions (no --permission-prompt-tool stdio, which canUseTool brings). --permission-mode, --allowedTools or a rule can allow it";

// --- around ---

function onUsage(event: EventOf<"usage">, state: AgentState): void {
  const { scope, usage, cost = 0, under } = event;
  state.costs = scope === "session" && cost > 0 ? cost : state.costs;
  if (scope !== "call") return;
  const model = state.config.model ?? "";
  const before = state.spent.get(model);
  state.spent.set(model, { usage: addUsage(before?.usage, usage), cost: (before?.cost ?? 0) + cost });
  state.costs += cost;
  noteUsage(event, speechOf(state, under), state);
  if (under === undefined && state.turn !== undefined) state.turn.usage = addUsage(state.turn.usage, usage);
}

function onNotice(event: EventOf<"notice">, state: AgentState): Out[] {
  const data = isRecord(event.data) ? event.data : {};
  if (event.kind === "retry") return [systemLine("api_retry", retryFields(data), envelopeOf(state, event.under))];
  // The result has this limit.
  if (event.under === undefined && LIMIT_NOTICES.has(event.kind)) return [];
  if (event.level === "debug" || event.level === "info") return [];
  return [notice(event.text, state, "warning", event.kind)];
}

function retryFields(data: Record<string, unknown>): Parameters<typeof systemLine<"api_retry">>[1] {
  const { attempt, maxAttempts, delayMs, status } = data;
  const known = typeof status === "number" ? status : undefined;
  return {
    attempt: typeof attempt === "number" ? attempt : 1,
    max_retries: typeof maxAttempts === "number" ? maxAttempts : 1,
    retry_delay_ms: typeof delayMs === "number" ? delayMs : 0,
    error_status: known ?? null,
    error: apiErrorKind(known),
  };
}

/** Writes the compaction of the session's own conversation; that of a sub-agent is left out. */
function onCompaction({ phase, before = 0, after, summary, under }: EventOf<"compaction">, state: AgentState): Out[] {
  if (under !== undefined) return [];
  const envelope = envelopeOf(state);
  if (phase === "started") return [systemLine("status", { status: "compacting" }, envelope)];
  if (phase === "failed")
    return [
      systemLine("status", { status: null, compact_result: "failed", compact_error: summary ?? "it could not be summed up" }, envelope),
    ];
  const trigger = state.turn === undefined ? "manual" : "auto";
  const compact_metadata = { trigger, pre_tokens: before, ...(after !== undefined && { post_tokens: after }) };
  return [
    systemLine("status", { status: null, compact_result: "success" }, envelope),
    systemLine("compact_boundary", { compact_metadata }, envelope),
  ];
}
