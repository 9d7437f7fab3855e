/** Agent → host, read: finds the kind, the session and the request of a line. */
import * as v from "valibot";
import type { CommandResult } from "../../../core/command.js";
import type { Fault } from "../../../core/errors.js";
import type { Event } from "../../../core/event.js";
import { canonicalTool, categoryOf } from "../../../core/names.js";
import type { Out, Step } from "../../dialect.js";
import { protocolError } from "../../kit/bad-line.js";
import { issuesOf, shapeOf, stringField } from "../../kit/issues.js";
import { stepOf } from "../../kit/step.js";
import { isRecord } from "../../../core/values/json-object.js";
import type { HostedSession, HostState, Question, RunningTurn } from "./state.js";
import { readDisplay } from "./read-displays.js";
import { endTurn, faultOf, flushed, onAnnotation, onSaid, turnOf, type Said } from "./read-turns.js";
import {
  Chunk,
  Completion,
  ControlRequest,
  FatalError,
  PROTOCOL_VERSION,
  results,
  Thought,
  ToolDisplay,
  WireCommandResult,
  type Metadata,
} from "../wire/event-records.js";

export function readEvent(rec: unknown, state: HostState): Step<Event> {
  const finished = [...state.sessions.values()].flatMap((session) => (session.running?.isFinished === true ? [session.running] : []));
  const step = readLine(rec, state);
  // A finished turn has only its summary left; any other line takes the summary's place.
  const late = [...state.sessions.values()].flatMap((session) =>
    session.running !== undefined && finished.includes(session.running) ? endTurn(session.running, session, state) : [],
  );
  return { in: [...step.in, ...late], out: step.out };
}

function readLine(rec: unknown, state: HostState): Step<Event> {
  if (!isRecord(rec)) return stepOf([protocolError(`The agent wrote a line that is ${shapeOf(rec)}`)]);
  const type = stringField(rec, "type");
  if (type !== undefined) return readTyped(type, rec, state);
  if (v.is(FatalError, rec)) return stepOf(onFatal(faultOf(rec.error), state));
  const said = readSaid(rec);
  if (typeof said === "string") return stepOf([protocolError(said)]);
  return stepOf(said === undefined ? [{ type: "other", name: "line", data: rec }] : onLine(said, state));
}

// --- chat.completion and chunks ---

/** The RFC's examples lack fields that OpenAI's records always have. Undefined: it is no such line. */
function readSaid(rec: Record<string, unknown>): Said | string | undefined {
  const object = stringField(rec, "object");
  if (object !== "chat.completion" && object !== "chat.completion.chunk") return undefined;
  const whole = { id: "", created: 0, model: "", ...rec, choices: choicesOf(rec["choices"]), metadata: metadataOf(rec["metadata"]) };
  if (v.is(Chunk, whole)) {
    const [choice] = whole.choices;
    return { ...saidOf(whole), isChunk: true, calls: [], pieces: choice?.delta.tool_calls ?? [], ...wordsOf(choice?.delta, choice) };
  }
  if (v.is(Completion, whole)) {
    const [choice] = whole.choices;
    return { ...saidOf(whole), isChunk: false, calls: choice?.message.tool_calls ?? [], pieces: [], ...wordsOf(choice?.message, choice) };
  }
  return `The agent wrote an invalid ${object}: ${issuesOf(object === "chat.completion" ? Completion : Chunk, whole)}`;
}

function choicesOf(choices: unknown): unknown {
  if (!Array.isArray(choices)) return choices ?? [];
  return choices.map((choice: unknown) => (isRecord(choice) ? { index: 0, ...choice } : choice));
}

/**
 * Completes the metadata: the RFC does not show an error and a summary. A version may be written "1.2", of which only the first
 * number counts.
 */
function metadataOf(metadata: unknown): unknown {
  if (!isRecord(metadata)) return metadata ?? {};
  const { error, summary, ...rest } = metadata;
  const version = stringField(metadata, "protocol_version");
  const given = isRecord(summary) ? summary : {};
  return {
    ...rest,
    ...(version !== undefined && { protocol_version: Number.parseInt(version, 10) }),
    ...(error != null && { error: isRecord(error) ? { type: "error", ...error } : error }),
    ...(summary != null && { summary: { prompt_id: "", num_turns: 0, duration_ms: 0, is_error: error != null, ...given } }),
  };
}

function saidOf({ id, usage, metadata = {} }: Completion | Chunk): Pick<Said, "sessionId" | "usage" | "metadata"> {
  const named = /^chatcmpl-(.+)$/s.exec(id)?.[1];
  return { sessionId: metadata.session_id ?? named, usage: usage ?? undefined, metadata };
}

