/** Agent → host, read: a driven agent's lines become events. */
import type { Part, PartOf } from "../../core/content.js";
import type { Fault } from "../../core/errors.js";
import type { Call, Event, EventOf, Usage } from "../../core/event.js";
import { categoryOf } from "../../core/names.js";
import { stringField } from "../kit/issues.js";
import { onChanged, onChangeRefused, onChangeTold, onPong, onServer } from "./answers.js";
import { readCapabilities } from "./capabilities.js";
import { parse } from "./parse.js";
import type { HostState } from "./state.js";
import { isOfPastTurn } from "./unheard.js";
import { fromUsage } from "./usage.js";
import type { LaterEvent, LaterEventOf } from "./wire.js";

/** Readers repair: beginnings and ends that the wire does not say, blocks that it does not close, calls that it does not announce. */
export function readEvent(rec: unknown, state: HostState): Event[] {
  if (isOfPastTurn(rec, state)) return [stray(stringField(rec, "type") ?? "", rec, state)];
  const own = state.revision.hears.own(rec, state);
  if (own !== undefined) return own;
  const parsed = parse(rec, state.revision);
  if (typeof parsed === "string") return onBadRecord(rec, parsed, state);
  if ("unknown" in parsed) return [stray(parsed.unknown, rec, state)];
  const { event } = parsed;
  switch (event.type) {
    case "ready":
      return state.ready ? [stray(event.type, rec, state)] : onReady(event, state);
    case "error":
      return onError(event, state);
    case "info":
      return [
        { type: "notice", ...(state.turn === undefined ? at(state) : inTurn(state)), level: "info", text: event.message },
        ...onChangeTold(event.message, state),
      ];
    case "config_changed":
      return onChanged(event, state);
    case "mcp_ready": {
      const tools = event.tools.map((name) => ({ name, qualifiedName: name }));
      return onServer({ name: event.name, status: "ready", tools }, state);
    }
    case "pong":
      return onPong(state) ?? [stray(event.type, rec, state)];
    default: {
      const begun = isPast(event, state) ? undefined : begin(event, state);
      return begun === undefined ? [stray(event.type, rec, state)] : [...begun, ...onMessageEvent(event, state)];
    }
  }
}

type MessageEvent = Exclude<LaterEvent, LaterEventOf<"ready" | "error" | "info" | "config_changed" | "mcp_ready" | "pong">>;

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
      return onEnd(event, state);
    default:
      event satisfies never;
      return [];
  }
}

/** An end with something wrong in it is an end all the same. */
function onBadRecord(rec: unknown, message: string, state: HostState): Event[] {
  const error: Event = { type: "error", ...at(state), fault: { code: "protocol", message, retryable: false } };
  const isEnd = state.turn !== undefined && stringField(rec, "type") === "stream_end" && stringField(rec, "msg_id") === state.turn;
  return isEnd ? [error, ...endTurn(state)] : [error];
}

/** What we have no name for, or no place: it is passed on as it is. */
export function stray(name: string, data: unknown, state: HostState): Event {
  return { type: "other", ...at(state), name, data };
}

/** Same major version, or we do not understand each other. */
function onReady(event: LaterEventOf<"ready">, state: HostState): Event[] {
  const { name, version } = state.revision;
  if (major(event.version) !== major(version)) {
    const message = `The agent speaks ${name} ${event.version}, and we speak ${version}: the major versions differ`;
    state.refused = { code: "version", message, retryable: false };
    return refuseOpen(state.refused, state);
  }
  state.ready = true;
  // The document's own version never says engine_error; a program of this age does, and then says no stream_end.
  state.endsAtError = /^0\.1\.\d$/.test(event.version);
  state.tellsChanges = event.capabilities.modes !== undefined;
  const sessionId = event.session_id === undefined ? {} : { sessionId: event.session_id };
  const told = state.revision.isLater ? readCapabilities(event.capabilities, state.revision) : { capabilities: event.capabilities };
  return [
    { type: "session.ready", ...at(state), ...opener(state), ...sessionId, version: event.version, ...told },
    ...state.early.splice(0).map((fault): Event => ({ type: "error", ...at(state), fault })),
  ];
}

/** A message whose beginning the wire left out (a slash command has none) begins with its first line. Undefined: there is no such message. */
function begin(event: MessageEvent, state: HostState): Event[] | undefined {
  if (!state.ready) return undefined;
  if (event.type === "stream_start") return onStart(event.msg_id, state);
  if (state.turn !== undefined) return [];
  return state.prompts.has(event.msg_id) ? startTurn(event.msg_id, state) : undefined;
}

