/**
 * Agent → host, read: each line becomes events and answers. An unreadable line becomes an error, as in the SDK, and the session goes
 * on.
 */
import * as v from "valibot";
import type { Fault } from "../../../core/errors.js";
import type { Event, EventOf } from "../../../core/event.js";
import type { SideEnv, Step } from "../../dialect.js";
import { protocolError } from "../../kit/bad-line.js";
import { issuesOf, shapeOf, stringField } from "../../kit/issues.js";
import { stepOf, together } from "../../kit/step.js";
import { answerTo, onChanged, onInterrupted } from "../../kit/stream-json/host/changes.js";
import { onReady } from "../../kit/stream-json/host/session.js";
import { endTurn, turnOf } from "../../kit/stream-json/host/turns.js";
import { refuseUnread } from "../../kit/stream-json/host/agent-questions.js";
import { isRecord } from "../../../core/values/json-object.js";
import type { HostState, OwnPurpose } from "./state.js";
import { stopAtLimit } from "./model-calls.js";
import { modeNamed } from "../wire/names.js";
import { onAssistant, onResult, onStrayResult, onStreamed, onUser } from "./read-turns.js";
import { asked as questions, Assistant, Init, StreamEvent } from "../wire/event-records.js";

export function readEvent(rec: unknown, state: HostState, env: SideEnv): Step<Event> {
  const type = stringField(rec, "type");
  if (!isRecord(rec) || type === undefined)
    return stepOf([protocolError(`The agent wrote a line that is ${shapeOf(rec)} without a "type"`, state.session)]);
  if (type === "control_response") return onResponse(rec["response"], state);
  if (!state.isReady) return stepOf(onEarly(type, rec, state));
  switch (type) {
    case "control_request":
      return onRequest(rec, state, env);
    case "control_cancel_request":
      return stepOf(state.questions.cancelled(stringField(rec, "request_id") ?? "", state.session));
    case "system":
      return stepOf(onSystem(rec, state, env));
    case "assistant": {
      if (!v.is(Assistant, rec))
        return stepOf([protocolError(`The agent wrote an invalid assistant: ${issuesOf(Assistant, rec)}`, state.session)]);
      const isUnasked = isIdle(state) && rec.message.content.every(({ type: kind }) => kind !== "tool_use");
      const { begun, turn } = turnOf(state, env);
      const said = [...begun, ...onAssistant(rec, turn)];
      return stepOf(isUnasked ? [...said, ...endTurn(turn, state, { outcome: "completed" })] : said);
    }
    case "stream_event":
      return stepOf(onStreamEvent(rec, state, env));
    case "user":
      return together(
        stepOf(onUser(isRecord(rec["message"]) ? rec["message"]["content"] : undefined, underOf(rec), state.running, state)),
        stopAtLimit(state),
      );
    case "result":
      return stepOf(isIdle(state) ? onStrayResult(rec, state) : onResult(rec, state, env));
    default:
      return stepOf([stray(type, rec, state)]);
  }
}

/** Without an open prompt, text is a turn of its own, which ends with it, as it is unknown whether more follows. */
function isIdle({ running, prompts }: HostState): boolean {
  return running === undefined && prompts.length === 0;
}

/** Passes on a line of an unknown type. */
function stray(name: string, data: unknown, { session }: HostState): Event {
  return { type: "other", session, name, data };
}

function underOf(rec: Record<string, unknown>): string | undefined {
  return stringField(rec, "parent_tool_use_id");
}

/** Before the handshake the agent writes only the reason for a failed start. */
function onEarly(type: string, rec: Record<string, unknown>, state: HostState): Event[] {
  const message = type === "result" ? stringField(rec["error"], "message") : undefined;
  if (message !== undefined) state.refused = { code: "config", message, retryable: false };
  return [];
}

// --- the session ---

