/** Server → host, read: questions of the agent, and the writing of the host's answers. Every question is answered. */
import * as v from "valibot";
import { plainText, type Part } from "../../../core/content.js";
import { Part as PartSchema } from "../../../core/content.js";
import type { Call, Event } from "../../../core/event.js";
import { isRecord, sameJson } from "../../../core/values/json-object.js";
import { canonicalTool, categoryOf } from "../../../core/names.js";
import type { OpOf } from "../../../core/op.js";
import { QuestionAnswers } from "../../../core/question.js";
import type { Out, Step } from "../../dialect.js";
import { echo, issuesOf } from "../../kit/issues.js";
import { wordsOf } from "../../kit/user-answers.js";
import { questions, type QuestionMethod, type QuestionOf } from "../wire/questions.js";
import type { RequestId } from "../wire/requests.js";
import { argsOf, plainCommand, toolName } from "./read-items.js";
import { placeOf, startTurn, type HostedThread, type HostState, type RunningTurn } from "./state.js";

export function readQuestion(id: RequestId, method: string, params: unknown, state: HostState): Step<Event> {
  if (!isQuestion(method)) return refused(id, `'${echo(method)}' is not supported by this client`);
  switch (method) {
    case "item/commandExecution/requestApproval":
      return checked(method, params, id, (asked) => onCommand(id, asked, state));
    case "item/fileChange/requestApproval":
      return checked(method, params, id, (asked) => onChange(id, asked, state));
    case "item/permissions/requestApproval":
      return checked(method, params, id, (asked) => onPermissions(id, asked, state));
    case "item/tool/call":
      return checked(method, params, id, (asked) => onTool(id, asked, state));
    case "item/tool/requestUserInput":
      return checked(method, params, id, (asked) => onUserInput(id, asked, state));
    case "mcpServer/elicitation/request":
      return checked(method, params, id, (asked) => onElicitation(id, asked, state));
    default:
      method satisfies never;
      return refused(id, "");
  }
}

function isQuestion(method: string): method is QuestionMethod {
  return Object.hasOwn(questions, method);
}

function checked<M extends QuestionMethod>(
  method: M,
  params: unknown,
  id: RequestId,
  read: (asked: QuestionOf<M>) => Step<Event>,
): Step<Event> {
  const schema: v.GenericSchema<unknown, QuestionOf<M>> = questions[method];
  const parsed = v.safeParse(schema, params);
  return parsed.success ? read(parsed.output) : refused(id, `Invalid ${method}: ${issuesOf(schema, params)}`);
}

function refused(id: RequestId, message: string): Step<Event> {
  return { in: [], out: [{ rec: { id, error: { code: -32_601, message } } }] };
}

export function answerOf(id: RequestId, result: unknown): Out {
  return { rec: { id, result } };
}

interface Place {
  thread: HostedThread;
  running: RunningTurn;
  under: string | undefined;
  begun: Event[];
}

/** The turn of a question; undefined outside a turn, as for a sub-agent that outlives the turn. */
function placed(threadId: string, turnId: string | null | undefined, state: HostState): Place | undefined {
  const place = placeOf(threadId, state);
  if (place === undefined) return undefined;
  const { thread, under } = place;
  const begun = under === undefined && turnId != null && thread.running === undefined ? startTurn(turnId, thread) : [];
  return thread.running === undefined ? undefined : { thread, running: thread.running, under, begun };
}

// --- approvals ---

type Reply = (allowed: boolean) => unknown;

const decision: Reply = (allowed) => ({ decision: allowed ? "accept" : "decline" });

function onCommand(id: RequestId, asked: QuestionOf<"item/commandExecution/requestApproval">, state: HostState): Step<Event> {
  const { threadId, turnId, itemId, command, cwd, reason } = asked;
  const place = placed(threadId, turnId, state);
  if (place === undefined) return { in: [], out: [answerOf(id, decision(false))] };
  const args = { ...(command != null && { command: plainCommand(command) }), ...(cwd != null && { cwd }) };
  const made: Call = { id: itemId, name: "Bash", category: "exec", args, ...(command != null && { title: plainCommand(command) }) };
  return approval(id, made, place, reason ?? undefined, decision, state);
}

function onChange(
  id: RequestId,
  { threadId, turnId, itemId, reason }: QuestionOf<"item/fileChange/requestApproval">,
  state: HostState,
): Step<Event> {
  const place = placed(threadId, turnId, state);
  if (place === undefined) return { in: [], out: [answerOf(id, decision(false))] };
  return approval(id, { id: itemId, name: "Edit", category: "edit", args: {} }, place, reason ?? undefined, decision, state);
}

/** A request for permissions beyond the sandbox. A yes grants exactly the requested permissions, for this turn. */
function onPermissions(id: RequestId, asked: QuestionOf<"item/permissions/requestApproval">, state: HostState): Step<Event> {
  const { threadId, turnId, itemId, permissions, reason } = asked;
  const granted = Object.fromEntries(Object.entries(permissions).filter(([, value]) => value !== null));
  const reply: Reply = (allowed) => ({ permissions: allowed ? granted : {}, scope: "turn" });
  const place = placed(threadId, turnId, state);
  if (place === undefined) return { in: [], out: [answerOf(id, reply(false))] };
  const call: Call = { id: itemId, name: "RequestPermissions", category: "exec", args: { permissions: granted } };
  return approval(id, call, place, reason ?? undefined, reply, state);
}

