/** Agent → host: events and lines. */
import * as v from "valibot";
import { plainText, type Part, type PartOf } from "../../core/content.js";
import type { Fault } from "../../core/errors.js";
import type { Call, Event, EventOf, Usage } from "../../core/event.js";
import { canonicalTool, categoryOf } from "../../core/names.js";
import type { Out } from "../dialect.js";
import { issuesOf, shapeOf, stringField } from "../kit/issues.js";
import { repaired } from "./repair.js";
import type { AgentState, HostState } from "./state.js";
import { events, VERSION, type WireEvent, type WireEventOf, type WireUsage } from "./wire.js";

// --- read: the host's side ---

/** Readers repair: beginnings and ends that the wire does not say, blocks that it does not close, calls that it does not announce. */
export function readEvent(rec: unknown, state: HostState): Event[] {
  const parsed = parse(rec);
  if (typeof parsed === "string") return onBadRecord(rec, parsed, state);
  if ("unknown" in parsed) return [stray(parsed.unknown, rec, state)];
  const { event } = parsed;
  switch (event.type) {
    case "ready":
      return state.ready ? [stray(event.type, rec, state)] : onReady(event, state);
    case "error":
      return onError(event, state);
    case "info":
      return [{ type: "notice", ...(state.turn === undefined ? at(state) : inTurn(state)), level: "info", text: event.message }];
    default: {
      const begun = isPast(event, state) ? undefined : begin(event, state);
      return begun === undefined ? [stray(event.type, rec, state)] : [...begun, ...onMessageEvent(event, state)];
    }
  }
}

type MessageEvent = Exclude<WireEvent, WireEventOf<"ready" | "error" | "info">>;

function onMessageEvent(event: MessageEvent, state: HostState): Event[] {
  switch (event.type) {
    case "stream_start":
      return [];
    case "text_delta":
      return onPiece("text", event.text, state);
    case "thinking":
      return onPiece("thinking", event.text, state);
    case "tool_request":
      return onRequest(event, state);
    case "tool_running":
      return onRunning(event, state);
    case "tool_result":
      return onResult(event, state);
    case "tool_cancelled":
      return onCancelled(event, state);
    case "stream_end":
      return endTurn(state, event.usage);
    default:
      event satisfies never;
      return [];
  }
}

function parse(rec: unknown): { event: WireEvent } | { unknown: string } | string {
  const type = stringField(rec, "type");
  if (type === undefined) return `The agent wrote a line that is ${shapeOf(rec)} without a "type"`;
  const schema = Object.entries(events).find(([name]) => name === type)?.[1];
  if (schema === undefined) return { unknown: type };
  // The record itself, checked: the schema's copy leaves out names like "constructor", which an argument may have.
  if (v.is(schema, rec)) return { event: rec };
  const whole = repaired(rec);
  return v.is(schema, whole) ? { event: whole } : `The agent wrote an invalid ${type}: ${issuesOf(schema, whole)}`;
}

/** A call that we cannot ask anybody about is denied, or the agent would wait for ever. */
export function denyUnreadable(rec: unknown, state: HostState): Out[] {
  const call_id = stringField(rec, "type") === "tool_request" ? stringField(rec, "call_id") : undefined;
  if (call_id === undefined || !state.ready || state.calls.has(call_id)) return [];
  const reason = parse(rec);
  if (typeof reason !== "string") return [];
  if (state.turn !== undefined) state.denied.add(call_id);
  return [{ rec: { type: "tool_deny", call_id, reason } }];
}

/** An end with something wrong in it is an end all the same. */
function onBadRecord(rec: unknown, message: string, state: HostState): Event[] {
  const error: Event = { type: "error", ...at(state), fault: { code: "protocol", message, retryable: false } };
  const isEnd = state.turn !== undefined && stringField(rec, "type") === "stream_end" && stringField(rec, "msg_id") === state.turn;
  return isEnd ? [error, ...endTurn(state, undefined)] : [error];
}

/** What we have no name for, or no place: it is passed on as it is. */
function stray(name: string, data: unknown, state: HostState): Event {
  return { type: "other", ...at(state), name, data };
}