function onStreamEvent(rec: Record<string, unknown>, state: HostState, env: SideEnv): Event[] {
  const { event } = rec;
  const name = stringField(event, "type") ?? "stream_event";
  if (!v.is(StreamEvent, event)) return IGNORED.has(name) ? [] : [stray(name, event, state)];
  // Outside a turn only `message_start` starts one, and only if one is expected: the whole message follows.
  if (state.running === undefined && (event.type !== "message_start" || isIdle(state))) return [];
  const { begun, turn } = turnOf(state, env);
  return [...begun, ...onStreamed(event, underOf(rec), turn)];
}

const IGNORED: ReadonlySet<string> = new Set(["active_goal", "goal_state"]);

function onSystem(rec: Record<string, unknown>, state: HostState, env: SideEnv): Event[] {
  const subtype = stringField(rec, "subtype") ?? "";
  if (subtype === "init") return onInit(rec, state, env);
  const data = isRecord(rec["data"]) ? rec["data"] : {};
  const address = state.running?.told.address ?? { session: state.session };
  const unread = subtype === "error" ? stringField(data, "message") : undefined;
  if (unread !== undefined) return [protocolError(`The agent could not read a line: ${unread}`, state.session)];
  const text = NOTICES.get(subtype)?.(data) ?? stringField(data, "notice") ?? stringField(data, "message");
  if (text === undefined) return [stray(subtype, rec, state)];
  const level = WARNINGS.has(subtype) || data["level"] === "warning" ? "warning" : data["level"] === "error" ? "error" : "info";
  return [{ type: "notice", ...address, level, text, kind: stringField(data, "kind") ?? subtype, data }];
}

const WARNINGS: ReadonlySet<string> = new Set(["retry", "model_fallback", "continue_turn_failed", "session_recording_degraded"]);

const NOTICES: ReadonlyMap<string, (data: Record<string, unknown>) => string | undefined> = new Map([
  ["task_started", (data) => `Task started: ${stringField(data, "description") ?? ""}`],
  ["task_notification", (data) => `Task ${stringField(data, "status") ?? "ended"}`],
  ["retry", (data) => `Trying again${typeof data["attempt"] === "number" ? `, attempt ${data["attempt"]}` : ""}`],
  ["model_fallback", (data) => `Going on with ${stringField(data, "toModel") ?? "another model"}`],
  ["continue_turn_failed", (data) => stringField(data, "error")],
]);

/** The first line of every turn, which also tells the session's present state. */
function onInit(rec: Record<string, unknown>, state: HostState, env: SideEnv): Event[] {
  const { begun } = turnOf(state, env);
  if (!v.is(Init, rec)) return begun;
  const changed = updated({ model: rec.model, mode: modeNamed(rec.permission_mode), sessionId: rec.session_id }, state);
  const mcpServers = rec.mcp_servers.map(({ name, status }) => `${name}\n${status}`);
  return [...changed, ...gathered({ commands: rec.slash_commands, subagents: rec.agents, mcpServers }, state), ...begun];
}

function updated(now: { model: string; mode: HostState["config"]["mode"]; sessionId: string }, state: HostState): Event[] {
  const { model, mode } = state.config;
  const isSame = now.model === model && (now.mode ?? mode) === (mode ?? "default") && now.sessionId === state.sessionId;
  if (isSame) return [];
  state.sessionId = now.sessionId;
  state.config = { ...state.config, model: now.model, ...(now.mode !== undefined && { mode: now.mode }) };
  const config = { model: now.model, ...(now.mode !== undefined && { mode: now.mode }) };
  return [{ type: "session.updated", session: state.session, sessionId: now.sessionId, config }];
}

/** Emits changes of the session's surroundings. */
function gathered(now: Partial<HostState["catalogue"]>, state: HostState): Event[] {
  const next = { ...state.catalogue, ...now };
  if (JSON.stringify(next) === JSON.stringify(state.catalogue)) return [];
  state.catalogue = next;
  return [catalogue(state)];
}

