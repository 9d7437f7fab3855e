/** Agent → host, read: a driven agent's lines become events. */
import type { Part } from "../../../core/content.js";
import type { Event, Usage } from "../../../core/event.js";
import { patchPart } from "../../kit/diff.js";
import { stringField } from "../../kit/issues.js";
import { onChanged, onChangeRefused, onChangeTold, onPong, onServer } from "./changes.js";
import { readCapabilities } from "../wire/capabilities.js";
import { parse } from "./parse.js";
import { here, runningCall, startTurn, type HostState, type RunningTurn } from "./state.js";
import { isOfPastTurn } from "./stale-records.js";
import { readUsage } from "../wire/usage.js";
import type { LaterEvent, LaterEventOf } from "../wire/records.js";

/** Repairs missing starts and ends, unclosed blocks and unannounced calls. */
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
      return state.isReady ? [stray(event.type, rec, state)] : onReady(event, state);
    case "error":
      return onError(event, state);
    case "info":
      return [{ type: "notice", ...here(state), level: "info", text: event.message }, ...onChangeTold(event.message, state)];
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
      const { running } = state;
      if (begun === undefined || running === undefined) return [stray(event.type, rec, state)];
      return [...begun, ...onMessageEvent(event, running, state)];
    }
  }
}

type MessageEvent = Exclude<LaterEvent, LaterEventOf<"ready" | "error" | "info" | "config_changed" | "mcp_ready" | "pong">>;

function onMessageEvent(event: MessageEvent, running: RunningTurn, state: HostState): Event[] {
  const { reader } = running;
  switch (event.type) {
    case "stream_start":
      return [];
    case "text_delta":
      return reader.piece("text", event.text);
    case "thinking":
      return reader.piece("thinking", event.text);
    case "tool_request":
      return onRequest(event, running, state);
    case "tool_running":
      return [...reader.known(event.call_id, event.tool_name), ...reader.begin(event.call_id)];
    case "tool_result":
      return onResult(event, running);
    case "tool_cancelled":
      return onCancelled(event, running);
    case "stream_end":
      return onEnd(event, running, state);
    default:
      event satisfies never;
      return [];
  }
}

/** An invalid end still ends the turn. */
function onBadRecord(rec: unknown, message: string, state: HostState): Event[] {
  const error: Event = { type: "error", ...at(state), fault: { code: "protocol", message, retryable: false } };
  const { running } = state;
  const isEnd = stringField(rec, "type") === "stream_end" && stringField(rec, "msg_id") === running?.reader.address.turn;
  return isEnd && running !== undefined ? [error, ...endTurn(running, state)] : [error];
}

/** Passes on a record without a name of ours, or in an unexpected place. */
export function stray(name: string, data: unknown, state: HostState): Event {
  return { type: "other", ...at(state), name, data };
}

/** Different major versions cannot work together. */
function onReady(event: LaterEventOf<"ready">, state: HostState): Event[] {
  const { name, version } = state.revision;
  if (major(event.version) !== major(version)) {
    const message = `The agent speaks ${name} ${event.version}, and we speak ${version}: the major versions differ`;
    state.refused = { code: "version", message, retryable: false };
    return [];
  }
  state.isReady = true;
  // The document's version never sends engine_error; a program of this revision does, and then sends no stream_end.
  state.endsAtError = /^0\.1\.\d$/.test(event.version);
  state.tellsChanges = event.capabilities.modes !== undefined;
  const opener = state.opener === undefined ? {} : { parent: state.opener };
  const sessionId = event.session_id === undefined ? {} : { sessionId: event.session_id };
  const told = state.revision.isLater ? readCapabilities(event.capabilities, state.revision) : { capabilities: event.capabilities };
  return [
    { type: "session.ready", ...at(state), ...opener, ...sessionId, version: event.version, ...told },
    ...state.early.splice(0).map((fault): Event => ({ type: "error", ...at(state), fault })),
  ];
}

/** A message without a start (a slash command has none) begins with its first line. Undefined: there is no such message. */
function begin(event: MessageEvent, state: HostState): Event[] | undefined {
  if (!state.isReady) return undefined;
  if (event.type === "stream_start") return onStart(event.msg_id, state);
  if (state.running !== undefined) return [];
  return state.prompts.has(event.msg_id) ? startTurn(event.msg_id, state) : undefined;
}

/** A message without a name is the oldest waiting one, if there is one. */
function onStart(named: string, state: HostState): Event[] | undefined {
  const { running } = state;
  const turn = running?.reader.address.turn;
  const msg_id = named === "" ? [...state.prompts.keys()].find((asked) => asked !== turn) : named;
  if (msg_id === undefined) return undefined;
  if (msg_id === turn) return [];
  return [...(running === undefined ? [] : endTurn(running, state)), ...startTurn(msg_id, state)];
}

