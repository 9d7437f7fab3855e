/** Questions of the agent to its client: permissions, files, terminals, forms. Each question takes one answer; a later answer is ignored. */
import * as v from "valibot";
import type { Call, EventOf } from "../../../core/event.js";
import { isRecord } from "../../../core/values/json-object.js";
import type { Answer, Op } from "../../../core/op.js";
import type { Out, SideEnv, Step } from "../../dialect.js";
import { NOTHING } from "../../kit/step.js";
import { answersOf, formOf } from "../wire/forms.js";
import {
  CreateTerminalResult,
  ElicitationResult,
  ExitResult,
  PermissionResult,
  ReadFileResult,
  TerminalOutputResult,
} from "../wire/requests.js";
import { notification, request, type RpcError } from "../wire/rpc.js";
import { HostAsk } from "../wire/host-asks.js";
import { update } from "./lines.js";
import { interrupt } from "./read-requests.js";
import type { AgentState, ClientSession, Question } from "./state.js";
import { toolCall } from "./write-calls.js";

type HostRequest = EventOf<"host.request">;

// --- permissions ---

export function askPermission({ calls, turn, message }: EventOf<"approval.requested">, session: ClientSession, state: AgentState): Out[] {
  return calls.map((call) => {
    const id = ask({ for: "approval", session, turn, call: call.id }, state);
    const said = message === undefined || message === "" || call.title !== undefined ? {} : { title: message };
    const known = { ...session.calls.get(call.id)?.call, ...call };
    const asked = { ...toolCall(known, session), ...said, status: "pending" };
    return request(id, "session/request_permission", { sessionId: session.id, toolCall: asked, options: optionsOf(call) });
  });
}

/** The name of each "always" option says how far the permission reaches. */
function optionsOf({ name, covers }: Call): unknown[] {
  const prefix = covers && (covers.prefix ?? covers.domain ?? (covers.within === undefined ? covers.tool : `${name} in this workspace`));
  return [
    { optionId: "allow", name: "Allow", kind: "allow_once" },
    ...(prefix === undefined || prefix === name
      ? []
      : [{ optionId: "allow-prefix", name: `Always allow ${prefix}`, kind: "allow_always" }]),
    { optionId: "allow-tool", name: `Always allow ${name} in this session`, kind: "allow_always" },
    { optionId: "reject", name: "Reject", kind: "reject_once" },
  ];
}

const ANSWERS: Readonly<Record<string, Omit<Answer, "call">>> = {
  allow: { decision: "allow", grant: "call" },
  "allow-prefix": { decision: "allow", grant: "prefix" },
  "allow-tool": { decision: "allow", grant: "tool" },
  reject: { decision: "deny" },
};

function onPermission({ session, turn, call }: Question & { for: "approval" }, given: Given, env: SideEnv): Step<Op> {
  const answered = (answer: Omit<Answer, "call">): Op => ({
    type: "approval.answer",
    id: env.stamp().id,
    session: session.handle,
    answers: [{ call, ...answer }],
  });
  if ("error" in given) return told(answered({ decision: "deny", reason: `the client failed to ask: ${given.error.message}` }));
  if (!v.is(PermissionResult, given.result))
    return told(answered({ decision: "deny", reason: "the client's answer is no answer to a permission" }));
  const { outcome } = given.result;
  if (outcome.outcome === "cancelled") return told(interrupt(session, turn, env));
  const answer = ANSWERS[outcome.optionId];
  return told(answered(answer ?? { decision: "deny", reason: `the client chose '${outcome.optionId}', which was not offered` }));
}

// --- work that the client does itself ---

/** Refuses a request of a kind that the client does not offer to answer. */
export function askClient(event: HostRequest, session: ClientSession, state: AgentState, env: SideEnv): Step<Op> {
  const asked = questionOf(event, session, state);
  if (asked === undefined) return told(refusal(event, `this client does not answer ${event.kind} requests`, env));
  const id = ask({ for: "host", session, request: event.request, event }, state);
  return { in: [], out: [request(id, asked.method, { sessionId: session.id, ...asked.params })] };
}

