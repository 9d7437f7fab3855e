/** Daemon → client, written: events become records. side.ts keeps the order of a session's beginning, envelopes.ts the envelopes. */
import { plainText, type Part } from "../../../core/content.js";
import type { Call, Event, EventOf, Usage } from "../../../core/event.js";
import { addUsage } from "../../../core/usage.js";
import { childNote } from "../../kit/children.js";
import { isRecord } from "../../../core/values/json-object.js";
import { writeCatalogue } from "../wire/catalogue.js";
import { kindOf } from "../wire/failure-kinds.js";
import { wireId } from "../wire/ids.js";
import { writeSpec } from "../wire/spec.js";
import { writeUsage } from "../wire/usage.js";
import type { ClientSession } from "./state.js";
import type { EventFields, EventName, ToolUse, TurnEndStatus } from "../wire/records.js";

/** The content of an envelope: the tagged variant, or the name of a variant without fields. */
export type Tagged = EventName | Record<string, unknown>;

export function tagged<N extends EventName>(name: N, fields: EventFields<N>): Tagged {
  return { [name]: fields };
}

export function variantsOf(event: Event, session: ClientSession): Tagged[] {
  return event.under === undefined ? own(event, session) : ofChild(event, event.under, session);
}

/** Writes events without a session, or of a session that is being opened. */
export function looseVariants(event: Event): Tagged[] {
  if (event.type === "error") return [tagged("Error", event.fault.message)];
  return event.type === "notice" ? [tagged("Info", event.text)] : [];
}

function own(event: Event, session: ClientSession): Tagged[] {
  switch (event.type) {
    case "turn.started":
      session.turn = event.turn;
      return [tagged("TurnStart", { turn_id: wireId("step", event.turn ?? "") })];
    case "turn.ended":
      return endTurn(event, session);
    case "text.delta":
      return session.streams ? [tagged("MessageDelta", event.text)] : [];
    case "thinking.delta":
      return session.streams ? [tagged("ThinkingDelta", event.text)] : [];
    case "text.done":
      return [tagged("AgentMessage", event.text)];
    case "thinking.done":
      return [tagged("Thinking", event.text)];
    case "user.message":
      return [tagged("UserInput", plainText(event.parts))];
    case "tool.requested":
      session.calls.set(event.call.id, event.call);
      return [tagged("ToolStart", toolUse(event.call))];
    case "tool.started":
      return update(event, event.call, titleOf(event.call, session), session);
    case "tool.progress":
      return update(event, event.call, event.text ?? plainText(event.parts ?? []), session);
    case "tool.ended":
      return [tagged("ToolEnd", toolEnd(event))];
    case "approval.requested":
      return session.denies ? [] : [pause(event)];
    case "usage":
      return usageUpdate(event, session);
    case "compaction":
      if (event.phase === "started") return ["CompactStart"];
      return event.phase === "ended" ? ["CompactEnd"] : ["CompactEnd", tagged("Info", "The conversation could not be summed up")];
    case "notice":
      return event.level === "debug" ? [] : [notice(event, session)];
    case "catalog.updated":
      return [refreshed(event, session)];
    case "session.updated":
      return [tagged("SessionUpdated", initialized(event, session))];
    case "error":
      return errorText(event);
    case "other":
      return passedOn(event);
    case "session.ready":
    case "session.ended":
    case "session.changed":
    case "closed":
    case "tool.delta":
    case "approval.settled":
    case "host.request":
    case "host.settled":
    case "reply":
      return [];
    default:
      event satisfies never;
      return [];
  }
}

/**
 * Writes the work of a sub-agent as progress of its Spawn call; its calls that need an approval become calls of the turn.
 */
function ofChild(event: Event, under: string, session: ClientSession): Tagged[] {
  switch (event.type) {
    case "usage":
      return own(event, session);
    case "approval.requested":
      return session.denies ? [] : [...event.calls.flatMap((call) => announced(call, session)), pause(event)];
    case "tool.started":
    case "tool.progress":
    case "tool.ended":
      if (session.shown.has(event.call)) return own(event, session);
      break;
    case "tool.requested":
      session.calls.set(event.call.id, event.call);
      break;
    default:
  }
  const note = childNote(event);
  return note === undefined ? [] : update(event, under, note, session);
}

function announced(call: Call, session: ClientSession): Tagged[] {
  if (session.shown.has(call.id)) return [];
  session.shown.add(call.id);
  return [tagged("ToolStart", toolUse(call))];
}

// --- sessions ---

/** Fields that the agent does not report are taken from the opening, or from earlier reports. */
export function initialized(event: EventOf<"session.ready" | "session.updated">, session: ClientSession): EventFields<"SessionStart"> {
  const config = event.replay === true ? (event.config ?? {}) : { ...session.config, ...event.config };
  if (event.replay !== true) session.config = config;
  return { model: writeSpec(config), provider: config.provider ?? "", session_id: session.id, cwd: config.cwd ?? "" };
}

