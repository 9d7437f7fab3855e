/** Daemon → client, read: the events of a turn. Missing starts and ends of turns, calls and blocks are added. */
import { textPart, type Part } from "../../../core/content.js";
import type { Call, Event, EventOf } from "../../../core/event.js";
import { canonicalTool, categoryOf } from "../../../core/names.js";
import { isRecord } from "../../../core/values/json-object.js";
import { nameOf, readId } from "../wire/ids.js";
import { faultOf } from "../wire/failure-kinds.js";
import { readUsage } from "../wire/usage.js";
import type { HostState, Reading } from "./state.js";
import { patchPart } from "../../kit/diff.js";
import { TurnReader, type KnownCall } from "../../kit/turn-reader.js";
import type { EventFields, ToolUse, WireUsage } from "../wire/records.js";

// --- beginning and end ---

/** Turns of sub-agents belong to the turn around them; any other turn ends it. */
export function startTurn(turnId: string, parent: string | undefined, state: HostState, reading: Reading): Event[] {
  if (spawned(reading) !== undefined) {
    reading.nested.add(turnId);
    return [];
  }
  const cut = failedTurn("The daemon began another turn before the end of this one", state, reading);
  const prompt = reading.isReplay ? undefined : takePrompt(parent, state);
  const op = reading.isReplay ? parent : prompt?.id;
  const turn = reading.names.of(prompt?.turn ?? wireName(turnId));
  reading.turn = new TurnReader({ session: state.session, turn, ...(op !== undefined && { parent: op }) });
  return [...cut, ...reading.turn.start()];
}

/** Adds a start that the wire left out. Returns false if no turn could have begun. */
export function begin(parent: string | undefined, state: HostState, reading: Reading): Event[] | undefined {
  if (reading.turn !== undefined) return [];
  const isOurs = parent === undefined || state.prompts.includes(state.sent.get(parent) ?? NOBODY);
  if (reading.isReplay || !isOurs || state.prompts.length === 0) return undefined;
  return startTurn("", parent, state, reading);
}

const NOBODY = { type: "other", id: undefined } as const;

/** If the wire does not tell which prompt a turn answers, it is the oldest. */
function takePrompt(parent: string | undefined, state: HostState): HostState["prompts"][number] | undefined {
  const known = parent === undefined ? undefined : state.sent.get(parent);
  const at = known === undefined ? 0 : state.prompts.indexOf(known);
  return at === -1 ? undefined : state.prompts.splice(at, 1)[0];
}

export function onTurnEnd(turnId: string, status: unknown, state: HostState, reading: Reading): Event[] {
  return reading.nested.delete(turnId) ? [] : endTurn(outcomeOf(status), state, reading);
}

type Outcome = Pick<EventOf<"turn.ended">, "outcome" | "reason" | "fault">;

function endTurn(outcome: Outcome, state: HostState, reading: Reading): Event[] {
  const { turn } = reading;
  if (turn === undefined) return [];
  reading.turn = undefined;
  reading.nested.clear();
  if (!reading.isReplay) state.pause = undefined;
  return turn.close(outcome, { abandoned: () => ({ status: "cancelled", reason: "the turn ended" }) });
}

function failedTurn(message: string, state: HostState, reading: Reading): Event[] {
  const fault = { code: "protocol", message, retryable: false };
  return endTurn({ outcome: "failed", reason: message, fault }, state, reading);
}

/** Any end ends the turn: earlier and later revisions have other shapes. */
function outcomeOf(status: unknown): Outcome {
  const tagged = isRecord(status) ? Object.entries(status)[0] : undefined;
  const [name, fields] = typeof status === "string" ? [status] : (tagged ?? [""]);
  const said = isRecord(fields) ? fields : {};
  const words = ["message", "headline", "reason"].map((key) => said[key]).find((value) => typeof value === "string");
  const why = typeof words === "string" ? words : undefined;
  if (name === "Completed") return { outcome: "completed" };
  if (name === "Interrupted") return { outcome: "interrupted", ...(why !== undefined && { reason: why }) };
  const message = why ?? (name === "" || name === "Error" ? "The turn failed" : `The turn ended as ${name}`);
  const kind = typeof said["kind"] === "string" ? said["kind"] : undefined;
  return { outcome: "failed", reason: message, fault: faultOf(kind, message) };
}

// --- words ---

