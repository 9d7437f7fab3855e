/** How a host of each dialect speaks and what it hears: the only place of the matrix that knows wire names. One adapter a dialect. */
import * as v from "valibot";
import { plainText } from "../../src/core/content.js";
import { Event } from "../../src/core/event.js";
import { mintId } from "../../src/core/ids.js";
import { canonicalTool } from "../../src/core/names.js";
import { partOf } from "../../src/dialects/acp/wire/content.js";
import { AgentRecord } from "../../src/dialects/acp/wire/records.js";
import { Failure, type RpcError } from "../../src/dialects/acp/wire/rpc.js";
import { SessionResult } from "../../src/dialects/acp/wire/sessions.js";
import { KnownUpdate, type WireCall } from "../../src/dialects/acp/wire/updates.js";
import { LaterEvent, WireEvent as FirstEvent } from "../../src/dialects/aionrs/wire/records.js";
import { faultOf } from "../../src/dialects/ante/wire/failure-kinds.js";
import { EventMsg, type EventFields } from "../../src/dialects/ante/wire/records.js";
import { readFault } from "../../src/dialects/codex/wire/errors.js";
import { KnownItem } from "../../src/dialects/codex/wire/items.js";
import { notifications } from "../../src/dialects/codex/wire/notifications.js";
import { questions as codexQuestions } from "../../src/dialects/codex/wire/questions.js";
import { RequestId } from "../../src/dialects/codex/wire/requests.js";
import { Opened, type Turn } from "../../src/dialects/codex/wire/threads.js";
import { callOf } from "../../src/dialects/codex/host/read-items.js";
import { Chunk, ControlRequest, EventLine, ToolDisplay, Thought, type Metadata } from "../../src/dialects/qwen/wire/event-records.js";
import {
  AgentLine,
  Assistant,
  asked as questions,
  Init,
  Result,
  StreamLine,
  UserLine,
} from "../../src/dialects/qwen-shipped/wire/event-records.js";
import { claude } from "./claude-host.js";
import { WireEvent as WaylandEvent, type WireEvent } from "../../src/dialects/wayland/wire.js";

/** What any host can hear, whatever its wire calls it. */
export type Heard =
  | { is: "ready"; sessionId: string | undefined }
  | { is: "started"; turn: string }
  /** Not every wire says how a turn ended. */
  | { is: "ended"; turn: string; outcome: string | undefined }
  | { is: "text"; text: string }
  | { is: "thinking"; text: string }
  | { is: "asked"; call: string; tool: string; args: Record<string, unknown> }
  | { is: "running"; call: string }
  /** Not every wire tells a denial from a cancellation. */
  | { is: "result"; call: string; status: "ok" | "failed" | "refused"; text: string }
  /** Without a turn: about a line or the session. */
  | { is: "error"; message: string; retryable: boolean; turn: string | undefined };

/** How a session begins: a new one, or one that the host was told the name of. */
export interface Opening {
  resume?: string;
  /** Where the session works, for wires on which its opener must say so. */
  cwd?: string;
}

export interface HostScript {
  /** What the host puts on the relay's command line. */
  flags(opening: Opening): string[];
  /** The records with which it begins. */
  open(opening: Opening): unknown[];
  prompt(turn: string, text: string): unknown;
  interrupt(turn: string): unknown;
  allow(call: string, grant?: "tool" | "category"): unknown;
  deny(call: string, reason: string): unknown;
  /** Undefined where the wire sets it for a whole session. */
  mode?(mode: "default" | "yolo"): unknown;
  /** The wider grants that its wire can say. */
  grants: readonly ("tool" | "category")[];
  /** It may open another session when this one has ended, and so decides itself when it leaves. */
  opensMore: boolean;
  /** A record of a type that does not exist. */
  unknown: unknown;
  hear(record: unknown): Heard[];
}