/** The call is known already. An ended call's id may be that of a new call. */
function isPast(event: MessageEvent, state: HostState): boolean {
  switch (event.type) {
    case "tool_request":
      return isOpen(event.call_id, state);
    case "tool_running":
      return (runningCall(state, event.call_id)?.now ?? "requested") !== "requested";
    case "tool_result":
    case "tool_cancelled":
      return runningCall(state, event.call_id)?.now === "ended";
    case "stream_start":
    case "text_delta":
    case "thinking":
    case "stream_end":
      return false;
    default:
      event satisfies never;
      return false;
  }
}

export function isOpen(call_id: string, state: HostState): boolean {
  const call = runningCall(state, call_id);
  return call !== undefined && call.now !== "ended";
}

export function onRequest({ call_id, tool }: LaterEventOf<"tool_request">, { reader }: RunningTurn, state: HostState): Event[] {
  const { name, args, category, description: title } = tool;
  const requested = reader.request({ id: call_id, name, args, category, title });
  const call = reader.callOf(call_id)?.call;
  if (call === undefined) return requested;
  state.asked.set(call.id, "open");
  return [...requested, { type: "approval.requested", ...reader.address, calls: [call], message: title }];
}

function onResult(event: LaterEventOf<"tool_result">, { reader }: RunningTurn): Event[] {
  const { call_id, status, output, output_type, tool_name } = event;
  const path = event.metadata?.["file_path"];
  const mime = event.metadata?.["mime"];
  const part: Part =
    output_type === "diff"
      ? patchPart(output, typeof path === "string" ? path : "")
      : output_type === "image"
        ? { type: "image", mime: typeof mime === "string" ? mime : "image/png", data: output }
        : { type: "text", text: output };
  return [...reader.known(call_id, tool_name), ...reader.end(call_id, { status: status === "success" ? "ok" : "failed", output: [part] })];
}

function onCancelled({ call_id, reason = "" }: LaterEventOf<"tool_cancelled">, { reader, denied }: RunningTurn): Event[] {
  const announced = reader.known(call_id);
  const status = denied.has(reader.callOf(call_id)?.id ?? call_id) ? "denied" : "cancelled";
  return [...announced, ...reader.end(call_id, { status, reason })];
}

/** Outside a turn an error stands alone; inside one it announces the turn's outcome. */
function onError({ msg_id, error }: LaterEventOf<"error">, state: HostState): Event[] {
  const { code, message, retryable = false } = error;
  const fault = { code: FROM_WIRE.get(code) ?? code, message, retryable };
  if (!state.isReady) {
    state.early.push(fault);
    return [];
  }
  const begun = state.running === undefined && state.prompts.has(msg_id ?? "") ? startTurn(msg_id ?? "", state) : [];
  const { running } = state;
  if (running === undefined || !isOfTurn(msg_id, code, running))
    return onChangeRefused(fault, state) ?? [{ type: "error", ...at(state), fault }];
  if (code !== "tool_error") running.failed = fault;
  const { reader } = running;
  const told: Event[] = [...begun, ...reader.closeBlock(), { type: "error", ...reader.address, fault }];
  return state.endsAtError && code === ENGINE_ERROR ? [...told, ...endTurn(running, state)] : told;
}

/** The real program has only this code, for every error. */
const ENGINE_ERROR = "engine_error";

/** The real program never names the message in an error; an error about a line of ours does not belong to the turn. */
function isOfTurn(msg_id: string | null | undefined, code: string, { reader }: RunningTurn): boolean {
  return msg_id === reader.address.turn || ((msg_id ?? "") === "" && code !== "protocol_error" && code !== "config_error");
}

function onEnd(event: LaterEventOf<"stream_end">, running: RunningTurn, state: HostState): Event[] {
  const { finish, failed = false, usage = event.usage ? readUsage(event.usage) : undefined } = state.revision.hears.end(event);
  if (failed) running.failed ??= { code: "provider", message: "The agent ended the turn with an error", retryable: false };
  return endTurn(running, state, usage, finish);
}

export function endTurn({ reader, denied, failed }: RunningTurn, state: HostState, usage?: Usage, finish?: string): Event[] {
  for (const { id } of reader.calls) if (state.asked.has(id)) state.asked.set(id, "settled");
  const outcome = failed !== undefined ? "failed" : state.interrupted ? "interrupted" : "completed";
  const why = failed === undefined ? {} : { reason: failed.message, fault: failed };
  const how = finish === undefined || outcome !== "completed" ? {} : { finish };
  const ends = reader.close(
    { outcome, ...how, ...why, ...(usage && { usage }) },
    { abandoned: ({ id }) => ({ status: denied.has(id) ? "denied" : "cancelled", reason: "the turn ended" }), isFaultTold: true },
  );
  state.prompts.delete(reader.address.turn);
  state.past.add(reader.address.turn);
  state.running = undefined;
  state.interrupted = false;
  state.tokens.clear();
  return ends;
}

export function at(state: HostState): { session: string } {
  return { session: state.session };
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