/** Asks the host. A running call may ask again for a part of its work: the part becomes a call of its own. */
function approval(id: RequestId, call: Call, place: Place, message: string | undefined, reply: Reply, state: HostState): Step<Event> {
  const { thread, running, under, begun } = place;
  const { told } = running;
  const open = told.callOf(call.id);
  const isPart = open !== undefined && open.now !== "requested";
  const wireId = isPart ? `${call.id}/${id}` : call.id;
  const asked = told.request({ ...call, id: wireId }, isPart ? open.id : under);
  const known = told.callOf(wireId);
  if (known === undefined) return { in: [...begun, ...asked], out: [answerOf(id, reply(false))] };
  state.questions.set(id, { kind: "approval", thread, call: known.id, reply });
  const question: Event = {
    type: "approval.requested",
    ...told.address,
    ...(known.under !== undefined && { under: known.under }),
    calls: [known.call],
    ...(message !== undefined && { message }),
  };
  return { in: [...begun, ...asked, question], out: [] };
}

// --- requests ---

function request(
  id: RequestId,
  place: Place,
  event: Pick<Event & { type: "host.request" }, "kind" | "call" | "data">,
  reply: (op: OpOf<"host.answer">) => unknown,
  state: HostState,
): Step<Event> {
  const { thread, running, begun } = place;
  const name = `${thread.handle}/${id}`;
  state.questions.set(id, { kind: "request", thread, request: name, reply });
  return { in: [...begun, { type: "host.request", ...running.told.address, request: name, ...event }], out: [] };
}

function onTool(id: RequestId, asked: QuestionOf<"item/tool/call">, state: HostState): Step<Event> {
  const { threadId, turnId, callId, namespace, tool } = asked;
  const reply = ({ ok, data }: OpOf<"host.answer">): unknown => ({ contentItems: contentOf(data), success: ok });
  const place = placed(threadId, turnId, state);
  if (place === undefined) return { in: [], out: [answerOf(id, { contentItems: [], success: false })] };
  const { told } = place.running;
  const name = toolName(namespace, tool);
  const args = argsOf(asked.arguments);
  const known = told.request({ id: callId, name: canonicalTool(name), category: categoryOf(canonicalTool(name)), args }, place.under);
  const begun = [...place.begun, ...known, ...told.begin(callId)];
  return request(id, { ...place, begun }, { kind: "tool", call: told.callOf(callId)?.id ?? callId, data: { name, args } }, reply, state);
}

/** The output of a host's tool: parts, a text, or any JSON. */
function contentOf(data: unknown): object[] {
  if (v.is(v.array(PartSchema), data)) return data.map(contentItem);
  const text =
    typeof data === "string"
      ? data
      : isRecord(data) && typeof data["message"] === "string"
        ? data["message"]
        : JSON.stringify(data ?? null);
  return [{ type: "inputText", text }];
}

function contentItem(part: Part): object {
  if (part.type === "image") return { type: "inputImage", imageUrl: `data:${part.mime};base64,${part.data}` };
  return { type: "inputText", text: plainText([part]) };
}

function onUserInput(id: RequestId, asked: QuestionOf<"item/tool/requestUserInput">, state: HostState): Step<Event> {
  const place = placed(asked.threadId, asked.turnId, state);
  if (place === undefined) return { in: [], out: [answerOf(id, { answers: {} })] };
  const questions = asked.questions.map(({ question, header, options }) => ({
    question,
    ...(header != null && { header }),
    options: (options ?? []).map(({ label, description }) => ({ label, ...(description != null && { description }) })),
  }));
  const reply = ({ ok, data }: OpOf<"host.answer">): unknown => {
    if (!ok || !v.is(QuestionAnswers, data)) return { answers: {} };
    return { answers: Object.fromEntries(asked.questions.map(({ id: name }, at) => [name, { answers: wordsOf(data.answers[at]) }])) };
  };
  return request(id, place, { kind: "question", data: { questions } }, reply, state);
}

/** A question of an MCP server, or Codex's approval of an MCP tool, which has the same form. */
function onElicitation(id: RequestId, asked: QuestionOf<"mcpServer/elicitation/request">, state: HostState): Step<Event> {
  const decline = { action: "decline", content: null, _meta: null };
  const place = placed(asked.threadId, asked.turnId, state);
  if (place === undefined) return { in: [], out: [answerOf(id, decline)] };
  const { _meta: about } = asked;
  if (about?.codex_approval_kind != null) {
    const args = argsOf(about.tool_params);
    const call = place.running.told.calls.find(
      (each) => each.now === "requested" && each.call.category === "mcp" && sameJson(each.call.args ?? {}, args),
    );
    const made: Call = {
      id: call?.wireId ?? `elicitation-${id}`,
      name: canonicalTool(`mcp__${asked.serverName}__tool`),
      category: "mcp",
      args,
    };
    const reply: Reply = (allowed) => (allowed ? { action: "accept", content: {}, _meta: null } : decline);
    return approval(id, made, place, asked.message, reply, state);
  }
  const { serverName: server, message, requestedSchema, url } = asked;
  const params = { message, ...(requestedSchema !== undefined && { requestedSchema }), ...(url != null && { url }) };
  const reply = ({ ok, data }: OpOf<"host.answer">): unknown => {
    const result = isRecord(data) && isRecord(data["result"]) ? data["result"] : data;
    if (!ok || !isRecord(result)) return { ...decline, action: "cancel" };
    const action = result["action"];
    return { action: action === "accept" || action === "decline" ? action : "cancel", content: result["content"] ?? null, _meta: null };
  };
  return request(
    id,
    place,
    { kind: "mcp", data: { server, message: { jsonrpc: "2.0", id, method: "elicitation/create", params } } },
    reply,
    state,
  );
}