function native(session: string): HostScript {
  return {
    flags: () => [],
    open: ({ resume }) => [
      { type: "session.open", session, ...(resume === undefined ? { open: "new" } : { open: "resume", sessionId: resume }) },
    ],
    prompt: (turn, text) => ({ type: "turn.prompt", session, turn, parts: [{ type: "text", text }] }),
    interrupt: (turn) => ({ type: "turn.interrupt", session, turn }),
    allow: (call, grant) => ({
      type: "approval.answer",
      session,
      answers: [{ call, decision: "allow", ...(grant !== undefined && { grant }) }],
    }),
    deny: (call, reason) => ({ type: "approval.answer", session, answers: [{ call, decision: "deny", reason }] }),
    mode: (mode) => ({ type: "session.configure", session, patch: { mode } }),
    grants: ["tool", "category"],
    opensMore: true,
    unknown: { type: "no.such.thing", session },
    hear: (record) => hearNative(v.parse(Event, record)),
  };
}

function hearNative(event: Event): Heard[] {
  const turn = event.turn ?? "";
  switch (event.type) {
    case "session.ready":
      return [{ is: "ready", sessionId: event.sessionId }];
    case "turn.started":
      return [{ is: "started", turn }];
    case "turn.ended":
      return [{ is: "ended", turn, outcome: event.outcome }];
    case "text.delta":
      return [{ is: "text", text: event.text }];
    case "thinking.delta":
      return [{ is: "thinking", text: event.text }];
    case "text.done":
      return event.streamed === true ? [] : [{ is: "text", text: event.text }];
    case "thinking.done":
      return event.streamed === true ? [] : [{ is: "thinking", text: event.text }];
    case "approval.requested":
      return event.calls.map((call) => ({ is: "asked", call: call.id, tool: call.name, args: call.args ?? {} }));
    case "tool.started":
      return [{ is: "running", call: event.call }];
    case "tool.ended":
      return [{ is: "result", call: event.call, status: result(event.status), text: plainText(event.output ?? []) }];
    case "error":
      return [{ is: "error", message: event.fault.message, retryable: event.fault.retryable === true, turn: event.turn }];
    case "reply":
      return event.fault === undefined
        ? []
        : [{ is: "error", message: event.fault.message, retryable: event.fault.retryable === true, turn: undefined }];
    default:
      return [];
  }
}

function result(status: "ok" | "failed" | "denied" | "cancelled"): "ok" | "failed" | "refused" {
  return status === "ok" || status === "failed" ? status : "refused";
}

/** The family of aionrs: what it calls the words of a message and the mode that asks nothing, and what it hears. */
function aionrs(text: "input" | "content", yolo: string, wire: v.GenericSchema<WireEvent>): HostScript {
  return {
    flags: ({ resume }) => (resume === undefined ? [] : ["--resume", resume]),
    open: () => [],
    prompt: (turn, words) => ({ type: "message", msg_id: turn, [text]: words }),
    interrupt: () => ({ type: "stop" }),
    allow: (call, grant) => ({ type: "tool_approve", call_id: call, scope: grant === "category" ? "always" : "once" }),
    deny: (call, reason) => ({ type: "tool_deny", call_id: call, reason }),
    mode: (mode) => ({ type: "set_mode", mode: mode === "yolo" ? yolo : mode }),
    grants: ["category"],
    opensMore: false,
    unknown: { type: "no.such.thing" },
    hear: (record) => hearAionrs(v.parse(wire, record)),
  };
}

function hearAionrs(event: WireEvent): Heard[] {
  switch (event.type) {
    case "ready":
      return [{ is: "ready", sessionId: event.session_id }];
    case "stream_start":
      return [{ is: "started", turn: event.msg_id }];
    case "stream_end":
      return [{ is: "ended", turn: event.msg_id, outcome: undefined }];
    case "text_delta":
      return [{ is: "text", text: event.text }];
    case "thinking":
      return [{ is: "thinking", text: event.text }];
    case "tool_request":
      return [{ is: "asked", call: event.call_id, tool: event.tool.name, args: event.tool.args }];
    case "tool_running":
      return [{ is: "running", call: event.call_id }];
    case "tool_result":
      return [{ is: "result", call: event.call_id, status: event.status === "success" ? "ok" : "failed", text: event.output }];
    case "tool_cancelled":
      return [{ is: "result", call: event.call_id, status: "refused", text: event.reason ?? "" }];
    case "error":
      return [{ is: "error", message: event.error.message, retryable: event.error.retryable === true, turn: event.msg_id ?? undefined }];
    default:
      return [];
  }
}