/** Same major version, or we do not understand each other. */
function onReady(event: WireEventOf<"ready">, state: HostState): Event[] {
  if (major(event.version) !== major(VERSION)) {
    const message = `The agent speaks aionrs ${event.version}, and we speak ${VERSION}: the major versions differ`;
    state.refused = { code: "version", message, retryable: false };
    return refuseOpen(state.refused, state);
  }
  state.ready = true;
  // The document's own version never says engine_error; a program of this age does, and then says no stream_end.
  state.endsAtError = /^0\.1\.\d$/.test(event.version);
  const sessionId = event.session_id === undefined ? {} : { sessionId: event.session_id };
  return [
    { type: "session.ready", ...at(state), ...opener(state), ...sessionId, version: event.version, capabilities: event.capabilities },
    ...state.early.splice(0).map((fault): Event => ({ type: "error", ...at(state), fault })),
  ];
}

/** A message whose beginning the wire left out (a slash command has none) begins with its first line. Undefined: there is no such message. */
function begin(event: MessageEvent, state: HostState): Event[] | undefined {
  if (!state.ready) return undefined;
  if (event.type === "stream_start" && event.msg_id === state.turn) return [];
  if (event.type === "stream_start")
    return [...(state.turn === undefined ? [] : endTurn(state, undefined)), ...startTurn(event.msg_id, state)];
  if (state.turn !== undefined) return [];
  return state.prompts.has(event.msg_id) ? startTurn(event.msg_id, state) : undefined;
}

export function startTurn(msg_id: string, state: HostState): Event[] {
  state.turn = msg_id;
  return [{ type: "turn.started", ...inTurn(state) }];
}

/** Something that was said of this call before. */
function isPast(event: MessageEvent, state: HostState): boolean {
  switch (event.type) {
    case "tool_request":
      return state.calls.has(event.call_id);
    case "tool_running":
      return state.calls.has(event.call_id) && state.calls.get(event.call_id) !== "requested";
    case "tool_result":
    case "tool_cancelled":
      return state.calls.get(event.call_id) === "ended";
    default:
      return false;
  }
}

function onPiece(type: "text" | "thinking", text: string, state: HostState): Event[] {
  if (text === "") return [];
  const closed = state.block !== undefined && state.block.type !== type ? closeBlock(state) : [];
  state.block ??= { type, text: "" };
  state.block.text += text;
  return [...closed, { type: type === "text" ? "text.delta" : "thinking.delta", ...inTurn(state), text }];
}

function onRequest({ call_id, tool }: WireEventOf<"tool_request">, state: HostState): Event[] {
  const call: Call = { id: call_id, name: tool.name, args: tool.args, category: tool.category, title: tool.description };
  return [...announce(call, state), { type: "approval.requested", ...inTurn(state), calls: [call], message: tool.description }];
}

function onRunning({ call_id, tool_name }: WireEventOf<"tool_running">, state: HostState): Event[] {
  const announced = announce(unasked(call_id, tool_name), state);
  state.calls.set(call_id, "running");
  return [...announced, { type: "tool.started", ...inTurn(state), call: call_id }];
}

/** The first mention of a call is its request. */
function announce(call: Call, state: HostState): Event[] {
  if (state.calls.has(call.id)) return [];
  state.calls.set(call.id, "requested");
  return [...closeBlock(state), { type: "tool.requested", ...inTurn(state), call }];
}

function unasked(id: string, name: string): Call {
  return { id, name, category: categoryOf(name) };
}

function onResult(event: WireEventOf<"tool_result">, state: HostState): Event[] {
  const { call_id, status, output, output_type } = event;
  const announced = announce(unasked(call_id, event.tool_name), state);
  state.calls.set(call_id, "ended");
  const path = event.metadata?.["file_path"];
  const mime = event.metadata?.["mime"];
  const part: Part =
    output_type === "diff"
      ? diffPart(output, typeof path === "string" ? path : "")
      : output_type === "image"
        ? { type: "image", mime: typeof mime === "string" ? mime : "image/png", data: output }
        : { type: "text", text: output };
  return [
    ...announced,
    { type: "tool.ended", ...inTurn(state), call: call_id, status: status === "success" ? "ok" : "failed", output: [part] },
  ];
}