function questionOf(
  { kind, data, call }: HostRequest,
  { config }: ClientSession,
  { client }: AgentState,
): { method: string; params: object } | undefined {
  if (kind === "question") {
    if (client.elicitation?.form == null) return undefined;
    const form = formOf(data);
    return form && { method: "elicitation/create", params: { mode: "form", ...(call !== undefined && { toolCallId: call }), ...form } };
  }
  if (!v.is(HostAsk, data)) return undefined;
  switch (data.do) {
    case "read":
      if (client.fs?.readTextFile !== true) return undefined;
      return { method: "fs/read_text_file", params: { path: data.path, line: data.line, limit: data.limit } };
    case "write":
      if (client.fs?.writeTextFile !== true) return undefined;
      return { method: "fs/write_text_file", params: { path: data.path, content: data.content } };
    case "create": {
      const { command, args, env = {}, cwd = config.cwd, outputByteLimit } = data;
      const pairs = Object.entries(env).map(([name, value]) => ({ name, value }));
      return client.terminal === true
        ? { method: "terminal/create", params: { command, args, env: pairs, cwd, outputByteLimit } }
        : undefined;
    }
    case "output":
    case "wait":
    case "kill":
    case "release":
      return client.terminal === true ? { method: TERMINAL[data.do], params: { terminalId: data.terminal } } : undefined;
    default:
      data satisfies never;
      return undefined;
  }
}

const TERMINAL = { output: "terminal/output", wait: "terminal/wait_for_exit", kill: "terminal/kill", release: "terminal/release" } as const;

function onHost({ session, event }: Question & { for: "host" }, given: Given, env: SideEnv): Step<Op> {
  if ("error" in given) return told(refusal(event, given.error.message, env));
  const data = answerOf(event, given.result);
  if (data === undefined) return told(refusal(event, "the client's answer is none to what it was asked", env));
  if ("declined" in data) return told(refusal(event, data.declined, env));
  const { request: name } = event;
  const answer: Op = { type: "host.answer", id: env.stamp().id, session: session.handle, request: name, ok: true, data: data.data };
  return { in: [answer], out: shown(event, data.data, session) };
}

function answerOf({ kind, data }: HostRequest, value: unknown): { data: unknown } | { declined: string } | undefined {
  if (kind === "question") {
    if (!v.is(ElicitationResult, value)) return undefined;
    return value.action === "accept"
      ? { data: { answers: answersOf(data, value.content ?? {}) } }
      : { declined: "the user did not answer" };
  }
  if (!v.is(HostAsk, data)) return undefined;
  switch (data.do) {
    case "read":
      return v.is(ReadFileResult, value) ? { data: { content: value.content } } : undefined;
    case "create":
      return v.is(CreateTerminalResult, value) ? { data: { terminal: value.terminalId } } : undefined;
    case "output":
      if (!v.is(TerminalOutputResult, value)) return undefined;
      return {
        data: {
          output: value.output,
          truncated: value.truncated === true,
          ...(value.exitStatus != null && { exit: exitOf(value.exitStatus) }),
        },
      };
    case "wait":
      return v.is(ExitResult, value) ? { data: { exit: exitOf(value) } } : undefined;
    case "write":
    case "kill":
    case "release":
      return { data: {} };
    default:
      data satisfies never;
      return { data: {} };
  }
}

function exitOf({ exitCode, signal }: v.InferOutput<typeof ExitResult>): { code: number | null; signal: string | null } {
  return { code: exitCode ?? null, signal: signal ?? null };
}

/** Shows the client's own terminal in the call that created it. */
function shown({ call, data }: HostRequest, answered: unknown, session: ClientSession): Out[] {
  if (call === undefined || !v.is(HostAsk, data) || data.do !== "create" || !isRecord(answered)) return [];
  const terminalId = String(answered["terminal"]);
  const open = session.calls.get(call);
  if (open !== undefined) open.terminal = terminalId;
  return [update(session, "tool_call_update", { toolCallId: call, content: [{ type: "terminal", terminalId }] })];
}

function refusal({ session, request: name }: HostRequest, message: string, env: SideEnv): Op {
  return {
    type: "host.answer",
    id: env.stamp().id,
    ...(session !== undefined && { session }),
    request: name,
    ok: false,
    data: { message },
  };
}

// --- answers ---

export type Given = { result: unknown } | { error: RpcError };

export function onAnswer(id: number, given: Given, state: AgentState, env: SideEnv): Step<Op> {
  const question = state.questions.get(id);
  state.questions.delete(id);
  if (question === undefined) return NOTHING;
  return question.for === "approval" ? onPermission(question, given, env) : onHost(question, given, env);
}

/** Drops open questions and tells the client that their answers are no longer needed. */
export function withdraw(state: AgentState, isMeant: (question: Question) => boolean): Out[] {
  const gone = [...state.questions].filter(([, question]) => isMeant(question));
  for (const [id] of gone) state.questions.delete(id);
  return gone.map(([requestId]) => notification("$/cancel_request", { requestId }));
}

function ask(question: Question, state: AgentState): number {
  const id = state.nextQuestion++;
  state.questions.set(id, question);
  return id;
}

function told(op: Op): Step<Op> {
  return { in: [op], out: [] };
}