/** It names its turns itself: the wire names them by the operations that began them. */
function ante(): HostScript {
  const prompts = new Map<string, string>();
  const turns = new Map<string, string>();
  const pauses = new Map<string, string>();
  let hasPieces = false;
  const operation = (op: unknown): { op: unknown; id: string } => ({ op, id: `op_${mintId()}` });
  const answer = (call: string, decision: string): unknown =>
    operation({ ApprovalResponse: { turn_id: pauses.get(call), responses: [[call, decision]] } });
  return {
    flags: () => ["--approve-tools", "TodoWrite"],
    open: ({ resume }) => [
      operation(
        resume === undefined
          ? { StartSession: { model: "rehearsal", provider: "rehearsal", streaming: true } }
          : { ResumeSession: { session_id: resume } },
      ),
    ],
    prompt(turn, text) {
      const prompt = operation({ UserInput: text });
      prompts.set(prompt.id, turn);
      return prompt;
    },
    interrupt: () => operation("Interrupt"),
    allow: (call, grant) => answer(call, grant === "tool" ? "AcceptForSession" : "Accept"),
    deny: (call) => answer(call, "Skip"),
    grants: ["tool"],
    opensMore: true,
    unknown: operation({ "no.such.thing": {} }),
    hear(record) {
      const { event, parent } = v.parse(EventMsg, record);
      // What happened before this host asked for anything is a replay.
      if (typeof event === "string" || (parent != null && !prompts.has(parent) && "TurnStart" in event)) return [];
      if ("TurnStart" in event) turns.set(event.TurnStart.turn_id, prompts.get(parent ?? "") ?? "");
      if ("TurnPause" in event) for (const { id } of event.TurnPause.reason.Approval.tools) pauses.set(id, event.TurnPause.turn_id);
      const isWhole = "AgentMessage" in event || "Thinking" in event;
      const isTold = isWhole && hasPieces;
      hasPieces = "MessageDelta" in event || "ThinkingDelta" in event;
      return isTold ? [] : hearAnte(event, turns, parent != null && prompts.has(parent));
    },
  };
}

type AnteEvent = Exclude<v.InferOutput<typeof EventMsg>["event"], string>;

function hearAnte(event: AnteEvent, turns: Map<string, string>, isOurs: boolean): Heard[] {
  if ("SessionStart" in event) return [{ is: "ready", sessionId: event.SessionStart.session_id }];
  if ("Error" in event) return [{ is: "error", message: event.Error, retryable: false, turn: undefined }];
  if (!isOurs) return [];
  if ("TurnStart" in event) return [{ is: "started", turn: turns.get(event.TurnStart.turn_id) ?? "" }];
  if ("MessageDelta" in event) return [{ is: "text", text: event.MessageDelta }];
  if ("ThinkingDelta" in event) return [{ is: "thinking", text: event.ThinkingDelta }];
  if ("AgentMessage" in event) return [{ is: "text", text: event.AgentMessage }];
  if ("Thinking" in event) return [{ is: "thinking", text: event.Thinking }];
  if ("TurnPause" in event)
    return event.TurnPause.reason.Approval.tools.map(({ id, name, input }) => ({
      is: "asked",
      call: id,
      tool: name,
      args: v.parse(v.record(v.string(), v.unknown()), input),
    }));
  if ("ToolUpdate" in event) return event.ToolUpdate.seq === 0 ? [{ is: "running", call: event.ToolUpdate.tool_use_id }] : [];
  if ("ToolEnd" in event) return [anteResult(event.ToolEnd)];
  return "TurnEnd" in event ? anteEnd(event.TurnEnd, turns) : [];
}