/** The wire shows a diff but not the files: what it does not say stays empty. */
function diffPart(patch: string, path: string): PartOf<"diff"> {
  const lines = patch.split("\n");
  const hunks = lines.slice(lines.findIndex((line) => line.startsWith("@@")));
  const count = (mark: string): number => hunks.filter((line) => line.startsWith(mark)).length;
  return { type: "diff", path, before: null, after: "", patch, stat: { added: count("+"), removed: count("-") } };
}

function onCancelled(event: WireEventOf<"tool_cancelled">, state: HostState): Event[] {
  const announced = announce(unasked(event.call_id, ""), state);
  state.calls.set(event.call_id, "ended");
  const status = state.denied.has(event.call_id) ? "denied" : "cancelled";
  return [...announced, { type: "tool.ended", ...inTurn(state), call: event.call_id, status, reason: event.reason ?? "" }];
}

/** Outside a turn an error stands alone; in one it says how the turn will end. */
function onError({ msg_id, error }: WireEventOf<"error">, state: HostState): Event[] {
  const { code, message, retryable = false } = error;
  const fault = { code: FROM_WIRE.get(code) ?? code, message, retryable };
  if (!state.ready) {
    state.early.push(fault);
    return [];
  }
  const begun = state.turn === undefined && state.prompts.has(msg_id ?? "") ? startTurn(msg_id ?? "", state) : [];
  if (!isOfTurn(msg_id, code, state)) return [{ type: "error", ...at(state), fault }];
  if (code !== "tool_error") state.failed = fault;
  const told: Event[] = [...begun, ...closeBlock(state), { type: "error", ...inTurn(state), fault }];
  return state.endsAtError && code === ENGINE_ERROR ? [...told, ...endTurn(state, undefined)] : told;
}

/** The only code of the real program, whatever went wrong. */
const ENGINE_ERROR = "engine_error";

/** Real ones never name the message; what is wrong with a line of ours has nothing to do with it. */
function isOfTurn(msg_id: string | null | undefined, code: string, state: HostState): boolean {
  if (state.turn === undefined) return false;
  return msg_id === state.turn || ((msg_id ?? "") === "" && code !== "protocol_error" && code !== "config_error");
}

/** It never became a session: the answer to whoever opened it. */
export function refuseOpen(fault: Fault, state: HostState): Event[] {
  if (state.opener === undefined) return [];
  const reply: EventOf<"reply"> = { type: "reply", to: "session.open", status: "error", ...at(state), ...opener(state), fault };
  state.opener = undefined;
  return [reply];
}

export function endTurn(state: HostState, usage: WireUsage | null | undefined): Event[] {
  const meta = inTurn(state);
  const ends: Event[] = closeBlock(state);
  for (const [call, now] of state.calls) {
    if (now === "ended") continue;
    const status = state.denied.has(call) ? "denied" : "cancelled";
    ends.push({ type: "tool.ended", ...meta, call, status, reason: "the turn ended" });
  }
  const outcome = state.failed !== undefined ? "failed" : state.interrupted ? "interrupted" : "completed";
  const why = state.failed === undefined ? {} : { reason: state.failed.message, fault: state.failed };
  ends.push({ type: "turn.ended", ...meta, outcome, ...why, ...(usage && { usage: fromUsage(usage) }) });
  state.prompts.delete(state.turn ?? "");
  state.turn = undefined;
  state.interrupted = false;
  state.failed = undefined;
  state.calls.clear();
  state.denied.clear();
  return ends;
}

function closeBlock(state: HostState): Event[] {
  const { block } = state;
  if (block === undefined) return [];
  state.block = undefined;
  return [{ type: block.type === "text" ? "text.done" : "thinking.done", ...inTurn(state), text: block.text, streamed: true }];
}

function at(state: HostState): { session: string } {
  return { session: state.session };
}

function opener(state: HostState): { parent?: string } {
  return state.opener === undefined ? {} : { parent: state.opener };
}

