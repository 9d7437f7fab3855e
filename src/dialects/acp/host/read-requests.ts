/** Agent → client, read: requests of the agent. Each request is answered once. */
import * as v from "valibot";
import type { Event } from "../../../core/event.js";
import { sameJson } from "../../../core/values/json-object.js";
import { runsUnasked } from "../../../core/modes.js";
import type { SideEnv, Step } from "../../dialect.js";
import { issuesOf } from "../../kit/issues.js";
import { NOTHING } from "../../kit/step.js";
import { callOf } from "../wire/calls.js";
import { contentOf, questionsOf } from "../wire/forms.js";
import type { HostAsk } from "../wire/host-asks.js";
import { agentRequests, type AgentMethod, type AgentParams } from "../wire/records.js";
import type { PermissionOption } from "../wire/requests.js";
import { CODES, failure, result, type RpcId } from "../wire/rpc.js";
import { know } from "./read-calls.js";
import type { WireCall } from "../wire/updates.js";
import { permissionKey, type ClientTask, type DrivenSession, type HostState, type RunningTurn } from "./state.js";

export function readRequest(rpc: RpcId, method: string, params: unknown, state: HostState, env: SideEnv): Step<Event> {
  if (!isKnown(method)) return refused(rpc, CODES.methodNotFound, `Method not found: ${method}`);
  const schema = agentRequests[method];
  if (!v.is(schema, params)) return refused(rpc, CODES.invalidParams, `Invalid params of ${method}: ${issuesOf(schema, params)}`);
  const session = state.named.get(params.sessionId ?? "");
  if (session?.isReady !== true) return unaddressed(rpc, method, params.sessionId ?? "");
  if (method === "session/request_permission") {
    const asked = agentRequests["session/request_permission"];
    return v.is(asked, params) ? permission(rpc, params, session, state) : NOTHING;
  }
  return task({ rpc, session, method, params }, state, env);
}

function isKnown(method: string): method is AgentMethod {
  return Object.hasOwn(agentRequests, method);
}

/** Answers a request of an unknown session. */
function unaddressed(rpc: RpcId, method: AgentMethod, sessionId: string): Step<Event> {
  if (method === "session/request_permission") return { in: [], out: [cancelled(rpc)] };
  if (method === "elicitation/create") return { in: [], out: [result(rpc, { action: "cancel" })] };
  return refused(rpc, CODES.notFound, `There is no session '${sessionId}' here`);
}

function refused(rpc: RpcId, code: number, message: string): Step<Event> {
  return { in: [], out: [failure(rpc, { code, message })] };
}

// --- permissions ---

export function cancelled(rpc: RpcId): ReturnType<typeof result> {
  return result(rpc, { outcome: { outcome: "cancelled" } });
}

export function selected(rpc: RpcId, option: PermissionOption): ReturnType<typeof result> {
  return result(rpc, { outcome: { outcome: "selected", optionId: option.optionId } });
}

/** Allows a call that the mode kept on our side lets run. Outside a turn, and after an interrupt, the request is cancelled. */
function permission(
  rpc: RpcId,
  { toolCall, options }: AgentParams<"session/request_permission">,
  session: DrivenSession,
  state: HostState,
): Step<Event> {
  const { turn } = session;
  if (turn === undefined || turn.isInterrupted || state.permissions.size >= MOST_TASKS) return { in: [], out: [cancelled(rpc)] };
  const { reader } = turn;
  const toolCallId = meantCall(toolCall, turn);
  const told = know({ ...toolCall, toolCallId }, turn);
  turn.starting.delete(toolCallId);
  const call = callOf(told.wire);
  const waiting = reader.openCalls(call.id).find(({ now }) => now === "requested");
  // A question about a call that has started already is about another call with the same id.
  const requested = waiting === undefined ? reader.requestAnother(call) : [];
  const known = waiting ?? reader.openCalls(call.id).find(({ now }) => now === "requested");
  if (known === undefined) return { in: requested, out: [cancelled(rpc)] };
  const once = options.find(({ kind }) => kind === "allow_once");
  if (once !== undefined && runsUnasked(session.answeredMode, known.call.category))
    return { in: [...requested, ...reader.beginCall(known)], out: [selected(rpc, once)] };
  turn.waiting.add(known.id);
  state.permissions.set(permissionKey(session, known.id), { rpc, session, call: known.id, options });
  // The permission request may be the only record with a preview.
  const shown = {
    ...call,
    ...known.call,
    ...(call.preview !== undefined && { preview: call.preview }),
    args: { ...call.args, ...known.call.args },
  };
  return { in: [...requested, ...reader.closeBlock(), { type: "approval.requested", ...reader.address, calls: [shown] }], out: [] };
}

/** Some agents give the permission request an id of its own: it is then about the open, unasked call with the same arguments. */
function meantCall({ toolCallId, kind, rawInput }: WireCall, { calls, reader, waiting }: RunningTurn): string {
  if (calls.has(toolCallId) || rawInput === undefined) return toolCallId;
  const isOpen = (id: string): boolean => {
    const known = reader.callOf(id);
    return known === undefined || (known.now === "requested" && !waiting.has(known.id));
  };
  const same = [...calls.values()].find(
    ({ wire }) => isOpen(wire.toolCallId) && (kind ?? wire.kind) === wire.kind && sameJson(wire.rawInput, rawInput),
  );
  return same?.wire.toolCallId ?? toolCallId;
}

// --- files, terminals, forms ---

/** The largest number of requests of the agent that wait for the host. */
const MOST_TASKS = 256;

