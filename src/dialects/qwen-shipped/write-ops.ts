/** Host → agent, written: ops become user lines, control requests and control responses. */
import { plainText, type Part } from "../../core/content.js";
import type { Event, EventOf } from "../../core/event.js";
import type { Answer, Op, OpOf } from "../../core/op.js";
import type { Out, SideEnv, Step } from "../dialect.js";
import { isRecord } from "../../core/record.js";
import type { Asked, Change, HostState, Question, SentPrompt } from "./host-side-state.js";
import { uuidOf } from "./ids.js";
import { wireMode } from "./names.js";
import type { Given } from "./wire-parts.js";

export function writeOp(op: Op, state: HostState, env: SideEnv): Step<Event> {
  switch (op.type) {
    case "turn.prompt":
      return prompt(op, state, env);
    case "turn.interrupt":
      return interrupt(op, state, env);
    case "approval.answer":
      return answer(op, state);
    case "host.answer":
      return hostAnswer(op, state);
    case "session.configure":
      return configure(op, state, env);
    default:
      return { in: [], out: [] };
  }
}

// --- turns ---

/** An empty one would never be answered. */
function prompt(op: OpOf<"turn.prompt">, state: HostState, env: SideEnv): Step<Event> {
  const sent: SentPrompt = { turn: op.turn ?? env.stamp().id, op: op.id };
  if (op.continues === true)
    return { in: [], out: [request({ subtype: "continue_last_turn" }, { for: "continue", prompt: sent }, state, env)] };
  const content = contentOf(op);
  if (content.length === 0) return failed(op, "protocol", "Qwen Code takes no empty prompt");
  state.prompts.push(sent);
  const lost = [...(op.overrides === undefined ? [] : ["overrides"]), ...(op.calls === undefined ? [] : ["calls in the model's place"])];
  const said = lost.length === 0 ? [] : [warning(`Qwen Code cannot be told ${lost.join(", ")} with a prompt`, state)];
  const message = { role: "user", content };
  return { in: said, out: [{ rec: { type: "user", session_id: state.sessionId ?? "", message, parent_tool_use_id: null } }] };
}

/** Takes no room, and is no blank that an agent would cut off. */
const NO_COMMAND = "\u200b";

/** Words alone are a string. A text that begins as a command does would be read as one; what is meant as a command says so. */
function contentOf({ command, parts }: OpOf<"turn.prompt">): string | Given[] {
  if (command !== undefined) return `/${command.name}${command.args === undefined || command.args === "" ? "" : ` ${command.args}`}`;
  const blocks = parts.flatMap(writePart);
  if (blocks.some(({ type }) => type !== "text")) return blocks;
  const text = plainText(parts);
  return /^\s*\//.test(text) ? `${NO_COMMAND}${text}` : text;
}

function writePart(part: Part): Given[] {
  if (part.type === "image") return [{ type: "image", source: { type: "base64", media_type: part.mime, data: part.data } }];
  const text = part.type === "file" && part.text === undefined ? namedFile(part) : plainText([part]);
  return text === "" ? [] : [{ type: "text", text }];
}

/** The agent attaches what is mentioned. */
function namedFile({ path, uri }: { path?: string | undefined; uri?: string | undefined }): string {
  return path === undefined ? (uri ?? "") : `@${path.replaceAll(" ", "\\ ")}`;
}

/** The wire's word names no turn: it is said only when the turn meant is the one on the wire. */
function interrupt(op: OpOf<"turn.interrupt">, state: HostState, env: SideEnv): Step<Event> {
  const onWire = state.running?.told.address.turn ?? state.prompts[0]?.turn;
  if (onWire === undefined || (op.turn !== undefined && op.turn !== onWire)) return { in: [reply(op, "noop")], out: [] };
  return { in: [], out: [request({ subtype: "interrupt" }, { for: "interrupt", op: op.id }, state, env)] };
}

// --- answers ---