function inTurn(state: HostState): { session: string; turn: string; parent?: string } {
  const turn = state.turn ?? "";
  const parent = state.prompts.get(turn);
  return { session: state.session, turn, ...(parent !== undefined && { parent }) };
}

function major(version: string): string {
  return version.split(".")[0] ?? "";
}

// --- write: the agent's side ---

/** Writers trust: the stream is grammatical. */
export function writeEvent(event: Event, state: AgentState): Out[] {
  if (event.under !== undefined) return writeChild(event, state);
  const msg_id = state.messages.get(event.turn ?? "") ?? "";
  if (!state.ready && (event.type === "notice" || event.type === "error")) {
    state.early.push(event);
    return [];
  }
  switch (event.type) {
    case "session.ready":
      state.ready = true;
      return [line(readyLine(event)), ...writeEarly(state)];
    case "turn.started":
      return [line({ type: "stream_start", msg_id })];
    case "text.delta":
      return [line({ type: "text_delta", text: event.text, msg_id })];
    case "thinking.delta":
      return [line({ type: "thinking", text: event.text, msg_id })];
    case "text.done":
    case "thinking.done":
      if (event.streamed === true || event.text === "") return [];
      return [line({ type: event.type === "text.done" ? "text_delta" : "thinking", text: event.text, msg_id })];
    case "tool.requested":
    case "approval.requested":
    case "tool.started":
    case "tool.ended":
      return writeCall(event, msg_id, state);
    case "turn.ended":
      state.messages.delete(event.turn ?? "");
      state.calls.clear();
      state.announced.clear();
      return [line({ type: "stream_end", msg_id, usage: toUsage(event.usage) })];
    case "notice":
      return [line({ type: "info", msg_id, message: event.text })];
    case "error":
      return [errorLine(event.turn === undefined ? null : msg_id, event.fault)];
    case "reply":
      return writeReply(event, state);
    default:
      return [];
  }
}

/** `ready` is the first line; what was to be told before it comes after. */
function writeEarly(state: AgentState): Out[] {
  return state.early.splice(0).flatMap((event) => writeEvent(event, state));
}

/** What a sub-agent says stays with it; a call of it that must be asked for comes up as one of the parent's message. */
function writeChild(event: Event, state: AgentState): Out[] {
  const msg_id = state.messages.get(event.turn ?? "") ?? "";
  if (event.type === "tool.requested" || event.type === "approval.requested") return writeCall(event, msg_id, state);
  if ((event.type === "tool.started" || event.type === "tool.ended") && state.announced.has(event.call))
    return writeCall(event, msg_id, state);
  return [];
}

type CallEvent = EventOf<"tool.requested" | "approval.requested" | "tool.started" | "tool.ended">;

function writeCall(event: CallEvent, msg_id: string, state: AgentState): Out[] {
  switch (event.type) {
    case "tool.requested":
      state.calls.set(event.call.id, event.call);
      return [];
    case "approval.requested":
      for (const call of event.calls) state.announced.add(call.id);
      return event.calls.map((call) => line({ type: "tool_request", msg_id, call_id: call.id, tool: toolOf(call) }));
    case "tool.started":
      return [running(event.call, msg_id, state)];
    case "tool.ended":
      return ended(event, msg_id, state);
    default:
      event satisfies never;
      return [];
  }
}

function running(call: string, msg_id: string, state: AgentState): Out {
  state.announced.add(call);
  return line({ type: "tool_running", msg_id, call_id: call, tool_name: state.calls.get(call)?.name ?? "" });
}

/** A call that failed before it ran is announced first: a host that hears of a result wants to have heard of its call. */
function ended(event: EventOf<"tool.ended">, msg_id: string, state: AgentState): Out[] {
  if (event.status === "denied" || event.status === "cancelled") {
    return [line({ type: "tool_cancelled", msg_id, call_id: event.call, reason: event.reason ?? "" })];
  }
  const announced = state.announced.has(event.call) ? [] : [running(event.call, msg_id, state)];
  const result = line({
    type: "tool_result",
    msg_id,
    call_id: event.call,
    tool_name: state.calls.get(event.call)?.name ?? "",
    status: event.status === "ok" ? "success" : "error",
    ...outputOf(event.output ?? [], state.calls.get(event.call)),
  });
  return [...announced, result];
}