const ANTE_STATUS = { Completed: "ok", Failed: "failed", Denied: "refused", Cancelled: "refused" } as const;

function anteResult({ tool_use_id, status, result_json }: EventFields<"ToolEnd">): Heard {
  return { is: "result", call: tool_use_id, status: ANTE_STATUS[status], text: JSON.stringify(result_json) };
}

function anteEnd({ turn_id, status }: EventFields<"TurnEnd">, turns: Map<string, string>): Heard[] {
  const turn = turns.get(turn_id) ?? "";
  if (status === "Completed") return [{ is: "ended", turn, outcome: "completed" }];
  if ("Interrupted" in status) return [{ is: "ended", turn, outcome: "interrupted" }];
  const { message = "", kind } = status.Error;
  return [
    { is: "error", message, retryable: faultOf(kind, message).retryable === true, turn },
    { is: "ended", turn, outcome: "failed" },
  ];
}

/** Its turns are named by the server, in the answers to its requests; its questions are requests of the server. */
function codex(): HostScript {
  let last = 0;
  let threadId = "";
  let opener = 0;
  const prompts = new Map<number, string>();
  const turns = new Map<string, string>();
  const items = new Map<string, { tool: string; args: Record<string, unknown> }>();
  const asked = new Map<string, unknown>();
  const streamed = new Set<string>();
  const request = (method: string, params: object): { id: number; method: string; params: object } => ({ id: ++last, method, params });
  const decide = (call: string, decision: string): unknown => ({ id: asked.get(call), result: { decision } });
  return {
    flags: () => ["--approve-tools", "TodoWrite"],
    open({ resume }) {
      const greeting = request("initialize", { clientInfo: { name: "matrix", version: "1" }, capabilities: null });
      // A resumed thread asks as it did.
      const settings = resume === undefined ? { approvalPolicy: "untrusted", sandbox: "read-only" } : { threadId: resume };
      const open = request(resume === undefined ? "thread/start" : "thread/resume", settings);
      opener = open.id;
      return [greeting, { method: "initialized" }, open];
    },
    prompt(turn, text) {
      const prompt = request("turn/start", { threadId, input: [{ type: "text", text, text_elements: [] }] });
      prompts.set(prompt.id, turn);
      return prompt;
    },
    // Right behind its prompt a turn has no name yet.
    interrupt: (name) => request("turn/interrupt", { threadId, turnId: [...turns].find(([, turn]) => turn === name)?.[0] ?? "" }),
    allow: (call) => decide(call, "accept"),
    deny: (call) => decide(call, "decline"),
    mode: (mode) =>
      request("thread/settings/update", {
        threadId,
        approvalPolicy: mode === "yolo" ? "never" : "untrusted",
        sandboxPolicy: { type: mode === "yolo" ? "dangerFullAccess" : "readOnly" },
      }),
    grants: [],
    opensMore: true,
    unknown: request("no.such.thing", {}),
    hear(record) {
      const { id, method, params } = v.parse(CodexLine, record);
      if (method === undefined) return answered(id, record);
      if (id != null) return question(method, id, params);
      return notified(method, params);
    },
  };

  function answered(id: unknown, record: unknown): Heard[] {
    if (v.is(CodexError, record)) return [{ is: "error", message: record.error.message, retryable: false, turn: undefined }];
    if (id === opener) {
      const { result } = v.parse(v.looseObject({ result: Opened }), record);
      threadId = result.thread.id;
      return [{ is: "ready", sessionId: threadId }];
    }
    const prompt = prompts.get(Number(id));
    if (prompt !== undefined) turns.set(v.parse(CodexStarted, record).result.turn.id, prompt);
    return [];
  }

  function question(method: string, id: unknown, params: unknown): Heard[] {
    if (method !== "item/commandExecution/requestApproval" && method !== "item/fileChange/requestApproval") return [];
    const { itemId } = v.parse(codexQuestions[method], params);
    asked.set(itemId, id);
    return [{ is: "asked", call: itemId, tool: items.get(itemId)?.tool ?? "", args: items.get(itemId)?.args ?? {} }];
  }

  function notified(method: string, params: unknown): Heard[] {
    switch (method) {
      case "turn/started":
        return [{ is: "started", turn: turns.get(v.parse(notifications[method], params).turn.id) ?? "" }];
      case "turn/completed":
        return codexEnd(v.parse(notifications[method], params).turn, turns);
      case "item/started": {
        const { item } = v.parse(notifications[method], params);
        if (v.is(KnownItem, item) && (item.type === "commandExecution" || item.type === "fileChange" || item.type === "dynamicToolCall")) {
          const { name, args = {} } = callOf(item);
          items.set(item.id, { tool: name, args });
        }
        return [];
      }
      case "item/completed":
        return codexItem(v.parse(notifications[method], params).item, streamed);
      case "item/agentMessage/delta":
      case "item/reasoning/summaryTextDelta": {
        const { itemId, delta } = v.parse(notifications[method], params);
        streamed.add(itemId);
        return [{ is: method === "item/agentMessage/delta" ? "text" : "thinking", text: delta }];
      }
      default:
        return [];
    }
  }
}