function wordsOf(
  words: { content?: string | null | undefined; annotations?: Said["annotations"] | undefined } | undefined,
  choice: { finish_reason?: string | null | undefined } | undefined,
): Pick<Said, "content" | "annotations" | "finish"> {
  return { content: words?.content ?? "", annotations: words?.annotations ?? [], finish: choice?.finish_reason ?? undefined };
}

function onLine(said: Said, state: HostState): Event[] {
  const { metadata } = said;
  if (said.finish === "error") return onFatal(faultOf(metadata.error ?? "error"), state);
  const greeting = greeted(metadata, said.sessionId, state);
  if (greeting !== undefined) return greeting;
  const session = sessionOf(metadata.prompt_id, said.sessionId, state);
  if (session === undefined) return metadata.error === undefined ? [] : [{ type: "error", fault: faultOf(metadata.error) }];
  const renamed = named(said.sessionId, metadata.prompt_id, session);
  const errors = controlErrors(metadata, session, state);
  return [...renamed, ...errors, ...(refusedPrompt(metadata, session) ?? onSaid(said, session, state))];
}

/** The first line names the agent's protocol; it is checked whenever it comes. Undefined: the line does not name it. */
function greeted(metadata: Metadata, sessionId: string | undefined, state: HostState): Event[] | undefined {
  const version = metadata.protocol_version;
  if (version === undefined) return undefined;
  if (state.version !== undefined) return undefined;
  if (version !== PROTOCOL_VERSION) {
    const message = `The agent speaks version ${version} of the protocol, and we speak ${PROTOCOL_VERSION}`;
    return onFatal({ code: "version", message, retryable: false }, state);
  }
  state.version = String(version);
  state.isGreeted = true;
  const first = [...state.sessions.values()].find(({ isNew }) => isNew);
  if (first === undefined) state.firstId = sessionId;
  else first.id ??= sessionId;
  return metadata.summary === undefined && metadata.prompt_id === undefined ? [] : undefined;
}

/** The agent cannot go on: its later lines are ignored. */
function onFatal(fault: Fault, state: HostState): Event[] {
  state.refused = fault;
  return [];
}

/** The session of a line: that of its prompt, else the named one, else one that waits for its name. */
function sessionOf(promptId: string | undefined, id: string | undefined, state: HostState): HostedSession | undefined {
  const all = [...state.sessions.values()];
  const isAsked = (session: HostedSession): boolean => session.prompts.length > 0;
  return (
    all.find(({ prompts }) => promptId !== undefined && prompts.some((prompt) => prompt.promptId === promptId)) ??
    all.find((session) => id !== undefined && session.id === id) ??
    all.find((session) => session.isNew && isAsked(session)) ??
    all.find(({ running }) => running !== undefined) ??
    all.find(isAsked) ??
    all.at(-1)
  );
}

/** The agent's own name of a session counts from now on. */
function named(id: string | undefined, promptId: string | undefined, session: HostedSession): Event[] {
  const isSure = promptId !== undefined && session.prompts.some((prompt) => prompt.promptId === promptId);
  if (id === undefined || !(isSure || (session.isNew && session.prompts.length > 0))) return [];
  session.isNew = false;
  if (session.id === id) return [];
  session.id = id;
  return [{ type: "session.updated", session: session.handle, sessionId: id }];
}

/** An error about a prompt whose turn will not begin: without a summary it is a refusal. */
function refusedPrompt({ error, prompt_id, summary }: Metadata, session: HostedSession): Event[] | undefined {
  if (error === undefined || summary !== undefined) return undefined;
  const prompt = session.prompts.find(({ promptId }) => promptId === prompt_id);
  if (prompt === session.running?.prompt && prompt !== undefined) return undefined;
  const fault = faultOf(error);
  if (prompt === undefined) return [{ type: "error", session: session.handle, fault }];
  session.prompts = session.prompts.filter((each) => each !== prompt);
  return [
    {
      type: "reply",
      to: "turn.prompt",
      status: "error",
      session: session.handle,
      ...(prompt.op !== undefined && { parent: prompt.op }),
      fault,
    },
  ];
}

/** Errors of the control channel. A question of the agent that an error names is settled. */
function controlErrors({ control_errors = [] }: Metadata, { handle, running }: HostedSession, state: HostState): Event[] {
  return control_errors.flatMap(({ request_id, message }): Event[] => {
    const question = state.questions.get(request_id);
    state.questions.delete(request_id);
    if (question?.kind === "approval") running?.denied.add(question.call);
    const settled: Event[] =
      question === undefined || question.kind === "approval"
        ? []
        : [{ type: "host.settled", session: handle, request: request_id, ok: false, reason: message }];
    return [...settled, { type: "notice", session: handle, level: "warning", text: message, kind: "control_error" }];
  });
}

