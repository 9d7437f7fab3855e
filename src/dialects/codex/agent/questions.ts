/** Agent → client, written: questions of the agent. Client → server, read: the answers to them. */
import * as v from "valibot";
import type { Call, EventOf } from "../../../core/event.js";
import { isRecord } from "../../../core/values/json-object.js";
import type { Op } from "../../../core/op.js";
import { type QuestionAnswers, Questions } from "../../../core/question.js";
import type { Out, SideEnv, Step } from "../../dialect.js";
import { pickedIn } from "../../kit/user-answers.js";
import { Decided, Elicited, ToolAnswer, UserInputGiven } from "../wire/questions.js";
import type { RequestId } from "../wire/requests.js";
import type { OutputItem } from "../wire/items.js";
import { STRUCTURED } from "./schema.js";
import type { AgentState, ClientQuestion, ClientThread, Lane } from "./state.js";
import { statusView } from "./views.js";
import { announced, notice, type Notice } from "./write-events.js";
import { kindOf, mcpName } from "./write-items.js";

export interface Told {
  ops: Op[];
  notices: Notice[];
  asked: Out[];
}

export function askApproval(event: EventOf<"approval.requested">, thread: ClientThread, state: AgentState, env: SideEnv): Told {
  const told: Told = { ops: [], notices: [], asked: [] };
  for (const call of event.calls) {
    told.notices.push(...announced(call, thread, event.at ?? 0));
    const shown = thread.calls.get(call.id);
    const key = acceptKey(shown?.call ?? call);
    const verdict = thread.never ? "deny" : thread.accepted.has(key) ? "allow" : undefined;
    if (verdict === undefined) ask(event, call, key, shown?.lane, thread, state, told);
    else {
      const reason = verdict === "deny" ? { reason: "the approval policy of this thread is 'never'" } : {};
      told.ops.push({
        type: "approval.answer",
        id: env.stamp().id,
        session: thread.handle,
        answers: [{ call: call.id, decision: verdict, ...reason }],
      });
    }
  }
  return told;
}

/** The reach of an acceptance for the session: the same command, changes of the same file, or the same MCP tool. */
function acceptKey({ name, args = {} }: Call): string {
  if (kindOf(name) === "change") return JSON.stringify(["change", args["file_path"]]);
  return kindOf(name) === "mcp" ? JSON.stringify([name]) : JSON.stringify([name, args]);
}

function ask(
  event: EventOf<"approval.requested">,
  call: Call,
  key: string,
  lane: Lane | undefined,
  thread: ClientThread,
  state: AgentState,
  told: Told,
): void {
  const { threadId = thread.threadId } = lane ?? {};
  const turnId = lane?.turn.id ?? event.turn ?? "";
  const kind = kindOf(call.name);
  const isElicited = kind === "mcp";
  const id = question({ kind: "approval", thread, call: call.id, key, form: isElicited ? "elicitation" : "decision" }, state);
  const at = { threadId, turnId, itemId: call.id, startedAtMs: event.at ?? 0 };
  const reason = event.message ?? null;
  told.notices.push(...activity(thread, state));
  if (isElicited) {
    const { server, tool } = mcpName(call.name);
    const about = { codex_approval_kind: "mcp_tool_call", persist: ["session"], tool_description: null, tool_params: call.args ?? {} };
    const message = event.message ?? `Allow the ${server} MCP server to run tool "${tool}"?`;
    const schema = { type: "object", properties: {} };
    const params = { threadId, turnId, serverName: server, mode: "form", _meta: about, message, requestedSchema: schema };
    told.asked.push(request(id, "mcpServer/elicitation/request", params));
  } else if (kind === "change") told.asked.push(request(id, "item/fileChange/requestApproval", { ...at, reason, grantRoot: null }));
  else {
    const command = typeof call.args?.["command"] === "string" ? call.args["command"] : (call.title ?? call.name);
    const prefix = call.covers?.prefix;
    const amendment = prefix === undefined ? {} : { proposedExecpolicyAmendment: prefix.split(" ") };
    const params = {
      kind: "command",
      ...at,
      environmentId: "local",
      reason,
      command,
      cwd: thread.config.cwd ?? null,
      commandActions: [{ type: "unknown", command }],
      ...amendment,
    };
    told.asked.push(request(id, "item/commandExecution/requestApproval", params));
  }
}

