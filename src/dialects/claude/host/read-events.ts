/** Agent → host, read: each line becomes events and answers. An unreadable line becomes an error, and the session goes on. */
import * as v from "valibot";
import type { Fault } from "../../../core/errors.js";
import type { Event } from "../../../core/event.js";
import { isRecord } from "../../../core/values/json-object.js";
import type { SideEnv, Step } from "../../dialect.js";
import { protocolError } from "../../kit/bad-line.js";
import { issuesOf, shapeOf, stringField } from "../../kit/issues.js";
import { stepOf, together } from "../../kit/step.js";
import { onChanged, onInterrupted } from "../../kit/stream-json/host/changes.js";
import { onReady } from "../../kit/stream-json/host/session.js";
import { turnOf } from "../../kit/stream-json/host/turns.js";
import { refuseUnread } from "../../kit/stream-json/host/agent-questions.js";
import { Assistant, asked as questions, Init, type PermissionAsked, ResultMeta, StreamEvent, ToolProgress } from "../wire/event-records.js";
import { ASK_USER } from "../wire/host-tools.js";
import { modeNamed } from "../wire/names.js";
import { coversIn, readUpdates, updateFor } from "../wire/permissions.js";
import { hookCancelled, onHook } from "./hooks.js";
import { onSystem } from "./read-system.js";
import { onRewound } from "./rewind.js";
import { onAssistant, onResult, onStreamed, onUser } from "./read-turns.js";
import type { HostState } from "./state.js";
import { catalogue, gathered, updated } from "./surroundings.js";

export function readEvent(rec: unknown, state: HostState, env: SideEnv): Step<Event> {
  const type = stringField(rec, "type");
  if (!isRecord(rec) || type === undefined)
    return stepOf([protocolError(`The agent wrote a line that is ${shapeOf(rec)} without a "type"`, state.session)]);
  if (type === "control_response") return onResponse(rec["response"], state);
  if (!state.isReady) return onEarly(type, rec, state);
  switch (type) {
    case "control_request":
      return onRequest(rec, state, env);
    case "control_cancel_request": {
      const request_id = stringField(rec, "request_id") ?? "";
      return stepOf([...hookCancelled(request_id, state), ...state.questions.cancelled(request_id, state.session)]);
    }
    case "system":
      return stepOf(v.is(Init, rec) ? onInit(rec, state, env) : onSystem(rec, state));
    case "assistant":
      return stepOf(onMessage(rec, state, env));
    case "stream_event":
      return stepOf(onStreamEvent(rec, state, env));
    case "user": {
      const metas = Array.isArray(rec["tool_result_meta"]) ? rec["tool_result_meta"].filter((meta) => v.is(ResultMeta, meta)) : [];
      return stepOf(onUser(isRecord(rec["message"]) ? rec["message"]["content"] : undefined, metas, state.running));
    }
    case "tool_progress":
      return stepOf(v.is(ToolProgress, rec) ? onProgress(rec, state) : []);
    case "result":
      return stepOf(onResult(rec, state, env));
    case "keep_alive":
      return stepOf([]);
    default:
      return stepOf([{ type: "other", session: state.session, name: type, data: rec }]);
  }
}

function underOf(rec: Record<string, unknown>): string | undefined {
  return stringField(rec, "parent_tool_use_id");
}

/** Reads a line before the handshake: a hook, a message to an MCP server, or the reason for which no session begins. */
function onEarly(type: string, rec: Record<string, unknown>, state: HostState): Step<Event> {
  if (type === "control_request") {
    const request_id = stringField(rec, "request_id");
    if (request_id !== undefined && v.is(questions.mcp_message, rec["request"]))
      return stepOf(state.questions.message(request_id, rec["request"], state.session));
    if (request_id !== undefined && v.is(questions.hook_callback, rec["request"])) return onHook(request_id, rec["request"], state);
  }
  const errors = type === "result" && Array.isArray(rec["errors"]) ? rec["errors"].filter((error) => typeof error === "string") : [];
  if (errors.length > 0) state.refused = { code: "config", message: errors.join("; "), retryable: false };
  return stepOf([]);
}

// --- a turn ---

/** The first line of every turn. It also has the session's present model, mode and catalogue. */
function onInit(rec: v.InferOutput<typeof Init>, state: HostState, env: SideEnv): Event[] {
  const changed = updated({ model: rec.model, mode: modeNamed(rec.permissionMode), sessionId: rec.session_id }, state);
  const { commands, subagents } = state.catalogue;
  const news = gathered(
    {
      commands: rec.slash_commands.map((name) => commands.find((command) => command.name === name) ?? { name }),
      subagents: (rec.agents ?? []).map((name) => subagents.find((agent) => agent.name === name) ?? { name }),
      skills: rec.skills ?? [],
      mcpServers: rec.mcp_servers.map(({ name, status }) => ({ name, status })),
    },
    state,
  );
  return [...changed, ...news, ...turnOf(state, env).begun];
}

