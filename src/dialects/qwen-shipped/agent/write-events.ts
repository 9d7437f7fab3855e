/** Agent → host, written: events of a turn and of the session as lines. */
import type { EventOf } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import { addUsage } from "../../../core/usage.js";
import { isRecord } from "../../../core/values/json-object.js";
import type { Out, Step } from "../../dialect.js";
import type { TurnLines } from "../../kit/stream-json/agent/turn-events.js";
import { STRUCTURED } from "../wire/host-tools.js";
import { systemLine } from "./lines.js";
import { wireTool } from "../wire/names.js";
import { address, envelopeOf, timeOf } from "../../kit/stream-json/agent/session.js";
import { notice, type AgentState } from "./state.js";
import { onProgress } from "./write-progress.js";
import { taskOf } from "../../kit/stream-json/agent/tasks.js";
import { taskEnded, taskStarted } from "./write-tasks.js";
import { LIMIT_NOTICES, newTurn } from "../../kit/stream-json/agent/turn.js";
import { endOfCall, forgetPrompt, handedOver, noteCall, noteUsage, answeredAtEnd } from "../../kit/stream-json/agent/turn-state.js";
import { endOf, initLine, isApiError, resultLine, speechOf, toolResult, type Turn } from "./write-turns.js";
import type { SystemFields } from "../wire/event-records.js";

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
  error: (message, state) => [notice(message, state, "error", "error")],
};

// --- turns ---

function onStarted(event: EventOf<"turn.started">, state: AgentState): Out[] {
  state.turn = newTurn(event.turn ?? "", timeOf(event, state));
  state.speeches.clear();
  return [initLine(state)];
}

function onEnded(event: EventOf<"turn.ended">, state: AgentState): Out[] {
  const at = timeOf(event, state);
  const { turn } = state;
  answeredAtEnd(event, at, state);
  const end = endOf(event, state);
  const last = [...state.speeches.values()].flatMap((speech) => speech.end());
  const said = event.outcome === "failed" && isApiError(event.fault) ? speechOf(state, undefined).say(end.text) : [];
  const result = resultLine(end, at, state);
  state.unfinished = end.subtype === "success" ? "none" : hasSaid(turn) ? "interrupted_turn" : "interrupted_prompt";
  state.turn = undefined;
  state.tasks.clear();
  state.speeches.clear();
  forgetPrompt(event, state);
  const next = state.questions.settled(() => true);
  const exit: Out[] = !state.switches.isOneShot || end.exit === 0 ? [] : [{ exit: end.exit, reason: end.text }];
  return [...last, ...said, ...next, result, ...exit];
}

function hasSaid(turn: Turn | undefined): boolean {
  return turn !== undefined && (turn.text !== "" || turn.calls.size > 0);
}

// --- calls ---

function onCall(event: EventOf<"tool.requested">, state: AgentState): Out[] {
  const { call, under } = event;
  const input = noteCall(event, state);
  return speechOf(state, under).call(call.id, wireTool(call.name), input);
}

/** Starts the sub-agent together with its Spawn call. */
function onCallStarted({ call, args, under, ...event }: EventOf<"tool.started">, state: AgentState): Out[] {
  const said = speechOf(state, under).end();
  const known = state.turn?.calls.get(call);
  if (known !== undefined && event.at !== undefined) known.progress = { since: event.at, steps: 0, lines: 0, bytes: 0 };
  const task = known?.name === "Spawn" ? taskOf(args ?? known.input, event.at ?? 0) : undefined;
  if (task === undefined) return said;
  state.tasks.set(call, task);
  return [...said, ...taskStarted(call, task, state)];
}

function onCallEnded(given: EventOf<"tool.ended">, state: AgentState): Step<Op> {
  const [event] = endOfCall(given, state);
  const said = speechOf(state, event.under).end();
  const own = state.speeches.get(event.call)?.end() ?? [];
  const task = state.tasks.get(event.call);
  const next = state.questions.settled(({ call }) => call === event.call);
  const ended = task === undefined ? [] : taskEnded(event, task, state);
  const result = toolResult(event, timeOf(event, state), state);
  return { in: handedOver(event, STRUCTURED, state), out: [...said, ...own, ...ended, result, ...next] };
}

/** Asks the host, unless the control channel is not open. */
function onApproval({ calls, under }: EventOf<"approval.requested">, state: AgentState): Step<Op> {
  const said = speechOf(state, under).end();
  if (state.isControlled && !state.isDeaf) return { in: [], out: [...said, ...state.questions.permissions(calls)] };
  const reason = state.isControlled ? "Input closed" : NOBODY;
  const answers = calls.map(({ id }) => ({ call: id, decision: "deny" as const, reason }));
  return { in: [{ type: "approval.answer", ...address(state), answers }], out: said };
}

const NOBODY =
  "nobody can be asked here: the host did not open the control channel with initialize. --approval-mode, --allowed-tools or a rule can allow it";

// --- around ---

function onUsage(event: EventOf<"usage">, state: AgentState): void {
  if (event.scope !== "call") return;
  state.usage = addUsage(state.usage, event.usage);
  state.modelCalls++;
  noteUsage(event, speechOf(state, event.under), state);
}

function onNotice(event: EventOf<"notice">, state: AgentState): Out[] {
  const data = isRecord(event.data) ? event.data : {};
  if (event.kind === "retry") return [systemLine("retry", { reason: "retry", ...retryData(data) }, envelopeOf(state, event.under))];
  if (event.kind === "model_fallback") return [systemLine("model_fallback", fallbackData(data), envelopeOf(state, event.under))];
  // The result has this limit.
  if (event.under === undefined && LIMIT_NOTICES.has(event.kind)) return [];
  if (event.kind === "store") return [systemLine("session_recording_degraded", degraded(event.text, state), envelopeOf(state))];
  if (event.level === "debug" || event.level === "info") return [];
  return [notice(event.text, state, event.level, event.kind)];
}

function degraded(message: string, { sessionId }: AgentState): SystemFields<"session_recording_degraded"> {
  return { session_id: sessionId, reason: "store", message };
}

function retryData(data: Record<string, unknown>): Omit<SystemFields<"retry">, "reason"> {
  const { attempt, maxAttempts, delayMs } = data;
  return {
    ...(typeof attempt === "number" && { attempt }),
    ...(typeof maxAttempts === "number" && { maxRetries: maxAttempts }),
    ...(typeof delayMs === "number" && { delayMs }),
    discardedToolCalls: 0,
    preserveText: false,
  };
}

function fallbackData({ from, to, status, index }: Record<string, unknown>): SystemFields<"model_fallback"> {
  return {
    fromModel: String(from),
    toModel: String(to),
    statusCode: typeof status === "number" ? status : null,
    fallbackIndex: typeof index === "number" ? index : 0,
  };
}

/** The compaction of a sub-agent's conversation is left out. */
function onCompaction({ phase, summary, under }: EventOf<"compaction">, state: AgentState): Out[] {
  if (phase === "started" || under !== undefined) return [];
  const text = phase === "ended" ? "The conversation was summed up" : `The conversation could not be summed up: ${summary ?? ""}`;
  return [notice(text, state, phase === "ended" ? "info" : "warning", "compaction")];
}