// --- lines with a type ---

function readTyped(type: string, rec: Record<string, unknown>, state: HostState): Step<Event> {
  // Annotations as lines of their own.
  if (v.is(ToolDisplay, rec) || v.is(Thought, rec)) return stepOf(onStray(rec, state));
  const schema = Object.entries(results).find(([name]) => name === type)?.[1];
  if (schema === undefined) return stepOf([{ type: "other", ...at(rec, state), name: type, data: rec }]);
  if (!v.is(schema, rec)) return stepOf([protocolError(`The agent wrote an invalid ${type}: ${issuesOf(schema, rec)}`)]);
  switch (rec.type) {
    case "x-qwen-session-event": {
      const session = sessionOf(rec.prompt_id, rec.session_id, state);
      return stepOf(session === undefined ? [] : onAnnotation(rec, session, state));
    }
    case "result/command":
      return stepOf(onCommand(rec, state));
    case "result/command_hint":
      return stepOf(onHint(rec, state));
    case "result/heartbeat":
      return stepOf(onHeartbeat(state));
    case "result/cancel":
      return stepOf(onCancel(rec, state));
    case "control_request":
      return onControl(rec, state);
    case "control_response":
      return stepOf([]);
    default:
      rec satisfies never;
      return stepOf([]);
  }
}

function onStray(annotation: ToolDisplay | Thought, state: HostState): Event[] {
  const session = sessionOf(undefined, "session_id" in annotation ? stringField(annotation, "session_id") : undefined, state);
  if (session === undefined) return [];
  return [...(turnOf(undefined, session, state)?.begun ?? []), ...onAnnotation(annotation, session, state)];
}

function at(rec: Record<string, unknown>, state: HostState): { session?: string } {
  const session = sessionOf(stringField(rec, "prompt_id"), stringField(rec, "session_id"), state);
  return session === undefined ? {} : { session: session.handle };
}

/** A command that became a prompt has a turn, which follows. */
function onCommand(
  { session_id, prompt_id, command, result }: v.InferOutput<(typeof results)["result/command"]>,
  state: HostState,
): Event[] {
  const session = sessionOf(prompt_id, session_id, state);
  const prompt = session?.prompts.find(({ promptId }) => promptId === prompt_id) ?? session?.prompts[0];
  if (session === undefined || prompt === undefined) return [{ type: "other", name: "result/command", data: { command, result } }];
  const read = readResult(result);
  const isPrompt = read.type === "submit_prompt";
  if (!isPrompt) session.prompts = session.prompts.filter((each) => each !== prompt);
  const ref = prompt.command ?? { name: command.path.join(" "), args: command.args ?? "" };
  const data = { command: ref, result: read };
  return [
    ...named(session_id, prompt_id, session),
    {
      type: "reply",
      to: "turn.prompt",
      status: "ok",
      session: session.handle,
      ...(prompt.op !== undefined && { parent: prompt.op }),
      data,
    },
  ];
}

/** Types that the text does not name become a message that names them. */
function readResult(result: v.InferOutput<(typeof results)["result/command"]>["result"]): CommandResult {
  if (!v.is(WireCommandResult, result)) return { type: "message", level: "info", text: stringField(result, "content") ?? result.type };
  switch (result.type) {
    case "message": {
      const level = result.level === "error" || result.level === "warning" ? result.level : "info";
      return { type: "message", level, text: result.content };
    }
    case "dialog": {
      const choices = result.choices === undefined ? {} : { choices: result.choices };
      return { type: "dialog", dialog: result.dialog, text: result.content ?? "", ...choices };
    }
    case "tool":
      return { type: "tool", tool: canonicalTool(result.tool_name), parts: readDisplay(result.result_display) };
    case "submit_prompt":
      return { type: "submit_prompt" };
    default:
      result satisfies never;
      return { type: "submit_prompt" };
  }
}

function onHint(rec: v.InferOutput<(typeof results)["result/command_hint"]>, state: HostState): Event[] {
  const key = rec.request_id ?? rec.prompt_id ?? "";
  const known = state.hints.has(key) ? key : [...state.hints.keys()].find((each) => state.hints.get(each)?.trigger === rec.trigger);
  const op = known === undefined ? undefined : state.hints.get(known);
  if (known === undefined || op === undefined) return [];
  const head = { type: "reply", to: op.type, ...(op.session !== undefined && { session: op.session }), parent: op.id } as const;
  if (rec.status === "loading") return [{ ...head, status: "loading" }];
  state.hints.delete(known);
  if (rec.status === "error") {
    return [
      { ...head, status: "error", fault: { code: "agent", message: rec.message ?? "The agent has no suggestions", retryable: false } },
    ];
  }
  const perfect = rec.metadata?.is_perfect_match;
  return [{ ...head, status: "ok", data: { suggestions: rec.suggestions ?? [], ...(perfect !== undefined && { perfect }) } }];
}