const CodexLine = v.looseObject({ id: v.nullish(RequestId), method: v.optional(v.string()), params: v.optional(v.unknown()) });
const CodexError = v.looseObject({ error: v.looseObject({ message: v.string() }) });
const CodexStarted = v.looseObject({ result: v.looseObject({ turn: v.looseObject({ id: v.string() }) }) });
const CodexCall = v.looseObject({ id: v.string(), status: v.string(), outcome: v.optional(v.string()) });

/** A text comes in pieces, or whole where nothing was streamed. */
function codexItem(item: { type: string; id: string }, streamed: ReadonlySet<string>): Heard[] {
  if (v.is(KnownItem, item) && !streamed.has(item.id)) {
    if (item.type === "agentMessage") return [{ is: "text", text: item.text }];
    if (item.type === "reasoning") return [{ is: "thinking", text: (item.summary ?? []).join("") }];
  }
  if (!["commandExecution", "fileChange", "dynamicToolCall"].includes(item.type) || !v.is(CodexCall, item)) return [];
  const status = item.outcome !== undefined || item.status === "declined" ? "refused" : item.status === "completed" ? "ok" : "failed";
  return [{ is: "result", call: item.id, status, text: JSON.stringify(item) }];
}

function codexEnd({ id, status, error }: Turn, turns: Map<string, string>): Heard[] {
  const turn = turns.get(id) ?? "";
  const fault = error == null ? undefined : readFault(error);
  const failure: Heard[] = fault === undefined ? [] : [{ is: "error", message: fault.message, retryable: fault.retryable === true, turn }];
  return [...failure, { is: "ended", turn, outcome: status }];
}