/** One without a name is the oldest message that waits, if any does. */
function onStart(named: string, state: HostState): Event[] | undefined {
  const msg_id = named === "" ? [...state.prompts.keys()].find((asked) => asked !== state.turn) : named;
  if (msg_id === undefined) return undefined;
  if (msg_id === state.turn) return [];
  return [...(state.turn === undefined ? [] : endTurn(state)), ...startTurn(msg_id, state)];
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

export function onRequest({ call_id, tool }: LaterEventOf<"tool_request">, state: HostState): Event[] {
  const call: Call = { id: call_id, name: tool.name, args: tool.args, category: tool.category, title: tool.description };
  state.asked.set(call_id, "open");
  return [...announce(call, state), { type: "approval.requested", ...inTurn(state), calls: [call], message: tool.description }];
}

function onRunning({ call_id, tool_name }: LaterEventOf<"tool_running">, state: HostState): Event[] {
  const announced = announce(unasked(call_id, tool_name), state);
  state.calls.set(call_id, "running");
  return [...announced, { type: "tool.started", ...inTurn(state), call: call_id }];
}

/** The first mention of a call is its request. */
export function announce(call: Call, state: HostState): Event[] {
  if (state.calls.has(call.id)) return [];
  state.calls.set(call.id, "requested");
  return [...closeBlock(state), { type: "tool.requested", ...inTurn(state), call }];
}

export function unasked(id: string, name: string): Call {
  return { id, name, category: categoryOf(name) };
}

function onResult(event: LaterEventOf<"tool_result">, state: HostState): Event[] {
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

function onCancelled(event: LaterEventOf<"tool_cancelled">, state: HostState): Event[] {
  const announced = announce(unasked(event.call_id, ""), state);
  state.calls.set(event.call_id, "ended");
  const status = state.denied.has(event.call_id) ? "denied" : "cancelled";
  return [...announced, { type: "tool.ended", ...inTurn(state), call: event.call_id, status, reason: event.reason ?? "" }];
}

/** Outside a turn an error stands alone; in one it says how the turn will end. */
function onError({ msg_id, error }: LaterEventOf<"error">, state: HostState): Event[] {
  const { code, message, retryable = false } = error;
  const fault = { code: FROM_WIRE.get(code) ?? code, message, retryable };
  if (!state.ready) {
    state.early.push(fault);
    return [];
  }
  const begun = state.turn === undefined && state.prompts.has(msg_id ?? "") ? startTurn(msg_id ?? "", state) : [];
  if (!isOfTurn(msg_id, code, state)) return onChangeRefused(fault, state) ?? [{ type: "error", ...at(state), fault }];
  if (code !== "tool_error") state.failed = fault;
  const told: Event[] = [...begun, ...closeBlock(state), { type: "error", ...inTurn(state), fault }];
  return state.endsAtError && code === ENGINE_ERROR ? [...told, ...endTurn(state)] : told;
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

function onEnd(event: LaterEventOf<"stream_end">, state: HostState): Event[] {
  const { finish, failed = false, usage = event.usage ? fromUsage(event.usage) : undefined } = state.revision.hears.end(event);
  if (failed) state.failed ??= { code: "provider", message: "The agent ended the turn with an error", retryable: false };
  return endTurn(state, usage, finish);
}

export function endTurn(state: HostState, usage?: Usage, finish?: string): Event[] {
  const meta = inTurn(state);
  const ends: Event[] = closeBlock(state);
  for (const [call, now] of state.calls) {
    if (state.asked.has(call)) state.asked.set(call, "settled");
    if (now === "ended") continue;
    const status = state.denied.has(call) ? "denied" : "cancelled";
    ends.push({ type: "tool.ended", ...meta, call, status, reason: "the turn ended" });
  }
  const outcome = state.failed !== undefined ? "failed" : state.interrupted ? "interrupted" : "completed";
  const why = state.failed === undefined ? {} : { reason: state.failed.message, fault: state.failed };
  const how = finish === undefined || outcome !== "completed" ? {} : { finish };
  ends.push({ type: "turn.ended", ...meta, outcome, ...how, ...why, ...(usage && { usage }) });
  state.prompts.delete(meta.turn);
  state.past.add(meta.turn);
  state.turn = undefined;
  state.interrupted = false;
  state.failed = undefined;
  state.calls.clear();
  state.names.clear();
  state.denied.clear();
  state.tokens.clear();
  return ends;
}

function closeBlock(state: HostState): Event[] {
  const { block } = state;
  if (block === undefined) return [];
  state.block = undefined;
  return [{ type: block.type === "text" ? "text.done" : "thinking.done", ...inTurn(state), text: block.text, streamed: true }];
}

export function at(state: HostState): { session: string } {
  return { session: state.session };
}

function opener(state: HostState): { parent?: string } {
  return state.opener === undefined ? {} : { parent: state.opener };
}

export function inTurn(state: HostState): { session: string; turn: string; parent?: string } {
  const turn = state.turn ?? "";
  const parent = state.prompts.get(turn);
  return { session: state.session, turn, ...(parent !== undefined && { parent }) };
}

function major(version: string): string {
  return version.split(".")[0] ?? "";
}

const FROM_WIRE: ReadonlyMap<string, string> = new Map([
  ["provider_error", "provider"],
  ["tool_error", "tool"],
  ["config_error", "config"],
  ["protocol_error", "protocol"],
  ["internal_error", "internal"],
]);