/** Whether a line comes from a background task after the end of its turn; it belongs to no turn. */
function isBehindTurn(rec: Record<string, unknown>, { running }: HostState): boolean {
  return running === undefined && underOf(rec) !== undefined;
}

function onMessage(rec: Record<string, unknown>, state: HostState, env: SideEnv): Event[] {
  if (!v.is(Assistant, rec)) return [protocolError(`The agent wrote an invalid assistant: ${issuesOf(Assistant, rec)}`, state.session)];
  if (isBehindTurn(rec, state)) return [];
  const { begun, turn } = turnOf(state, env);
  return [...begun, ...onAssistant(rec, turn)];
}

function onStreamEvent(rec: Record<string, unknown>, state: HostState, env: SideEnv): Event[] {
  const { event } = rec;
  // Citations and signatures of thinking have no place in our vocabulary.
  if (!v.is(StreamEvent, event)) return [];
  if (state.running === undefined && (event.type !== "message_start" || isBehindTurn(rec, state))) return [];
  const { begun, turn } = turnOf(state, env);
  return [...begun, ...onStreamed(event, underOf(rec), turn)];
}

function onProgress({ tool_use_id, elapsed_time_seconds }: v.InferOutput<typeof ToolProgress>, { running }: HostState): Event[] {
  return running?.told.progress(tool_use_id, { text: `still running after ${Math.round(elapsed_time_seconds)} s` }) ?? [];
}

// --- replies to our requests ---

function onResponse(response: unknown, state: HostState): Step<Event> {
  const answer = state.requests.take(response);
  if (answer === undefined) return stepOf([]);
  const { purpose, fault, data } = answer;
  switch (purpose.for) {
    case "initialize":
      return stepOf(onInitialized(fault, data, state));
    case "interrupt":
      return stepOf(onInterrupted(purpose.op, fault, state));
    case "change":
      return stepOf(onChanged(purpose.change, fault, state));
    case "rewind":
      return onRewound(purpose, fault, data, state);
    default:
      purpose satisfies never;
      return stepOf([]);
  }
}

const Row = v.looseObject({ name: v.string(), description: v.optional(v.string()), argumentHint: v.optional(v.string()) });

function onInitialized(fault: Fault | undefined, data: Record<string, unknown>, state: HostState): Event[] {
  const ready = onReady({ fault, capabilities: { images: true } }, state);
  if (ready === undefined) return [];
  state.catalogue.commands = rows(data["commands"]);
  state.catalogue.subagents = rows(data["agents"]);
  return [ready, catalogue(state), ...state.lost.splice(0)];
}

function rows(list: unknown): HostState["catalogue"]["commands"] {
  const known = Array.isArray(list) ? list.filter((row) => v.is(Row, row)) : [];
  return known.map(({ name, description, argumentHint }) => ({
    name,
    ...(description !== undefined && { description }),
    ...(argumentHint !== undefined && argumentHint !== "" && { argumentHint }),
  }));
}

// --- questions of the agent ---

function onRequest(rec: Record<string, unknown>, state: HostState, env: SideEnv): Step<Event> {
  const request_id = stringField(rec, "request_id");
  const asked = rec["request"];
  const subtype = stringField(asked, "subtype") ?? "";
  if (request_id === undefined) return stepOf([protocolError("The agent wrote a control_request without a request_id", state.session)]);
  if (v.is(questions.can_use_tool, asked)) return onPermission(request_id, asked, state, env);
  if (v.is(questions.hook_callback, asked)) return onHook(request_id, asked, state);
  if (v.is(questions.mcp_message, asked)) return stepOf(state.questions.message(request_id, asked, state.session));
  return { in: [], out: [refuseUnread(request_id, subtype, Object.hasOwn(questions, subtype))] };
}

function onPermission(request_id: string, asked: PermissionAsked, state: HostState, env: SideEnv): Step<Event> {
  const { begun, turn } = turnOf(state, env);
  const question = asked.tool_name === ASK_USER.name ? state.questions.forUser(request_id, asked, turn) : undefined;
  if (question !== undefined) return together(stepOf(begun), question);
  if (state.config.mode === "yolo" && asked["requires_user_interaction"] !== true)
    return together(stepOf(begun), state.questions.allowed(request_id, asked, turn));
  const suggestions = readUpdates(asked.permission_suggestions);
  const covers = coversIn(suggestions, asked.tool_name);
  const shown = {
    title: asked.decision_reason ?? undefined,
    callTitle: asked.description ?? undefined,
    covers,
    grants: ({ grant }: { grant?: "call" | "prefix" | "tool" | "category" | undefined }) => {
      const updatedPermissions = updateFor(grant, asked.tool_name, suggestions);
      return updatedPermissions.length === 0 ? {} : { updatedPermissions };
    },
  };
  return together(stepOf(begun), state.questions.permission(request_id, asked, shown, turn));
}