/** It names its turns by its prompts, and answers questions by their ids. */
function qwen(): HostScript {
  const questions = new Map<string, string>();
  const begun = new Set<string>();
  let session_id = "";
  const respond = (call: string, result: object): unknown => ({
    type: "control_response",
    request_id: questions.get(call),
    response: { subtype: "success", result },
  });
  return {
    flags: ({ resume }) => ["--output-format", "stream-chunk-json", ...(resume === undefined ? [] : ["--resume", resume])],
    open: () => [],
    prompt: (turn, text) => ({ session_id, prompt_id: turn, input: { origin: "user", parts: [{ type: "text", text }], command: null } }),
    interrupt: (turn) => ({ type: "control/cancel", session_id, prompt_id: turn, reason: "escape" }),
    allow: (call) => respond(call, { behavior: "approve" }),
    deny: (call, message) => respond(call, { behavior: "deny", message }),
    grants: [],
    opensMore: true,
    unknown: { type: "no.such.thing" },
    hear(record) {
      const line = v.parse(EventLine, record);
      if (v.is(ControlRequest, line)) {
        const { tool_call_id: call = "", tool, request_id } = line;
        questions.set(call, request_id);
        return tool === undefined ? [] : [{ is: "asked", call, tool: tool.name, args: tool.arguments }];
      }
      if (!v.is(Chunk, line)) return [];
      const { metadata = {} } = line;
      if (metadata.protocol_version !== undefined) {
        session_id = metadata.session_id ?? "";
        return [{ is: "ready", sessionId: metadata.session_id }];
      }
      const { prompt_id: turn, error } = metadata;
      if (turn === undefined || (error !== undefined && metadata.summary === undefined)) return qwenError(error, undefined);
      const started: Heard[] = begun.has(turn) ? [] : [{ is: "started", turn }];
      begun.add(turn);
      return [...started, ...hearQwen(line, turn)];
    },
  };
}

function hearQwen({ choices, metadata = {} }: Chunk, turn: string): Heard[] {
  const { content, annotations = [] } = choices[0]?.delta ?? {};
  const heard = annotations.flatMap((annotation): Heard[] => {
    if (v.is(Thought, annotation)) return [{ is: "thinking", text: `${annotation.subject} ${annotation.description}` }];
    if (!v.is(ToolDisplay, annotation)) return [];
    const { tool_call_id: call, status, result_display } = annotation;
    if (status === "executing") return [{ is: "running", call }];
    const known = QWEN_STATUS.get(status);
    return known === undefined ? [] : [{ is: "result", call, status: known, text: JSON.stringify(result_display) }];
  });
  if (content != null && content !== "") heard.push({ is: "text", text: content });
  if (metadata.summary === undefined) return heard;
  const outcome = metadata.cancelled === true ? "interrupted" : metadata.summary.is_error ? "failed" : "completed";
  return [...heard, ...qwenError(metadata.error, turn), { is: "ended", turn, outcome }];
}

const QWEN_STATUS: ReadonlyMap<string, "ok" | "failed" | "refused"> = new Map([
  ["success", "ok"],
  ["error", "failed"],
  ["canceled", "refused"],
] as const);

function qwenError(error: Metadata["error"], turn: string | undefined): Heard[] {
  if (error === undefined) return [];
  if (typeof error === "string") return [{ is: "error", message: error, retryable: false, turn }];
  return [{ is: "error", message: error.message, retryable: error.type === "rate_limit_error" || error.type === "server_error", turn }];
}

