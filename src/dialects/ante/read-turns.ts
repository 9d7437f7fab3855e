/** Daemon → client, read: what happens in a turn. Readers repair: turns, calls and blocks that nobody began or ended. */
import { textPart, type Part } from "../../core/content.js";
import type { Call, Event, EventOf, Usage } from "../../core/event.js";
import { canonicalTool, categoryOf } from "../../core/names.js";
import { addUsage } from "../../core/usage.js";
import { isRecord } from "../../core/record.js";
import { nameOf, readId } from "./ids.js";
import { faultOf } from "./kinds.js";
import type { HostState, Reading } from "./state.js";
import { freeName, openCall, sameCall, type ToldCall } from "./told-calls.js";
import type { EventFields, ToolUse, WireUsage } from "./wire.js";

// --- beginning and end ---

/** Sub-agents' turns within one are that one's; of another, this is the end. */
export function startTurn(turnId: string, parent: string | undefined, state: HostState, reading: Reading): Event[] {
  if (reading.turn !== undefined && spawned(reading) !== undefined) {
    reading.nested.add(turnId);
    return [];
  }
  const cut = failedTurn("The daemon began another turn before the end of this one", state, reading);
  const prompt = reading.isReplay ? undefined : takePrompt(parent, state);
  reading.turn = prompt?.turn ?? wireName(turnId);
  reading.parent = reading.isReplay ? parent : prompt?.id;
  return [...cut, { type: "turn.started", ...inTurn(state, reading) }];
}

/** The beginning that the wire left out. False: there is no turn that could have begun. */
export function begin(parent: string | undefined, state: HostState, reading: Reading): Event[] | undefined {
  if (reading.turn !== undefined) return [];
  const isOurs = parent === undefined || state.prompts.includes(state.sent.get(parent) ?? NOBODY);
  if (reading.isReplay || !isOurs || state.prompts.length === 0) return undefined;
  return startTurn("", parent, state, reading);
}

const NOBODY = { type: "other", id: undefined } as const;

/** A wire that does not say which prompt it answers means the oldest. */
function takePrompt(parent: string | undefined, state: HostState): HostState["prompts"][number] | undefined {
  const known = parent === undefined ? undefined : state.sent.get(parent);
  const at = known === undefined ? 0 : state.prompts.indexOf(known);
  return at === -1 ? undefined : state.prompts.splice(at, 1)[0];
}

export function onTurnEnd(turnId: string, status: unknown, state: HostState, reading: Reading): Event[] {
  if (reading.nested.delete(turnId) || reading.turn === undefined) return [];
  return endTurn(outcomeOf(status), state, reading);
}

type Outcome = Pick<EventOf<"turn.ended">, "outcome" | "reason" | "fault">;

function endTurn(outcome: Outcome, state: HostState, reading: Reading): Event[] {
  const meta = inTurn(state, reading);
  const open = [...reading.calls].flatMap(([call, { now }]): Event[] =>
    now === "ended" ? [] : [{ type: "tool.ended", ...meta, call, status: "cancelled", reason: "the turn ended" }],
  );
  const usage = reading.usage === undefined ? {} : { usage: reading.usage };
  const told: Event[] = outcome.fault === undefined ? [] : [{ type: "error", ...meta, fault: outcome.fault }];
  const end: Event[] = [...endBlock(state, reading), ...open, ...told, { type: "turn.ended", ...meta, ...outcome, ...usage }];
  reading.turn = reading.parent = reading.usage = undefined;
  reading.calls.clear();
  reading.nested.clear();
  if (!reading.isReplay) state.pause = undefined;
  return end;
}

function failedTurn(message: string, state: HostState, reading: Reading): Event[] {
  if (reading.turn === undefined) return [];
  const fault = { code: "protocol", message, retryable: false };
  return endTurn({ outcome: "failed", reason: message, fault }, state, reading);
}

/** An end is an end, however it is told: earlier and later revisions have other shapes. */
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

export function onPiece(type: "text" | "thinking", text: string, state: HostState, reading: Reading): Event[] {
  if (text === "" || isOfChild(reading)) return [];
  const closed = reading.block !== undefined && reading.block.type !== type ? endBlock(state, reading) : [];
  reading.block ??= { type, text: "" };
  reading.block.text += text;
  return [...closed, { type: `${type}.delta`, ...inTurn(state, reading), text }];
}

/** The whole text, behind its deltas or instead of them. */
export function onWhole(type: "text" | "thinking", text: string, state: HostState, reading: Reading): Event[] {
  if (isOfChild(reading)) {
    const call = spawned(reading);
    return call === undefined || type === "thinking" ? [] : onUpdate(call, text, state, reading);
  }
  const { block } = reading;
  if (block?.type !== type) return [...endBlock(state, reading), { type: `${type}.done`, ...inTurn(state, reading), text }];
  // What was streamed is what the host has.
  return endBlock(state, reading);
}

export function endBlock(state: HostState, reading: Reading): Event[] {
  const { block } = reading;
  if (block === undefined) return [];
  reading.block = undefined;
  return [{ type: `${block.type}.done`, ...inTurn(state, reading), text: block.text, streamed: true }];
}

function isOfChild(reading: Reading): boolean {
  return reading.nested.size > 0;
}

/** The call that sub-agents work under. */
function spawned(reading: Reading): string | undefined {
  return [...reading.calls].find(([, { call, now }]) => call.name === "Spawn" && now !== "ended")?.[0];
}