function request(id: number, method: string, params: object): Out {
  return { rec: { method, id, params } };
}

type Unnumbered<Q> = Q extends unknown ? Omit<Q, "id"> : never;

function question(asked: Unnumbered<ClientQuestion>, state: AgentState): number {
  const id = state.lastQuestion++;
  state.questions.set(id, { ...asked, id });
  return id;
}

const FLAGS = {
  approval: "waitingOnApproval",
  input: "waitingOnUserInput",
  elicitation: "waitingOnUserInput",
  // The client itself runs its tools: nobody is waited for.
  tool: undefined,
} as const;

/** Tells the client what the thread waits for, where that has changed. */
function activity(thread: ClientThread, { questions }: AgentState): Notice[] {
  const open = [...questions.values()].flatMap((each) => (each.thread === thread ? (FLAGS[each.kind] ?? []) : []));
  const flags = [...new Set(open)];
  if (flags.join() === thread.waitsFor.join()) return [];
  thread.waitsFor = flags;
  if (!thread.lanes.has("")) return [];
  return [notice("thread/status/changed", { threadId: thread.threadId, status: statusView(true, flags) })];
}

// --- requests to the host ---

export function askHost(event: EventOf<"host.request">, thread: ClientThread, state: AgentState, env: SideEnv): Told {
  const { request: name, call, data } = event;
  const turnId = thread.lanes.get("")?.turn.id ?? "";
  const { threadId } = thread;
  const fields = isRecord(data) ? data : {};
  if (event.kind === "tool") {
    const { name: tool, args = {} } = fields;
    if (tool === STRUCTURED) return handedOver(name, args, thread, env);
    const id = question({ kind: "tool", thread, request: name }, state);
    const params = { threadId, turnId, callId: call ?? name, namespace: null, tool, arguments: args };
    return { ops: [], notices: [], asked: [request(id, "item/tool/call", params)] };
  }
  if (event.kind === "question" && v.is(Questions, data)) {
    const { questions } = data;
    const id = question({ kind: "input", thread, request: name, questions }, state);
    const params = {
      threadId,
      turnId,
      itemId: call ?? name,
      questions: questions.map(shownQuestion),
      isBlocking: true,
      autoResolutionMs: null,
    };
    return { ops: [], notices: activity(thread, state), asked: [request(id, "item/tool/requestUserInput", params)] };
  }
  const message = isRecord(fields["message"]) ? fields["message"] : {};
  const asked = isRecord(message["params"]) ? message["params"] : undefined;
  if (event.kind !== "mcp" || message["method"] !== "elicitation/create" || asked === undefined) {
    const why = { message: "Codex's client can be asked by MCP servers, and can run none" };
    return {
      ops: [{ type: "host.answer", id: env.stamp().id, session: thread.handle, request: name, ok: false, data: why }],
      notices: [],
      asked: [],
    };
  }
  const id = question({ kind: "elicitation", thread, request: name }, state);
  const params = { threadId, turnId, serverName: fields["server"] ?? "", mode: "form", _meta: null, ...asked };
  return { ops: [], notices: activity(thread, state), asked: [request(id, "mcpServer/elicitation/request", params)] };
}

/** The wire has no word for a question that takes several options. */
function shownQuestion({ question: words, header = "", options }: Asked, at: number): object {
  const shown = options.map(({ label, description = "" }) => ({ label, description }));
  return { id: nameOf(at), header, question: words, isOther: true, isSecret: false, options: shown.length === 0 ? null : shown };
}

type Asked = Questions["questions"][number];

function nameOf(at: number): string {
  return `q${at + 1}`;
}

/** Takes the result for the schema and ends the turn. */
function handedOver(name: string, value: unknown, thread: ClientThread, env: SideEnv): Told {
  thread.structured = { value };
  const { handle: session, lastTurn: turn } = thread;
  return {
    ops: [
      { type: "host.answer", id: env.stamp().id, session, request: name, ok: true, data: "The result was handed over" },
      { type: "turn.interrupt", id: env.stamp().id, session, ...(turn !== undefined && { turn }), reason: "the result was handed over" },
    ],
    notices: [],
    asked: [],
  };
}

// --- answers ---

export interface AnswerRead {
  ops: Op[];
  notices: Notice[];
}