/** Its turns have no names on the wire: they come in the order of their prompts. */
function qwenShipped(): HostScript {
  const asked = new Map<string, { request_id: string; input: unknown }>();
  const prompts: string[] = [];
  let turn: string | undefined;
  let streamed = "";
  const request = (fields: object): unknown => ({ type: "control_request", request_id: mintId(), request: fields });
  const respond = (call: string, response: object): unknown => ({
    type: "control_response",
    response: { subtype: "success", request_id: asked.get(call)?.request_id ?? "", response },
  });
  return {
    flags: ({ resume }) => ["--include-partial-messages", ...(resume === undefined ? [] : ["--resume", resume])],
    open: () => [request({ subtype: "initialize", hooks: null })],
    prompt(name, text) {
      prompts.push(name);
      return { type: "user", session_id: "", message: { role: "user", content: text }, parent_tool_use_id: null };
    },
    interrupt: () => request({ subtype: "interrupt" }),
    allow: (call) => respond(call, { behavior: "allow", updatedInput: asked.get(call)?.input }),
    deny: (call, message) => respond(call, { behavior: "deny", message }),
    mode: (mode) => request({ subtype: "set_permission_mode", mode }),
    grants: [],
    opensMore: false,
    unknown: { type: "no.such.thing" },
    hear(record) {
      const line = v.parse(AgentLine, record);
      if (line.type === "control_response") return shippedReady(line.response);
      if (line.type === "control_request") {
        if (!v.is(questions.can_use_tool, line.request)) return [];
        const { tool_use_id: call, tool_name, input } = line.request;
        asked.set(call, { request_id: line.request_id, input });
        return [{ is: "asked", call, tool: canonicalTool(tool_name), args: input }];
      }
      if (v.is(Init, line)) {
        turn = prompts.shift() ?? "";
        return [{ is: "started", turn }];
      }
      if (v.is(StreamLine, line)) {
        const delta = line.event.type === "content_block_delta" ? line.event.delta : undefined;
        if (delta?.type === "text_delta") streamed += delta.text;
        if (delta?.type === "text_delta") return [{ is: "text", text: delta.text }];
        return delta?.type === "thinking_delta" ? [{ is: "thinking", text: delta.thinking }] : [];
      }
      if (v.is(Assistant, line)) {
        const whole = line.message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
        const isTold = whole === streamed;
        streamed = "";
        return isTold || whole === "" ? [] : [{ is: "text", text: whole }];
      }
      if (v.is(UserLine, line)) return shippedResults(line);
      if (line.type === "system" && line.subtype === "error")
        return [{ is: "error", message: line.data.message, retryable: false, turn: undefined }];
      if (line.type === "system" && line.subtype === "notice" && turn === undefined)
        return [{ is: "error", message: line.data.notice, retryable: false, turn }];
      if (!v.is(Result, line)) return [];
      const ended = turn;
      turn = undefined;
      return shippedEnd(line, ended);
    },
  };
}

function shippedReady(response: { subtype: string; response?: unknown }): Heard[] {
  const known = v.object({ subtype: v.literal("initialize"), session_id: v.optional(v.string()) });
  return v.is(known, response.response) ? [{ is: "ready", sessionId: response.response.session_id }] : [];
}

function shippedResults({ message: { content } }: v.InferOutput<typeof UserLine>): Heard[] {
  if (typeof content === "string") return [];
  return content.flatMap((block): Heard[] => {
    if (block.type !== "tool_result") return [];
    const text = JSON.stringify(block.content);
    const status = block.is_error !== true ? "ok" : text.includes("[Operation Cancelled]") ? "refused" : "failed";
    return [{ is: "result", call: block.tool_use_id, status, text }];
  });
}

/** One of no turn is about a line. */
function shippedEnd(line: v.InferOutput<typeof Result>, turn: string | undefined): Heard[] {
  const message = line.subtype === "success" ? "" : (line.error?.message ?? "");
  const outcome = !line.is_error ? "completed" : message === "Operation cancelled." ? "interrupted" : "failed";
  const error: Heard[] = outcome === "failed" ? [{ is: "error", message, retryable: /429|rate limit/i.test(message), turn }] : [];
  return turn === undefined ? error : [...error, { is: "ended", turn, outcome }];
}