export function refreshed(event: Partial<EventOf<"catalog.updated">>, session: ClientSession): Tagged {
  return tagged("ExtensionRefreshed", writeCatalogue(event, session.id));
}

// --- turns ---

function endStatus({ outcome, reason, fault }: EventOf<"turn.ended">): TurnEndStatus {
  if (outcome === "completed") return "Completed";
  if (outcome === "interrupted") return { Interrupted: reason === undefined ? {} : { reason } };
  const kind = fault === undefined ? undefined : kindOf(fault);
  return { Error: { message: fault?.message ?? reason ?? "The turn failed", ...(kind !== undefined && { kind }) } };
}

function endTurn(event: EventOf<"turn.ended">, session: ClientSession): Tagged[] {
  // The usage of an agent that counts only whole turns is written before the turn's end.
  const usage = event.usage === undefined || session.isCounted ? [] : counted(event.usage, session);
  session.turn = undefined;
  session.isCounted = false;
  for (const kept of [session.calls, session.shown, session.updates]) kept.clear();
  return [...usage, tagged("TurnEnd", { turn_id: wireId("step", event.turn ?? ""), status: endStatus(event) })];
}

function pause({ turn = "", calls, message = "" }: EventOf<"approval.requested">): Tagged {
  return tagged("TurnPause", { turn_id: wireId("step", turn), reason: { Approval: { tools: calls.map(toolUse), message } } });
}

/** Real clients give up their run at an Error. The end of a turn has its reason; a fault that the turn survives is an Info. */
function errorText({ turn, fault }: EventOf<"error">): Tagged[] {
  if (turn === undefined) return [tagged("Error", fault.message)];
  return fault.code === "tool" ? [tagged("Info", fault.message)] : [];
}

/** Lines of a later revision, from a driven daemon, are passed on unchanged. */
function passedOn({ ext }: EventOf<"other">): Tagged[] {
  const said = ext?.["ante"];
  return isRecord(said) ? [said] : [];
}

/** The first of a block is its heading. */
function notice({ text, block }: EventOf<"notice">, session: ClientSession): Tagged {
  if (block === undefined) return tagged("Info", text);
  const id = `${block}-${session.id}`;
  if (session.blocks.has(block)) return tagged("InfoBlockAppend", { id, detail: text });
  session.blocks.add(block);
  return tagged("InfoBlockStart", { id, header: text });
}

// --- tools ---

function toolUse({ id, name, args = {} }: Call): ToolUse {
  return { id, name, input: args, args };
}

/** Progress is not logged, so a replay has none. */
function update({ replay }: Event, call: string, message: string, session: ClientSession): Tagged[] {
  if (replay === true) return [];
  const seq = session.updates.get(call) ?? 0;
  session.updates.set(call, seq + 1);
  return [tagged("ToolUpdate", { tool_use_id: call, seq, message })];
}

/** The wire has no start of a call: the first update tells it. */
function titleOf(id: string, session: ClientSession): string {
  const call = session.calls.get(id);
  return call?.title ?? call?.name ?? "Running";
}

const STATUS = { ok: "Completed", failed: "Failed", denied: "Denied", cancelled: "Cancelled" } as const;

function toolEnd({ call, status, output = [], reason }: EventOf<"tool.ended">): EventFields<"ToolEnd"> {
  return {
    tool_use_id: call,
    status: STATUS[status],
    result_json: resultJson(output, reason),
    is_error: status !== "ok",
  };
}

/** Output in a driven daemon's own form keeps that form. */
function resultJson(output: readonly Part[], reason = ""): unknown {
  const [only, ...more] = output;
  if (only?.type === "json" && more.length === 0) return only.data;
  return { content: plainText(output.filter((part) => part.type !== "diff")) || reason, ...details(output) };
}

function details(output: readonly Part[]): Record<string, unknown> {
  const diff = output.find((part) => part.type === "diff");
  const terminal = output.find((part) => part.type === "terminal");
  const image = output.find((part) => part.type === "image");
  return {
    ...(diff !== undefined && { file_path: diff.path, diff: diff.patch }),
    ...(terminal?.exitCode !== undefined && { exit_code: terminal.exitCode }),
    ...(image !== undefined && { image: { media_type: image.mime, data: image.data } }),
  };
}

// --- usage ---

/** Writes the usage of one response and that of the session: real clients add up the former, the document means the latter. */
function usageUpdate({ scope, usage }: EventOf<"usage">, session: ClientSession): Tagged[] {
  return scope === "call" ? counted(usage, session) : [];
}

function counted(usage: Usage, session: ClientSession): Tagged[] {
  session.isCounted = true;
  session.usage = addUsage(session.usage, usage);
  return [tagged("UsageUpdate", { usage: writeUsage(usage), session_usage: writeUsage(session.usage) })];
}