export function onPiece(type: "text" | "thinking", text: string, reading: Reading): Event[] {
  return isOfChild(reading) ? [] : (reading.turn?.piece(type, text) ?? []);
}

/** The whole text, after its deltas or instead of them. */
export function onWhole(type: "text" | "thinking", text: string, reading: Reading): Event[] {
  if (!isOfChild(reading)) return reading.turn?.whole(type, text) ?? [];
  const call = spawned(reading);
  return call === undefined || type === "thinking" ? [] : (reading.turn?.progress(call.wireId, { text }) ?? []);
}

function isOfChild(reading: Reading): boolean {
  return reading.nested.size > 0;
}

/** The Spawn call of sub-agents. */
function spawned({ turn }: Reading): KnownCall | undefined {
  return turn?.calls.find(({ call, now }) => call.name === "Spawn" && now !== "ended");
}

// --- tools ---

/** A started call may be reported with other arguments; before that, other arguments mean another call. */
export function onRequest(tool: ToolUse, _: HostState, { turn }: Reading): Event[] {
  if (turn === undefined || turn.callOf(tool.id)?.now === "started") return [];
  return requested(callOf(tool), turn).events;
}

function callOf({ id, name, input, args }: ToolUse): Call {
  const given = input ?? args;
  const tool = canonicalTool(name);
  return { id, name: tool, args: isRecord(given) ? given : {}, category: categoryOf(tool) };
}

/** The known call, with its request if it is new: an id with other arguments, or used again later, is another call. */
function requested(said: Call, turn: TurnReader): { known: KnownCall | undefined; events: Event[] } {
  const words = JSON.stringify([said.name, said.args]);
  const same = turn.openCalls(said.id).find(({ now, call }) => now === "requested" && JSON.stringify([call.name, call.args]) === words);
  if (same !== undefined) return { known: same, events: [] };
  const events = turn.requestAnother(said);
  return { known: turn.openCalls(said.id).at(-1), events };
}

export function onPause({ turn_id, reason }: EventFields<"TurnPause">, state: HostState, { turn, isReplay }: Reading): Event[] {
  if (turn === undefined) return [];
  const { tools, message } = reason.Approval;
  const asked = tools.map((tool) => requested(callOf(tool), turn));
  const calls = [...new Set(asked.flatMap(({ known }) => (known === undefined ? [] : [known.call])))];
  if (!isReplay) state.pause = { turn: turn_id, calls: new Map(calls.map(({ id }) => [id, undefined])) };
  const announced = asked.flatMap(({ events }) => events);
  return [...turn.closeBlock(), ...announced, { type: "approval.requested", ...turn.address, calls, message }];
}

const STATUS = { Completed: "ok", Failed: "failed", Denied: "denied", Cancelled: "cancelled" } as const;

export function onToolEnd({ tool_use_id, status, result_json }: EventFields<"ToolEnd">, _: HostState, { turn }: Reading): Event[] {
  const output = outputOf(result_json);
  const [first] = output;
  const reason = status === "Denied" || status === "Cancelled" ? (first?.type === "text" ? first.text : "") : undefined;
  return turn?.end(tool_use_id, { status: STATUS[status], output, ...(reason !== undefined && { reason }) }) ?? [];
}

/** Our own form is read back; any other stays as it is. */
function outputOf(result: unknown): Part[] {
  if (result === undefined || result === null) return [];
  if (typeof result === "string") return [textPart(result)];
  if (!isRecord(result) || typeof result["content"] !== "string") return [{ type: "json", data: result }];
  const { content, file_path, diff, ...rest } = result;
  const known = Object.keys(rest).every((key) => key === "exit_code");
  if (!known || (diff !== undefined && (typeof diff !== "string" || typeof file_path !== "string")))
    return [{ type: "json", data: result }];
  const text = [textPart(content)];
  return typeof diff === "string" ? [...text, patchPart(diff, String(file_path))] : text;
}

// --- usage ---

export function onUsage(wire: WireUsage, state: HostState, reading: Reading): Event[] {
  const usage = readUsage(wire);
  return reading.turn?.spent(usage) ?? [{ type: "usage", session: state.session, scope: "call", usage }];
}

// --- addresses ---

export function inTurn({ session }: HostState, { turn }: Reading): { session: string; turn?: string; parent?: string } {
  return turn?.address ?? { session };
}

function wireName(id: string): string {
  return "id" in readId(id) ? nameOf(id) : id;
}
