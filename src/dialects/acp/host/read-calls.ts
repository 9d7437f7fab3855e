/** Agent → client, read: tool calls. Fields of a call arrive in pieces and in any order; some agents leave out its start or its end. */
import { plainText, textPart, type Part } from "../../../core/content.js";
import type { Event, EventOf } from "../../../core/event.js";
import { isRecord } from "../../../core/values/json-object.js";
import { OUTPUT_CHARS } from "../../../core/limits.js";
import type { TurnReader } from "../../kit/turn-reader.js";
import { callOf, partsOf } from "../wire/calls.js";
import { metaOf, type ToolContent, type WireCall } from "../wire/updates.js";
import type { RunningTurn, ToldCall } from "./state.js";

export function newTurn(reader: TurnReader): RunningTurn {
  const known = { calls: new Map(), denied: new Set<string>(), waiting: new Set<string>(), starting: new Set<string>() };
  return { reader, ...known, isInterrupted: false, message: undefined, used: undefined };
}

/**
 * `tool.requested` needs whole arguments, but some agents send them only in the update after the announcement. A call that is announced as
 * pending is therefore held until its next update, its permission request or its end.
 */
export function readCall(update: WireCall & { sessionUpdate: string }, turn: RunningTurn): Event[] {
  const isNews = !turn.calls.has(update.toolCallId);
  const told = know(update, turn);
  const { status } = told.wire;
  if (isNews && update.sessionUpdate === "tool_call" && (status == null || status === "pending")) return [];
  const requested = requestCall(told, turn);
  if (status === "completed" || status === "failed") return [...requested, ...endCall(told, update, turn)];
  if (status === "in_progress" && turn.reader.callOf(update.toolCallId)?.now === "requested") turn.starting.add(update.toolCallId);
  return [...requested, ...progress(update, told, turn)];
}

/** Starts the calls that the agent reported as running and that no open or denied permission holds back. */
export function beginStarting({ reader, starting, waiting, denied }: RunningTurn): Event[] {
  const isFree = (wireId: string): boolean => {
    const id = reader.callOf(wireId)?.id ?? "";
    return !waiting.has(id) && !denied.has(id);
  };
  const events = [...starting].filter(isFree).flatMap((wireId) => reader.begin(wireId));
  starting.clear();
  return events;
}

/** Merges an update into the known fields of its call. */
export function know(update: WireCall, turn: RunningTurn): ToldCall {
  const known = turn.calls.get(update.toolCallId);
  const told: ToldCall = known ?? { wire: update, shown: "", printed: undefined, exitCode: null, plan: undefined };
  if (known !== undefined) told.wire = merged(known.wire, update);
  turn.calls.set(update.toolCallId, told);
  return told;
}

function merged(before: WireCall, update: WireCall): WireCall {
  const said = Object.fromEntries(Object.entries(update).filter(([, value]) => value != null));
  const meta = { ...metaOf(before), ...metaOf(update) };
  return { ...before, ...said, toolCallId: before.toolCallId, ...(Object.keys(meta).length > 0 && { _meta: meta }) };
}

function requestCall({ wire }: ToldCall, { reader }: RunningTurn): Event[] {
  if (reader.callOf(wire.toolCallId) !== undefined) return [];
  // The content of an ended call is its output, not a preview.
  const isOver = wire.status === "completed" || wire.status === "failed";
  return reader.request(callOf(isOver ? { ...wire, content: null } : wire));
}

// --- progress ---

function progress({ content, _meta, toolCallId }: WireCall, told: ToldCall, { reader, waiting, denied }: RunningTurn): Event[] {
  const printed = _meta?.terminal_output?.data;
  if (_meta?.terminal_exit != null) told.exitCode = _meta.terminal_exit.exit_code ?? null;
  if (printed !== undefined && printed !== "") {
    told.printed = `${told.printed ?? ""}${printed}`.slice(-OUTPUT_CHARS).toWellFormed();
    return reader.progress(toolCallId, { text: printed });
  }
  const known = reader.callOf(toolCallId);
  const isQuiet = known === undefined || known.now === "ended" || waiting.has(known.id) || denied.has(known.id);
  if (content == null || isQuiet || told.wire.status !== "in_progress") return [];
  const text = textOf(content);
  const news = beyond(told.shown, text);
  told.shown = text;
  return news === "" ? [] : reader.progress(toolCallId, { text: news });
}

function textOf(content: readonly ToolContent[]): string {
  return partsOf(content)
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("");
}

/** The longest overlap, in characters, that is looked for between one text and the next. */
const OVERLAP = 4000;

/** The new part of a text: an update repeats the whole content before, or its end. */
function beyond(before: string, text: string): string {
  if (text.startsWith(before)) return text.slice(before.length);
  for (let length = Math.min(before.length, text.length, OVERLAP); length > 0; length--)
    if (text.startsWith(before.slice(-length))) return text.slice(length);
  return text;
}

// --- the end ---

function endCall(told: ToldCall, { content }: WireCall, turn: RunningTurn): Event[] {
  const { wire } = told;
  const exit = metaOf(wire).terminal_exit;
  if (exit != null) told.exitCode = exit.exit_code ?? null;
  const output = outputOf(told);
  if (wire.status === "completed") return turn.reader.end(wire.toolCallId, { status: "ok", output });
  const status = failureOf(wire, turn);
  if (status === "failed") return turn.reader.end(wire.toolCallId, { status, output });
  const reason = plainText(partsOf(content ?? [])) || (status === "denied" ? "denied" : "cancelled");
  return turn.reader.end(wire.toolCallId, { status, reason });
}

/** The wire says `failed` for failed, denied and cancelled calls alike. */
function failureOf({ toolCallId, _meta }: WireCall, { reader, denied, isInterrupted }: RunningTurn): EventOf<"tool.ended">["status"] {
  const told = _meta?.parley?.status;
  if (told !== undefined) return told;
  if (denied.has(reader.callOf(toolCallId)?.id ?? "")) return "denied";
  return isInterrupted ? "cancelled" : "failed";
}

function outputOf({ wire, printed, exitCode, plan }: ToldCall): Part[] {
  if (plan?.type === "tool.ended") return plan.output ?? [];
  if (printed !== undefined) return [{ type: "terminal", text: printed, exitCode }];
  const parts = partsOf(wire.content ?? []);
  return parts.length > 0 ? parts : rawParts(wire.rawOutput);
}

/** Reads `rawOutput`, the agent's own form, for a call without content. */
function rawParts(raw: unknown): Part[] {
  if (raw === undefined || raw === null) return [];
  if (typeof raw === "string") return raw === "" ? [] : [textPart(raw)];
  const words = isRecord(raw) ? ["output", "text", "content"].map((key) => raw[key]).find((value) => typeof value === "string") : undefined;
  return typeof words === "string" && words !== "" ? [textPart(words)] : [{ type: "json", data: raw }];
}

/** Ends denied calls before the next event: some agents send no end for them. */
export function endDenied({ reader, denied }: RunningTurn): Event[] {
  return reader.calls
    .filter(({ id, now }) => denied.has(id) && now !== "ended")
    .flatMap(({ wireId }) => reader.end(wireId, { status: "denied", reason: "denied" }));
}