/** Reads an answer of the client. It is ignored if its question is closed, by the turn's end or by a deadline. */
export function readAnswer(
  id: RequestId,
  answer: { result: unknown } | { error: { message: string } },
  state: AgentState,
  env: SideEnv,
): AnswerRead {
  const asked = state.questions.get(id);
  if (asked === undefined) return { ops: [], notices: [] };
  const notices = settled(asked, state);
  const { thread } = asked;
  const session = thread.handle;
  const op = env.stamp().id;
  if (asked.kind === "approval") {
    const given =
      "error" in answer ? { decision: "deny" as const, reason: answer.error.message } : decisionOf(answer.result, asked, thread);
    if (given === "cancel")
      return { ops: [{ type: "turn.interrupt", id: op, session, ...turnOf(thread), reason: "cancelled by the user" }], notices };
    return { ops: [{ type: "approval.answer", id: op, session, answers: [{ call: asked.call, ...given }] }], notices };
  }
  const read = "error" in answer ? { ok: false, data: { message: answer.error.message } } : answerOf(answer.result, asked);
  return { ops: [{ type: "host.answer", id: op, session, request: asked.request, ...read }], notices };
}

function turnOf({ lastTurn }: ClientThread): { turn?: string } {
  return lastTurn === undefined ? {} : { turn: lastTurn };
}

type Given = { decision: "allow"; grant: "call" | "prefix" } | { decision: "deny"; reason: string };

const DECLINED: Given = { decision: "deny", reason: "declined by the user" };
const ONCE: Given = { decision: "allow", grant: "call" };

/** The decision in an answer; an unknown one declines. */
function decisionOf(result: unknown, { form, key }: ClientQuestion & { kind: "approval" }, thread: ClientThread): Given | "cancel" {
  if (form === "elicitation") {
    if (!v.is(Elicited, result)) return DECLINED;
    if (result.action === "cancel") return "cancel";
    if (result.action === "accept" && isRecord(result["_meta"]) && result["_meta"]["persist"] !== undefined) thread.accepted.add(key);
    return result.action === "accept" ? ONCE : DECLINED;
  }
  if (!v.is(Decided, result)) return DECLINED;
  const { decision } = result;
  if (typeof decision !== "string") return "acceptWithExecpolicyAmendment" in decision ? { decision: "allow", grant: "prefix" } : DECLINED;
  if (decision === "cancel") return "cancel";
  if (decision === "acceptForSession") thread.accepted.add(key);
  return decision === "accept" || decision === "acceptForSession" ? ONCE : DECLINED;
}

function answerOf(result: unknown, asked: Exclude<ClientQuestion, { kind: "approval" }>): { ok: boolean; data: unknown } {
  switch (asked.kind) {
    case "elicitation":
      return { ok: isRecord(result), data: result };
    case "input": {
      if (!v.is(UserInputGiven, result)) return { ok: false, data: { message: "the client's answer has no answers" } };
      const given = asked.questions.map(({ options }, at) => pickedIn(result.answers[nameOf(at)]?.answers ?? [], options));
      return { ok: true, data: { answers: given } satisfies QuestionAnswers };
    }
    case "tool":
      if (!v.is(ToolAnswer, result)) return { ok: false, data: { message: "the client's answer has no contentItems" } };
      return { ok: result.success, data: result.contentItems.map(textOf).join("\n") };
    default:
      return asked satisfies never;
  }
}

function textOf({ type, text, imageUrl }: OutputItem): string {
  return text ?? (imageUrl == null ? `(${type})` : imageUrl);
}

/** Takes the answer to a question. The client knows itself when its tool is done. */
function settled(asked: ClientQuestion, state: AgentState): Notice[] {
  if (asked.kind !== "tool") return resolved(asked, state);
  state.questions.delete(asked.id);
  return [];
}

/** Closes a question and tells the client that its answer is no longer needed. */
function resolved(asked: ClientQuestion, state: AgentState): Notice[] {
  state.questions.delete(asked.id);
  const { thread, id: requestId } = asked;
  return [notice("serverRequest/resolved", { threadId: thread.threadId, requestId }), ...activity(thread, state)];
}

export function voided(thread: ClientThread, isMeant: (asked: ClientQuestion) => boolean, state: AgentState): Notice[] {
  return [...state.questions.values()]
    .filter((asked) => asked.thread === thread && isMeant(asked))
    .flatMap((asked) => resolved(asked, state));
}

export function handStep(told: Told, written: Out[]): Step<Op> {
  return { in: told.ops, out: [...written, ...told.asked] };
}