function task(asked: ClientTask, state: HostState, env: SideEnv): Step<Event> {
  const { rpc, session, method, params } = asked;
  if (state.tasks.size >= MOST_TASKS)
    return refused(rpc, CODES.internal, `${MOST_TASKS} requests wait for the client already; try again later`);
  const question = questionOf(method, params, state);
  if (question === undefined) {
    if (method === "elicitation/create") return { in: [], out: [result(rpc, { action: "cancel" })] };
    return refused(rpc, CODES.methodNotFound, `This client does not answer ${method}`);
  }
  const { id } = env.stamp();
  state.tasks.set(id, asked);
  const { reader } = session.turn ?? {};
  const call = question.call === undefined ? undefined : reader?.callOf(question.call);
  return {
    in: [
      {
        type: "host.request",
        ...(reader?.address ?? { session: session.handle }),
        request: id,
        kind: question.kind,
        ...(call !== undefined && { call: call.id }),
        data: question.data,
      },
    ],
    out: [],
  };
}

interface Question {
  kind: "fs" | "terminal" | "question";
  data: unknown;
  call?: string | undefined;
}

function questionOf(method: AgentMethod, params: unknown, { offers }: HostState): Question | undefined {
  const is = <M extends AgentMethod>(name: M, given: unknown): given is AgentParams<M> =>
    method === name && v.is(agentRequests[name], given);
  const fs = (data: HostAsk): Question => ({ kind: "fs", data });
  const terminal = (data: HostAsk): Question | undefined => (offers.exec === "host" ? { kind: "terminal", data } : undefined);
  if (is("elicitation/create", params)) {
    if (params.mode !== "form") return undefined;
    return { kind: "question", data: questionsOf(params), call: params.toolCallId ?? undefined };
  }
  if (is("fs/read_text_file", params)) {
    const { path, line, limit } = params;
    if (offers.read !== "host") return undefined;
    return fs({ do: "read", path, ...(line != null && { line }), ...(limit != null && { limit }) });
  }
  if (is("fs/write_text_file", params))
    return offers.write === "host" ? fs({ do: "write", path: params.path, content: params.content }) : undefined;
  if (is("terminal/create", params)) {
    const { command, args, env, cwd, outputByteLimit } = params;
    return terminal({
      do: "create",
      command,
      ...(args != null && { args }),
      ...(env != null && { env: Object.fromEntries(env.map(({ name, value }) => [name, value])) }),
      ...(cwd != null && { cwd }),
      ...(outputByteLimit != null && { outputByteLimit }),
    });
  }
  if (is("terminal/output", params)) return terminal({ do: "output", terminal: params.terminalId });
  if (is("terminal/wait_for_exit", params)) return terminal({ do: "wait", terminal: params.terminalId });
  if (is("terminal/kill", params)) return terminal({ do: "kill", terminal: params.terminalId });
  if (is("terminal/release", params)) return terminal({ do: "release", terminal: params.terminalId });
  return undefined;
}

const Exit = v.looseObject({ code: v.nullish(v.number()), signal: v.nullish(v.string()) });
const Data = v.looseObject({
  content: v.optional(v.string()),
  terminal: v.optional(v.string()),
  output: v.optional(v.string()),
  truncated: v.optional(v.boolean()),
  exit: v.optional(Exit),
  message: v.optional(v.string()),
});

/** Answers the open requests of a session that the host closed. */
export function refuseTasks(session: DrivenSession, { tasks }: HostState): ReturnType<typeof result>[] {
  const open = [...tasks].filter(([, one]) => one.session === session);
  for (const [name] of open) tasks.delete(name);
  return open.map(([, one]) => answerTask(one, false, { message: "The session was closed" }));
}

/** Settles a request that the agent cancelled. */
export function withdrawn(rpc: RpcId, { tasks, permissions }: HostState): Event[] {
  for (const [key, permission] of permissions) if (permission.rpc === rpc) permissions.delete(key);
  const [name, one] = [...tasks].find(([, task]) => task.rpc === rpc) ?? [];
  if (name === undefined || one === undefined) return [];
  tasks.delete(name);
  return [{ type: "host.settled", session: one.session.handle, request: name, ok: false, reason: "the agent gave up asking" }];
}

/** Writes the host's answer as the result of the agent's method. */
export function answerTask({ rpc, method, params }: ClientTask, ok: boolean, data: unknown): ReturnType<typeof result> {
  const said = v.is(Data, data) ? data : {};
  if (method === "elicitation/create") {
    const content = ok && v.is(agentRequests[method], params) ? contentOf(params, data) : undefined;
    return result(rpc, content === undefined ? { action: ok ? "cancel" : "decline" } : { action: "accept", content });
  }
  if (!ok) return failure(rpc, { code: CODES.internal, message: said.message ?? "The client could not do that" });
  const exit = said.exit && { exitCode: said.exit.code ?? null, signal: said.exit.signal ?? null };
  switch (method) {
    case "fs/read_text_file":
      return result(rpc, { content: said.content ?? "" });
    case "terminal/create":
      return result(rpc, { terminalId: said.terminal ?? "" });
    case "terminal/output":
      return result(rpc, {
        output: said.output ?? "",
        truncated: said.truncated ?? false,
        ...(exit !== undefined && { exitStatus: exit }),
      });
    case "terminal/wait_for_exit":
      return result(rpc, exit ?? { exitCode: null, signal: null });
    case "session/request_permission":
    case "fs/write_text_file":
    case "terminal/kill":
    case "terminal/release":
      return result(rpc, {});
    default:
      method satisfies never;
      return result(rpc, {});
  }
}