function answer(op: OpOf<"approval.answer">, state: HostState): Step<Event> {
  const steps = op.answers.map((given): Step<Event> | undefined => {
    const found = [...state.questions].find(([, question]) => question.kind === "approval" && question.call === given.call);
    if (found !== undefined) return decided(given, found[0], found[1], state);
    if (state.running?.told.byId(given.call)?.now !== "requested") return undefined;
    state.early.set(given.call, given);
    return { in: [], out: [] };
  });
  const heard = steps.filter((step) => step !== undefined);
  if (heard.length === 0) return { in: [reply(op, "noop")], out: [] };
  return { in: heard.flatMap((step) => step.in), out: heard.flatMap((step) => step.out) };
}

/** A call that was allowed begins now: the wire will not say so. Its arguments always go back with the permission. */
export function decided(given: Answer, request_id: string, question: Question, state: HostState): Step<Event> {
  state.questions.delete(request_id);
  const { running } = state;
  if (given.decision === "deny") {
    running?.denied.add(given.call);
    const message = given.reason ?? "Denied";
    return { in: [], out: [response(request_id, { behavior: "deny", message })] };
  }
  const call = running?.told.byId(given.call);
  const begun = call === undefined ? [] : (running?.told.begin(call.wireId, given.args) ?? []);
  const updatedInput = given.args ?? (question.kind === "approval" ? question.input : {});
  return { in: begun, out: [response(request_id, { behavior: "allow", updatedInput })] };
}

function hostAnswer(op: OpOf<"host.answer">, state: HostState): Step<Event> {
  const question = state.questions.get(op.request);
  if (question?.kind !== "mcp") return { in: [reply(op, "noop")], out: [] };
  state.questions.delete(op.request);
  const settled: Event = { type: "host.settled", session: state.session, request: op.request, ok: op.ok };
  if (!op.ok) return { in: [settled], out: [refused(op.request, failureOf(op.data))] };
  // A notification wants an answer, too.
  const mcp_response = isRecord(op.data) ? op.data : { jsonrpc: "2.0", result: {}, id: question.isNotification ? 0 : question.id };
  return { in: [settled], out: [response(op.request, { mcp_response })] };
}

function response(request_id: string, given: object): Out {
  return { rec: { type: "control_response", response: { subtype: "success", request_id, response: given } } };
}

export function refused(request_id: string, error: string): Out {
  return { rec: { type: "control_response", response: { subtype: "error", request_id, error } } };
}

function failureOf(data: unknown): string {
  if (typeof data === "string") return data;
  if (isRecord(data) && typeof data["message"] === "string") return data["message"];
  return "the host gave no reason";
}

// --- the session ---

function configure(op: OpOf<"session.configure">, state: HostState, env: SideEnv): Step<Event> {
  const { mode, model, effort } = op.patch;
  const requests = [
    ...(mode === undefined ? [] : [{ subtype: "set_permission_mode", mode: wireMode(mode) }]),
    ...(model === undefined ? [] : [{ subtype: "set_model", model }]),
    ...(effort === undefined ? [] : [{ subtype: "set_effort", effort }]),
  ];
  const change: Change = { op, left: requests.length, fault: undefined };
  if (requests.length === 0) return { in: [reply(op, "noop")], out: [] };
  return { in: [], out: requests.map((each) => request(each, { for: "change", change }, state, env)) };
}

// --- words of our own ---

export function request(fields: { subtype: string }, asked: Asked, state: HostState, env: SideEnv): Out {
  const request_id = uuidOf(env.stamp().id);
  state.asked.set(request_id, asked);
  return { rec: { type: "control_request", request_id, request: fields } };
}

export function failed(op: Op, code: string, message: string): Step<Event> {
  return { in: [{ ...reply(op, "error"), fault: { code, message, retryable: false } }], out: [] };
}

export function warning(text: string, { session }: HostState): Event {
  return { type: "notice", session, level: "warning", text, source: "qwen-shipped" };
}

function reply(op: Op, status: "ok" | "noop" | "error"): EventOf<"reply"> {
  const session = op.session === undefined ? {} : { session: op.session };
  return { type: "reply", to: op.type, status, ...session, ...(op.id !== undefined && { parent: op.id }) };
}