function catalogue({ session, catalogue: now }: HostState): EventOf<"catalog.updated"> {
  const named = (name: string): { name: string } => ({ name });
  const mcpServers = now.mcpServers.map((server) => {
    const [name = "", status] = server.split("\n");
    return { name, status: SERVER_STATUS.get(status ?? "") ?? "ready", tools: [] };
  });
  return {
    type: "catalog.updated",
    session,
    whole: true,
    skills: [],
    subagents: now.subagents.map(named),
    mcpServers,
    commands: now.commands.map(named),
  };
}

const SERVER_STATUS: ReadonlyMap<string, "connecting" | "ready" | "failed"> = new Map([
  ["connecting", "connecting"],
  ["disconnected", "failed"],
]);

// --- replies to what we asked ---

function onResponse(response: unknown, state: HostState): Step<Event> {
  const answer = state.requests.take(response);
  if (answer === undefined) return stepOf([]);
  const { purpose, fault, data } = answer;
  switch (purpose.for) {
    case "initialize":
      return onInitialized(fault, data, state);
    case "commands":
      return stepOf(fault === undefined ? gathered({ commands: namesIn(data["commands"]) }, state) : []);
    case "interrupt":
      return stepOf(onInterrupted(purpose.op, fault, state));
    case "continue":
      return stepOf(onContinued(purpose, fault, data, state));
    case "change":
      return stepOf(onChanged(purpose.change, fault, state));
    default:
      purpose satisfies never;
      return stepOf([]);
  }
}

function onInitialized(fault: Fault | undefined, data: Record<string, unknown>, state: HostState): Step<Event> {
  state.sessionId = stringField(data, "session_id") ?? state.sessionId;
  const ready = onReady({ fault, capabilities: isRecord(data["capabilities"]) ? data["capabilities"] : {} }, state);
  if (ready === undefined) return stepOf([]);
  const commands = state.requests.send({ subtype: "supported_commands" }, { for: "commands" });
  return { in: [ready, catalogue(state), ...state.lost.splice(0)], out: [commands] };
}

function namesIn(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((name) => typeof name === "string") : [];
}

/** A continued turn starts by itself. */
function onContinued(
  { prompt }: Extract<OwnPurpose, { for: "continue" }>,
  fault: Fault | undefined,
  data: Record<string, unknown>,
  state: HostState,
): Event[] {
  const nothing: Fault = { code: "session", message: "There is no unfinished turn to go on with", retryable: false };
  const refusal = fault ?? (data["accepted"] === true ? undefined : nothing);
  if (refusal === undefined) state.prompts.push(prompt);
  return refusal === undefined || prompt.op === undefined ? [] : [answerTo("turn.prompt", prompt.op, refusal, state)];
}

// --- what the agent asks ---

function onRequest(rec: Record<string, unknown>, state: HostState, env: SideEnv): Step<Event> {
  const request_id = stringField(rec, "request_id");
  const asked = rec["request"];
  const subtype = stringField(asked, "subtype") ?? "";
  if (request_id === undefined) return stepOf([protocolError("The agent wrote a control_request without a request_id", state.session)]);
  if (v.is(questions.can_use_tool, asked)) return onPermission(request_id, asked, state, env);
  if (v.is(questions.mcp_message, asked)) return stepOf(state.questions.message(request_id, asked, state.session));
  return { in: [], out: [refuseUnread(request_id, subtype, Object.hasOwn(questions, subtype))] };
}

function onPermission(
  request_id: string,
  asked: v.InferOutput<typeof questions.can_use_tool>,
  state: HostState,
  env: SideEnv,
): Step<Event> {
  const { begun, turn } = turnOf(state, env);
  const title = asked.permission_suggestions?.find(({ type }) => type === "allow")?.description;
  return together(stepOf(begun), state.questions.permission(request_id, asked, { title }, turn));
}