/** Its turns have no names on the wire: they are the answers to its prompts, in their order. */
function acp(): HostScript {
  const prompts: { id: number; turn: string }[] = [];
  const questions = new Map<string, unknown>();
  const begun = new Set<string>();
  let next = 0;
  let opening = -1;
  let sessionId = "";
  const request = (method: string, params: unknown): { id: number } => ({ jsonrpc: "2.0", id: next++, method, params }) as { id: number };
  const select = (call: string, optionId: string): unknown => ({
    jsonrpc: "2.0",
    id: questions.get(call),
    result: { outcome: { outcome: "selected", optionId } },
  });
  const inTurn = (heard: Heard[]): Heard[] => {
    const turn = prompts[0]?.turn;
    if (turn === undefined || begun.has(turn)) return heard;
    begun.add(turn);
    return [{ is: "started", turn }, ...heard];
  };
  return {
    flags: () => ["--approve-tools", "TodoWrite"],
    open({ resume, cwd = "/" }) {
      const place = { cwd, mcpServers: [] };
      const hello = request("initialize", { protocolVersion: 1, clientCapabilities: {} });
      const asked = resume === undefined ? request("session/new", place) : request("session/resume", { sessionId: resume, ...place });
      sessionId = resume ?? "";
      opening = asked.id;
      return [hello, asked];
    },
    prompt(turn, text) {
      const asked = request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
      prompts.push({ id: asked.id, turn });
      return asked;
    },
    interrupt: () => ({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } }),
    allow: (call, grant) => select(call, grant === "tool" ? "allow-tool" : "allow"),
    deny: (call) => select(call, "reject"),
    mode: (modeId) => request("session/set_mode", { sessionId, modeId }),
    grants: ["tool"],
    opensMore: true,
    unknown: request("no.such.thing", {}),
    hear(record) {
      const line = v.parse(AgentRecord, record);
      if ("error" in line || "result" in line) {
        const { id } = line;
        if (id === opening && "result" in line) {
          const told = v.parse(SessionResult, line.result);
          sessionId = told.sessionId ?? sessionId;
          return [{ is: "ready", sessionId }];
        }
        const at = prompts.findIndex((prompt) => prompt.id === id);
        const turn = prompts[at]?.turn;
        const error: Heard[] = v.is(Failure, line) ? [acpError(line.error, turn)] : [];
        if (turn === undefined) return error;
        const outcome = "result" in line ? (v.is(CANCELLED, line.result) ? "interrupted" : "completed") : "failed";
        const ended = inTurnAt(at, [...error, { is: "ended", turn, outcome }]);
        prompts.splice(at, 1);
        return ended;
      }
      if (line.method === "session/request_permission") {
        const { toolCallId: call, name, rawInput } = line.params.toolCall;
        questions.set(call, line.id);
        return inTurn([{ is: "asked", call, tool: canonicalTool(name ?? ""), args: v.parse(v.record(v.string(), v.unknown()), rawInput) }]);
      }
      return line.method === "session/update" && v.is(KnownUpdate, line.params.update) ? heardUpdate(line.params.update) : [];
    },
  };

  function inTurnAt(at: number, heard: Heard[]): Heard[] {
    return at === 0 ? inTurn(heard) : [{ is: "started", turn: prompts[at]?.turn ?? "" }, ...heard];
  }

  function heardUpdate(update: v.InferOutput<typeof KnownUpdate>): Heard[] {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
      case "agent_thought_chunk": {
        const part = partOf(update.content);
        const text = part.type === "text" ? part.text : "";
        return inTurn([update.sessionUpdate === "agent_message_chunk" ? { is: "text", text } : { is: "thinking", text }]);
      }
      case "tool_call_update":
        return inTurn(acpCall(update));
      default:
        return [];
    }
  }
}

const CANCELLED = v.looseObject({ stopReason: v.literal("cancelled") });

function acpError({ message, data }: RpcError, turn: string | undefined): Heard {
  return { is: "error", message, retryable: v.is(v.looseObject({ retryable: v.literal(true) }), data), turn };
}

function acpCall({ toolCallId: call, status, content, _meta }: WireCall): Heard[] {
  if (status === "in_progress" && content === undefined) return [{ is: "running", call }];
  if (status !== "completed" && status !== "failed") return [];
  const how = status === "completed" ? "ok" : _meta?.parley?.status === undefined ? "failed" : "refused";
  return [{ is: "result", call, status: how, text: JSON.stringify(content ?? []) }];
}

/** A host a session; `session` is its handle where the wire has handles. */
export const hosts: Readonly<Record<string, (session: string) => HostScript>> = {
  acp,
  native,
  aionrs: () => aionrs("input", "yolo", FirstEvent),
  "aionrs@0.2": () => aionrs("content", "yolo", LaterEvent),
  ante,
  claude,
  codex,
  qwen,
  "qwen-shipped": qwenShipped,
  wayland: () => aionrs("content", "force", WaylandEvent),
};