function toolOf(call: Call): WireEventOf<"tool_request">["tool"] {
  return { name: call.name, category: call.category ?? categoryOf(call.name), args: call.args ?? {}, description: call.title ?? call.name };
}

/** An edit is shown by its diff; the words beside it are for the model. */
function outputOf(parts: readonly Part[], call: Call | undefined): Pick<WireEventOf<"tool_result">, "output" | "output_type" | "metadata"> {
  const image = parts.find((part) => part.type === "image");
  if (image !== undefined) return { output: image.data, output_type: "image", metadata: { mime: image.mime } };
  const diff = parts.find((part) => part.type === "diff");
  if (diff === undefined || canonicalTool(call?.name ?? "") !== "Edit")
    return { output: plainText(parts.filter((part) => part.type !== "diff")), output_type: "text" };
  const path = call?.args?.["file_path"];
  return { output: diff.patch, output_type: "diff", metadata: { file_path: typeof path === "string" ? path : diff.path } };
}

function writeReply(event: EventOf<"reply">, state: AgentState): Out[] {
  const { fault } = event;
  if (event.to === "session.open") {
    const reason = fault?.message ?? "The session could not be opened";
    const told = errorLine(null, { code: "config", message: reason, retryable: false });
    if (state.ready) return [told];
    state.ready = true;
    return [...writeEarly(state), told, { exit: 1, reason }];
  }
  if (event.to === "turn.prompt" && fault !== undefined) state.messages.delete(event.parent ?? "");
  // A real host sends its history once more before it stops, and must not see an error for it.
  if (event.to === "session.seed" && fault !== undefined) return [line({ type: "info", msg_id: "", message: fault.message })];
  if (event.to === "approval.answer" && event.status === "noop") {
    return [line({ type: "info", msg_id: "", message: "That call was answered already; this answer changes nothing" })];
  }
  return fault === undefined ? [] : [errorLine(null, fault)];
}

function readyLine(event: EventOf<"session.ready">): WireEvent {
  const { capabilities = {} } = event;
  return {
    type: "ready",
    version: VERSION,
    ...(event.sessionId !== undefined && { session_id: event.sessionId }),
    capabilities: { tool_approval: true, thinking: capabilities["thinking"] === true, mcp: capabilities["mcp"] === true },
  };
}

export function errorLine(msg_id: string | null, { code, message, retryable = false }: Fault): Out {
  return line({ type: "error", msg_id, error: { code: TO_WIRE.get(code) ?? "internal_error", message, retryable } });
}

const TO_WIRE: ReadonlyMap<string, string> = new Map([
  ["provider", "provider_error"],
  ["context_overflow", "provider_error"],
  ["tool", "tool_error"],
  ["config", "config_error"],
  ["usage", "config_error"],
  ["session", "protocol_error"],
  ["protocol", "protocol_error"],
  ["limit", "protocol_error"],
  ["unsupported", "protocol_error"],
]);

const FROM_WIRE: ReadonlyMap<string, string> = new Map([
  ["provider_error", "provider"],
  ["tool_error", "tool"],
  ["config_error", "config"],
  ["protocol_error", "protocol"],
  ["internal_error", "internal"],
]);

/** The counts are disjoint on both sides; reasoning is output here. */
function toUsage(usage: Usage | undefined): WireUsage {
  return {
    input_tokens: usage?.input ?? 0,
    output_tokens: (usage?.output ?? 0) + (usage?.reasoning ?? 0),
    cache_read_tokens: usage?.cacheRead ?? 0,
    cache_write_tokens: usage?.cacheWrite ?? 0,
  };
}

function fromUsage(usage: WireUsage): Usage {
  return {
    input: usage.input_tokens,
    output: usage.output_tokens,
    cacheRead: usage.cache_read_tokens ?? 0,
    cacheWrite: usage.cache_write_tokens ?? 0,
  };
}

function line(rec: WireEvent): Out {
  return { rec };
}