/** An agent also sends heartbeats unasked. An agent that answers before it has greeted will not greet: it does not name its protocol. */
function onHeartbeat(state: HostState): Event[] {
  const isAsked = state.pings.length > 0;
  const op = state.pings.shift();
  if (isAsked && op === undefined) state.isGreeted = true;
  return op === undefined ? [] : [{ type: "reply", to: "ping", status: "ok", parent: op }];
}

function onCancel(rec: v.InferOutput<(typeof results)["result/cancel"]>, state: HostState): Event[] {
  const index = state.cancels.findIndex(({ promptId }) => promptId === rec.prompt_id);
  const [cancel] = state.cancels.splice(Math.max(0, index), 1);
  if (cancel === undefined) return [];
  const isDone = rec.status === "ok";
  const turn = [...state.sessions.values()].find(({ running }) => running?.prompt.promptId === cancel.promptId)?.running;
  if (isDone && turn !== undefined) turn.isCancelled = true;
  if (cancel.op === undefined) return [];
  return [{ type: "reply", to: "turn.interrupt", status: isDone ? "ok" : "noop", session: cancel.session, parent: cancel.op }];
}

// --- the control channel ---

function onControl(rec: v.InferOutput<typeof ControlRequest>, state: HostState): Step<Event> {
  const { request_id, subtype, payload = {} } = rec;
  const session = sessionOf(rec.prompt_id, rec.session_id, state);
  const place = session === undefined ? undefined : turnOf(rec.prompt_id, session, state);
  if (session === undefined) return stepOf([]);
  const address = place?.turn.reader.address ?? { session: session.handle };
  const ask = (kind: "hook" | "mcp", data: unknown): Step<Event> => {
    state.questions.set(request_id, { kind, session });
    return stepOf([...(place?.begun ?? []), { type: "host.request", ...address, request: request_id, kind, data }]);
  };
  switch (subtype) {
    case "can_use_tool":
      if (place === undefined || rec.tool === undefined) return { in: [], out: [refused(request_id, "There is no such call")] };
      return stepOf([...place.begun, ...onApproval(rec, rec.tool, place.turn, session, state)]);
    case "hook_callback":
      return ask("hook", { callback: stringField(payload, "callback_id") ?? "", input: payload["input"] });
    case "mcp_message":
      return ask("mcp", { server: stringField(payload, "server_name") ?? "", message: payload["message"] });
    default:
      return { in: place?.begun ?? [], out: [refused(request_id, `Unknown control request subtype: ${subtype}`)] };
  }
}

/** Our side cannot answer the request; without an answer the turn would hang. */
function refused(request_id: string, message: string): Out {
  return { rec: { type: "control_response", request_id, response: { subtype: "error", error: { message, retryable: false } } } };
}

function onApproval(
  { request_id, tool_call_id, metadata }: v.InferOutput<typeof ControlRequest>,
  tool: { name: string; arguments: Record<string, unknown> },
  turn: RunningTurn,
  session: HostedSession,
  state: HostState,
): Event[] {
  const whole = flushed(turn, undefined);
  const name = canonicalTool(tool.name);
  const id = tool_call_id ?? unasked(name, tool.arguments, turn, state) ?? request_id;
  const announced = turn.reader.request({ id, name, args: tool.arguments, category: categoryOf(name) });
  const call = turn.reader.callOf(id);
  if (call?.now !== "requested") return [...whole, ...announced];
  const question: Question = { kind: "approval", session, call: call.id, args: tool.arguments };
  state.questions.set(request_id, question);
  const message = metadata?.reason === undefined ? {} : { message: metadata.reason };
  return [
    ...whole,
    ...announced,
    ...turn.reader.closeBlock(call.under),
    { type: "approval.requested", ...turn.reader.address, calls: [{ ...call.call, args: tool.arguments }], ...message },
  ];
}

/** The call of a question that names none: the first open one of that tool, preferably with the same arguments. */
function unasked(name: string, args: Record<string, unknown>, { reader: turn }: RunningTurn, { questions }: HostState): string | undefined {
  const asked = new Set([...questions.values()].flatMap((question) => (question.kind === "approval" ? [question.call] : [])));
  const open = turn.calls.filter((each) => each.call.name === name && each.now === "requested" && !asked.has(each.id));
  const same = open.find((each) => JSON.stringify(each.call.args) === JSON.stringify(args));
  return (same ?? open[0])?.wireId;
}