// --- tools ---

/** One that has begun may be told of in other words; while it can still be asked about, other arguments are another call. */
export function onRequest(tool: ToolUse, state: HostState, reading: Reading): Event[] {
  if (openCall(tool.id, reading.calls)?.now === "started") return [];
  return requested(callOf(tool), state, reading).events;
}

function callOf({ id, name, input, args }: ToolUse): Call {
  const given = input ?? args;
  const tool = canonicalTool(name);
  return { id, name: tool, args: isRecord(given) ? given : {}, category: categoryOf(tool) };
}

/** The call as we know it, and what is said of it where it is news. */
function requested(said: Call, state: HostState, reading: Reading): { told: ToldCall; events: Event[] } {
  const known = sameCall(said, reading.calls);
  if (known !== undefined) return { told: known, events: [] };
  const call = { ...said, id: freeName(said.id, reading.calls) };
  const told: ToldCall = { call, wireId: said.id, now: "requested" };
  reading.calls.set(call.id, told);
  return { told, events: [...endBlock(state, reading), { type: "tool.requested", ...inTurn(state, reading), call }] };
}

export function onPause({ turn_id, reason }: EventFields<"TurnPause">, state: HostState, reading: Reading): Event[] {
  const { tools, message } = reason.Approval;
  const asked = tools.map((tool) => requested(callOf(tool), state, reading));
  const announced = asked.flatMap(({ events }) => events);
  const calls = [...new Set(asked.map(({ told }) => told.call))];
  if (!reading.isReplay) state.pause = { turn: turn_id, calls: new Map(calls.map(({ id }) => [id, undefined])) };
  return [...endBlock(state, reading), ...announced, { type: "approval.requested", ...inTurn(state, reading), calls, message }];
}

/** The wire does not say that a call has begun: one that was allowed, that tells something or that came to something has. */
export function began(call: string, state: HostState, reading: Reading): Event[] {
  const known = reading.calls.get(call);
  if (known?.now !== "requested") return [];
  known.now = "started";
  return [{ type: "tool.started", ...inTurn(state, reading), call }];
}

export function onUpdate(wireId: string, text: string, state: HostState, reading: Reading): Event[] {
  const call = openCall(wireId, reading.calls)?.call.id;
  if (call === undefined) return [];
  return [...began(call, state, reading), { type: "tool.progress", ...inTurn(state, reading), call, text }];
}

const STATUS = { Completed: "ok", Failed: "failed", Denied: "denied", Cancelled: "cancelled" } as const;

export function onToolEnd({ tool_use_id, status, result_json }: EventFields<"ToolEnd">, state: HostState, reading: Reading): Event[] {
  const known = openCall(tool_use_id, reading.calls);
  if (known === undefined) return [];
  const call = known.call.id;
  const begun = status === "Completed" || status === "Failed" ? began(call, state, reading) : [];
  known.now = "ended";
  const output = outputOf(result_json);
  const [first] = output;
  const reason = status === "Denied" || status === "Cancelled" ? (first?.type === "text" ? first.text : "") : undefined;
  return [
    ...begun,
    { type: "tool.ended", ...inTurn(state, reading), call, status: STATUS[status], output, ...(reason !== undefined && { reason }) },
  ];
}

/** Our own shape is read back; any other stays what it is. */
function outputOf(result: unknown): Part[] {
  if (result === undefined || result === null) return [];
  if (typeof result === "string") return [textPart(result)];
  if (!isRecord(result) || typeof result["content"] !== "string") return [{ type: "json", data: result }];
  const { content, file_path, diff, ...rest } = result;
  const known = Object.keys(rest).every((key) => key === "exit_code");
  if (!known || (diff !== undefined && (typeof diff !== "string" || typeof file_path !== "string")))
    return [{ type: "json", data: result }];
  const text = [textPart(content)];
  return typeof diff === "string" ? [...text, diffPart(diff, String(file_path))] : text;
}

/** The wire shows a diff but not the files: what it does not say stays empty. */
function diffPart(patch: string, path: string): Part {
  const lines = patch.split("\n");
  const hunks = lines.slice(lines.findIndex((line) => line.startsWith("@@")));
  const count = (mark: string): number => hunks.filter((line) => line.startsWith(mark)).length;
  return { type: "diff", path, before: null, after: "", patch, stat: { added: count("+"), removed: count("-") } };
}

// --- usage ---

export function onUsage(wire: WireUsage, state: HostState, reading: Reading): Event[] {
  const usage = fromUsage(wire);
  if (reading.turn !== undefined) reading.usage = addUsage(reading.usage, usage);
  return [{ type: "usage", ...inTurn(state, reading), scope: "call", usage }];
}

/** The wire's input includes the cache's share. */
function fromUsage({ input_tokens = 0, output_tokens = 0, cache_read_tokens, cache_creation_tokens }: WireUsage): Usage {
  const cacheRead = cache_read_tokens ?? 0;
  const cacheWrite = cache_creation_tokens ?? 0;
  return { input: Math.max(0, input_tokens - cacheRead - cacheWrite), output: output_tokens, cacheRead, cacheWrite };
}

// --- addresses ---

export function inTurn({ session }: HostState, { turn, parent }: Reading): { session: string; turn?: string; parent?: string } {
  return { session, ...(turn !== undefined && { turn, ...(parent !== undefined && { parent }) }) };
}

function wireName(id: string): string {
  return "id" in readId(id) ? nameOf(id) : id;
}
