/**
 * The control channel: questions that only the host can answer, each with an id. The agent keeps the deadline; our side tells the host when
 * it has passed.
 */
import type { Call, EventOf } from "../../../core/event.js";
import type { Answer, Op } from "../../../core/op.js";
import type { Out, SideEnv, Step } from "../../dialect.js";
import { echo } from "../../kit/issues.js";
import { isRecord, sameJson } from "../../../core/values/json-object.js";
import { confirmationOf, reasonOf } from "./displays.js";
import { line, type Said } from "./lines.js";
import type { AgentState, ClientSession, ControlQuestion } from "./state.js";
import type { ControlResponse } from "../wire/op-records.js";

/** The newest ids of settled questions; a late answer to one of them is no error. */
const REMEMBERED = 256;

/** The most errors of the control channel that wait for a line; the newest are kept. */
const TOLD = 64;

// --- asking ---

export function askApproval(state: AgentState, said: Said, call: Call, message: string | undefined): Out[] {
  const { name, args = {} } = call;
  return ask(state, said, "can_use_tool", call.id, {
    tool_call_id: call.id,
    tool: { name, arguments: args },
    metadata: { reason: reasonOf(call), ...(message !== undefined && { message }), confirmation: confirmationOf(call) },
  });
}

/** Asks a hook or an MCP server of the host. A host's tool needs no question: its call is on the wire, and a request answers it. */
export function askHost(state: AgentState, said: Said, { request, kind, call, data }: EventOf<"host.request">): Out[] {
  const asked = isRecord(data) ? data : {};
  if (kind === "mcp")
    return ask(state, said, "mcp_message", request, { payload: { server_name: asked["server"], message: asked["message"] } });
  if (kind !== "hook") return [];
  const { callback, input } = asked;
  const ofCall = call ?? (isRecord(input) && isRecord(input["call"]) ? input["call"]["id"] : undefined);
  const payload = { callback_id: callback, input, ...(typeof ofCall === "string" && { tool_call_id: ofCall }) };
  return ask(state, said, "hook_callback", request, { payload });
}

function ask(
  state: AgentState,
  { session, turn, promptId }: Said,
  subtype: ControlQuestion["subtype"],
  target: string,
  more: Record<string, unknown>,
): Out[] {
  // The host cannot answer any more: the agent uses its default at once.
  if (state.isDeaf) return [];
  const prompt_id = turn?.promptId ?? promptId;
  const fields = { session_id: session.id, ...(prompt_id !== undefined && { prompt_id }), ...more };
  return [put(state, { session, subtype, target, isRetried: false, fields })];
}

function put(state: AgentState, question: ControlQuestion): Out {
  const request_id = `req-${++state.controlCount}`;
  state.control.set(request_id, question);
  return line({ type: "control_request", request_id, subtype: question.subtype, ...question.fields });
}

// --- hearing ---

export function hearControl(response: ControlResponse, state: AgentState, env: SideEnv): Step<Op> {
  const { request_id } = response;
  const question = state.control.get(request_id);
  if (question === undefined) {
    if (!state.void.has(request_id))
      complain(state.active, echo(request_id), undefined, `No control request '${echo(request_id)}' waits for a response`);
    return { in: [], out: [] };
  }
  settle(state, request_id);
  const { subtype, error } = response.response;
  const failure = typeof error === "string" ? { message: error } : error;
  if (subtype === "error" && failure?.retryable === true && !question.isRetried)
    return { in: [], out: [put(state, { ...question, isRetried: true })] };
  if (subtype === "error") {
    const message = failure?.message ?? "The host gave no reason";
    complain(question.session, request_id, question.subtype, message);
    return { in: [answer(question, { ok: false, data: { message } }, env)], out: [] };
  }
  return { in: [answer(question, { ok: true, data: resultOf(response, question) }, env)], out: [] };
}

function resultOf({ response }: ControlResponse, { subtype }: ControlQuestion): unknown {
  if (subtype === "can_use_tool") return response.result ?? {};
  if (subtype === "hook_callback") return verdictOf(response.result ?? {});
  return response.result?.mcp_response ?? response.mcp_response ?? null;
}

/**
 * A hook may also answer in the form of an approval. A yes of that form allows nothing, but any other answer is a no here,
 * too.
 */
function verdictOf(result: NonNullable<ControlResponse["response"]["result"]>): unknown {
  const { behavior, message } = result;
  if (behavior == null || isYes(behavior)) return result;
  return { ...(message != null && { reason: message }), ...result, decision: "block" };
}

function answer({ session, subtype, target, fields }: ControlQuestion, { ok, data }: { ok: boolean; data: unknown }, env: SideEnv): Op {
  const head = { id: env.stamp().id, session: session.handle };
  if (subtype !== "can_use_tool") return { type: "host.answer", ...head, request: target, ok, data };
  return { type: "approval.answer", ...head, answers: [decision(target, ok, data, fields["tool"])] };
}

const YES = new Set(["approve", "approved", "allow", "allowed"]);

function isYes(behavior: string): boolean {
  return YES.has(behavior.toLowerCase());
}

/** An answer that is not a clear yes is a no. Arguments that come back unchanged are no change: their secrets were masked. */
function decision(call: string, ok: boolean, data: unknown, tool: unknown): Answer {
  const { behavior, message, updated_arguments, updatedInput } = isRecord(data) ? data : {};
  if (!ok || typeof behavior !== "string" || !isYes(behavior))
    return { call, decision: "deny", reason: typeof message === "string" ? message : "denied by the host" };
  const args = updated_arguments ?? updatedInput;
  const isChanged = isRecord(args) && !(isRecord(tool) && sameJson(args, tool["arguments"]));
  return { call, decision: "allow", grant: "call", ...(isChanged && { args }) };
}

// --- what needs no answer any more ---

/** The agent settled it itself: at the deadline, or as the host could not answer. `isVoid`: its call or request has ended. */
export function expire(state: AgentState, session: ClientSession, target: string, reason: string, isVoid: boolean): void {
  for (const [request_id, question] of state.control) {
    // Calls of two sessions may have the same name.
    if (question.target !== target || question.session !== session) continue;
    settle(state, request_id);
    if (isVoid) remember(state, request_id);
    else complain(question.session, request_id, question.subtype, reason);
  }
}

function settle(state: AgentState, request_id: string): void {
  state.control.delete(request_id);
}

function remember(state: AgentState, request_id: string): void {
  state.void.add(request_id);
  const [oldest] = state.void;
  if (state.void.size > REMEMBERED && oldest !== undefined) state.void.delete(oldest);
}

function complain(session: ClientSession | undefined, request_id: string, subtype: string | undefined, message: string): void {
  if (session === undefined) return;
  session.controlErrors.push({ request_id, ...(subtype !== undefined && { subtype }), message, retryable: false });
  if (session.controlErrors.length > TOLD) session.controlErrors.shift();
}
