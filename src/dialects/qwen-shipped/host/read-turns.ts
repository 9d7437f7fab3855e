/** Agent → host, read: the lines of a turn up to its `result`. */
import type { Mode } from "../../../core/config.js";
import * as v from "valibot";
import type { Event, Usage } from "../../../core/event.js";
import type { SideEnv } from "../../dialect.js";
import { stringField } from "../../kit/issues.js";
import { endTurn, failedEnd, isPassing, released, type TurnEnd, turnOf } from "../../kit/stream-json/host/turns.js";
import type { HostState, RunningTurn } from "./state.js";
import { resultParts, userBlocks } from "../../kit/stream-json/host/read-messages.js";
import { readUsage, WireUsage } from "../wire/usage.js";
import type { Assistant, StreamEvent } from "../wire/event-records.js";

// --- messages ---

const COMPLAINT = "[API Error: ";

export function onAssistant({ message, parent_tool_use_id }: Assistant, turn: RunningTurn): Event[] {
  const { told, messages } = turn;
  const under = parent_tool_use_id ?? undefined;
  const [only, ...more] = message.content;
  if (under === undefined && more.length === 0 && only?.type === "text" && only.text.startsWith(COMPLAINT)) {
    const before = turn.complaint === only.text ? [] : released(turn);
    turn.complaint = only.text;
    return before;
  }
  turn.isSilent = false;
  const usage = message.usage === undefined ? undefined : readUsage(message.usage);
  const spent = usage === undefined || usage.input + usage.output + (usage.cacheRead ?? 0) === 0 ? [] : told.spent(usage);
  if (spent.length > 0 && under === undefined) turn.modelCalls.counted++;
  return [...released(turn), ...message.content.flatMap((block) => messages.block(block, under)), ...spent];
}

export function onStreamed(event: StreamEvent, under: string | undefined, turn: RunningTurn): Event[] {
  const { told, messages } = turn;
  switch (event.type) {
    case "content_block_start":
      turn.isSilent = false;
      return [...released(turn), ...messages.blockStart(event, under)];
    case "content_block_delta": {
      const { delta } = event;
      if (delta.type !== "text_delta" || under !== undefined) return messages.blockDelta(event, under);
      if (turn.complaint === "" && !delta.text.startsWith(COMPLAINT)) return messages.blockDelta(event, under);
      turn.complaint += delta.text;
      return [];
    }
    case "tool_progress":
      return told.progress(event.tool_use_id, { text: progressOf(event.content) });
    case "message_start":
      if (under === undefined) turn.modelCalls.begun++;
      return [];
    case "content_block_stop":
    case "message_stop":
    case "goal_state":
      return [];
    default:
      event satisfies never;
      return [];
  }
}

type Progress = Extract<StreamEvent, { type: "tool_progress" }>["content"];

function progressOf(content: Progress): string {
  if (content.type === "mcp_tool_progress")
    return content.message ?? `${content.progress}${content.total === undefined ? "" : ` of ${content.total}`}`;
  const seconds = Math.round((content.elapsedMs ?? 0) / 1000);
  return `still running after ${seconds} s${content.totalLines === undefined ? "" : `, ${content.totalLines} lines so far`}`;
}

/** Results of tools, and reports on tasks. The prompt of a sub-agent is left out: its call has it. */
export function onUser(
  content: unknown,
  under: string | undefined,
  turn: RunningTurn | undefined,
  { session, config }: HostState,
): Event[] {
  return userBlocks(content).flatMap((said): Event[] => {
    if ("call" in said) return turn === undefined ? [] : onResultOf(said.call, said.block, turn, config.mode);
    return under === undefined
      ? [{ type: "notice", ...(turn?.told.address ?? { session }), level: "info", text: said.text, kind: "task" }]
      : [];
  });
}

const CANCELLED = "[Operation Cancelled]";
const PLAN_BLOCKED = /^(?:Plan mode blocked a non-read-only tool call\.?$|<system-reminder>\s*Plan mode is active)/;

function onResultOf(wireId: string, block: Record<string, unknown>, { told, denied }: RunningTurn, mode: Mode | undefined): Event[] {
  const output = resultParts(block["content"]);
  const text = output.map((part) => (part.type === "text" ? part.text : "")).join("");
  // Qwen Code gives this text as an ordinary result.
  if (mode === "plan" && PLAN_BLOCKED.test(text) && told.callOf(wireId)?.call.category !== "info")
    return told.end(wireId, { status: "denied", output, reason: "plan mode" });
  if (block["is_error"] !== true) return told.end(wireId, { status: "ok", output });
  if (!text.startsWith(CANCELLED)) return told.end(wireId, { status: "failed", output });
  const reason = text.slice(CANCELLED.length).replace(/^\s*Reason:\s*/, "");
  const status = denied.has(told.callOf(wireId)?.id ?? "") ? "denied" : "cancelled";
  return told.end(wireId, { status, output, reason });
}

// --- the end ---

/** Any result ends the turn, whatever fields it lacks. */
export function onResult(rec: Record<string, unknown>, state: HostState, env: SideEnv): Event[] {
  const { begun, turn } = turnOf(state, env);
  const isNothing = turn.isSilent && isAsBefore(rec, state);
  const usage = spentSince(rec["usage"], state);
  state.lastResult = stringField(rec, "result") ?? "";
  const message = stringField(rec["error"], "message") ?? stringField(rec, "result") ?? "";
  if (turn.complaint === message) turn.complaint = "";
  const subtype = stringField(rec, "subtype") ?? "";
  const isError = rec["is_error"] === true || subtype.startsWith("error");
  const isStopped = turn.isInterrupted || (isError && message === "Operation cancelled.");
  const spent = usage === undefined ? {} : { usage };
  const how = (): TurnEnd => {
    if (!isError && isNothing) return failedEnd({ code: "limit", message: NOTHING_SAID, retryable: false });
    if (subtype === "error_max_turns" || (!isError && turn.isLimited)) return { outcome: "completed", finish: "max_turns" };
    if (!isError) return { outcome: "completed", finish: "stop" };
    if (isStopped) return stoppedEnd(turn, message);
    const words = message === "" ? `The turn ended with ${subtype}` : message;
    return failedEnd({ code: "provider", message: words, retryable: isPassing(message) });
  };
  return [...begun, ...endTurn(turn, state, { ...how(), ...spent })];
}

/** The end of an interrupted turn. */
export function stoppedEnd({ isLimited }: RunningTurn, reason: string): TurnEnd {
  return isLimited ? { outcome: "completed", finish: "max_turns" } : { outcome: "interrupted", reason };
}

const NOTHING_SAID =
  "Qwen Code asked no model and said nothing to this prompt: it has reached its own limit of turns for a session (maxSessionTurns in its settings)";

/** Beyond its own limit of turns the agent repeats its last result. A command asks no model, and says so. */
function isAsBefore({ usage, num_turns, result }: Record<string, unknown>, { spent, lastResult }: HostState): boolean {
  if (spent === undefined || lastResult === "" || result !== lastResult || num_turns === 0 || !v.is(WireUsage, usage)) return false;
  const now = readUsage(usage);
  return now.input === spent.input && now.output === spent.output;
}

/** A result without a turn: its error is emitted on its own. */
export function onStrayResult(rec: Record<string, unknown>, state: HostState): Event[] {
  spentSince(rec["usage"], state);
  const message = stringField(rec["error"], "message");
  if (message === undefined) return [];
  return [{ type: "error", session: state.session, fault: { code: "agent", message, retryable: false } }];
}

/** The wire counts the whole process; a turn's usage is the difference. If that is unknown, the turn's messages are added up. */
function spentSince(usage: unknown, state: HostState): Usage | undefined {
  if (!v.is(WireUsage, usage)) return undefined;
  const now = readUsage(usage);
  const before = state.spent;
  state.spent = now;
  if (before === undefined || now.input < before.input || now.output < before.output) return undefined;
  const cacheRead = Math.max(0, (now.cacheRead ?? 0) - (before.cacheRead ?? 0));
  return { input: now.input - before.input, output: now.output - before.output, ...(cacheRead > 0 && { cacheRead }) };
}
