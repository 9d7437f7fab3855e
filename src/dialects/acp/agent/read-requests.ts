/** Client → agent, read: requests and notifications become ops, or are answered here. */
import * as v from "valibot";
import type { SessionConfig } from "../../../core/config.js";
import { plainText } from "../../../core/content.js";
import type { Op, OpOf } from "../../../core/op.js";
import type { SideEnv, Step } from "../../dialect.js";
import { issuesOf } from "../../kit/issues.js";
import { NOTHING } from "../../kit/step.js";
import { blockProblem, partOf, type ContentBlock } from "../wire/content.js";
import { CancelRequestParams, clientRequests, type ClientMethod, type ClientParams } from "../wire/records.js";
import { CODES, failure, result, type RpcId } from "../wire/rpc.js";
import { serversOf, SessionParams, type NewSessionParams } from "../wire/sessions.js";
import { AUTH_METHODS, greeting } from "./greet.js";
import { choiceOf, patchOf } from "./options.js";
import { clientSession, forget, type AgentState, type ArchiveFilter, type ClientSession, type Pending } from "./state.js";

export function readRequest(id: RpcId, method: string, params: unknown, state: AgentState, env: SideEnv): Step<Op> {
  if (!isKnown(method)) return refused(id, CODES.methodNotFound, `Method not found: ${method}`);
  const read = READERS[method];
  const step = read(id, params, state, env);
  if (step !== undefined) return step;
  return refused(id, CODES.invalidParams, `Invalid params of ${method}: ${issuesOf(clientRequests[method], params)}`);
}

export function readNotification(method: string, params: unknown, state: AgentState, env: SideEnv): Step<Op> {
  if (method === "session/cancel" && v.is(SessionParams, params)) return cancel(state.named.get(params.sessionId), env);
  if (method === "$/cancel_request" && v.is(CancelRequestParams, params)) return cancelRequest(params.requestId, state, env);
  return { in: [], out: [{ log: `The client's ${method} means nothing here` }] };
}

function isKnown(method: string): method is ClientMethod {
  return Object.hasOwn(clientRequests, method);
}

type Read = (id: RpcId, params: unknown, state: AgentState, env: SideEnv) => Step<Op> | undefined;

function reader<M extends ClientMethod>(
  method: M,
  read: (id: RpcId, params: ClientParams<M>, state: AgentState, env: SideEnv) => Step<Op>,
): Read {
  const schema: v.GenericSchema<unknown, ClientParams<M>> = clientRequests[method];
  return (id, params, state, env) => {
    const parsed = v.safeParse(schema, params);
    return parsed.success ? read(id, parsed.output, state, env) : undefined;
  };
}

const READERS: Readonly<Record<ClientMethod, Read>> = {
  initialize: reader("initialize", (id, params, state) => {
    state.client = params.clientCapabilities ?? {};
    return answer(id, greeting(params));
  }),
  authenticate: reader("authenticate", (id, { methodId }, state) => {
    if (!AUTH_METHODS.some((method) => method.id === methodId))
      return refused(id, CODES.invalidParams, `There is no way to log in named '${methodId}'`);
    state.isLoggedOut = false;
    return answer(id, {});
  }),
  // The key stays where it is, in the environment: no session begins with it any more.
  logout: reader("logout", (id, _params, state) => {
    state.isLoggedOut = true;
    return answer(id, {});
  }),
  "session/new": reader("session/new", (id, params, state, env) => open(id, "session/new", { open: "new" }, params, state, env)),
  "session/load": reader("session/load", (id, params, state, env) =>
    open(id, "session/load", { open: "resume", sessionId: params.sessionId, after: { seq: -1 } }, params, state, env),
  ),
  "session/resume": reader("session/resume", (id, params, state, env) =>
    open(id, "session/resume", { open: "resume", sessionId: params.sessionId }, params, state, env),
  ),
  "session/fork": reader("session/fork", (id, params, state, env) =>
    open(id, "session/fork", { open: "resume", sessionId: params.sessionId, fork: true }, params, state, env),
  ),
  "session/list": reader("session/list", (rpc, { cwd, cursor, archived }, state, env) => {
    const shown = archived ?? "exclude";
    if (!isArchiveFilter(shown)) return refused(rpc, CODES.invalidParams, `archived is exclude, include or only, not '${shown}'`);
    if (cursor != null && !/^\d{1,9}$/.test(cursor)) return refused(rpc, CODES.invalidParams, `There is no cursor '${cursor}'`);
    return asked(
      { type: "session.list" },
      { for: "list", rpc, cwd: cwd ?? undefined, cursor: cursor ?? undefined, archived: shown },
      state,
      env,
    );
  }),
  "session/status": reader("session/status", (rpc, { sessionId }, state, env) => {
    if (state.named.get(sessionId)?.isReady === true) return answer(rpc, { status: "open" });
    return asked({ type: "session.list" }, { for: "status", rpc, sessionId }, state, env);
  }),
  "session/close": reader("session/close", (rpc, { sessionId }, state, env) =>
    inSession(rpc, sessionId, state, (session) =>
      asked({ type: "session.close", session: session.handle }, { for: "close", rpc, session }, state, env),
    ),
  ),
  "session/delete": reader("session/delete", (rpc, { sessionId }, state, env) => {
    const step = asked({ type: "session.delete", sessionId }, { for: "delete", rpc }, state, env);
    return { in: [...closing(state.named.get(sessionId), state, env), ...step.in], out: step.out };
  }),
  "session/set_title": reader("session/set_title", (rpc, params, state, env) => {
    const [sessionId, title] = [params.sessionId, params.title.trim()];
    if (title === "") return refused(rpc, CODES.invalidParams, "A title must not be empty");
    return asked({ type: "session.mark", sessionId, name: title }, { for: "title", rpc, title }, state, env);
  }),
  "session/archive": reader("session/archive", (rpc, { sessionId }, state, env) => {
    const step = asked({ type: "session.mark", sessionId, archived: true }, { for: "mark", rpc }, state, env);
    return { in: [...closing(state.named.get(sessionId), state, env), ...step.in], out: step.out };
  }),
  "session/unarchive": reader("session/unarchive", (rpc, { sessionId }, state, env) =>
    asked({ type: "session.mark", sessionId, archived: false }, { for: "mark", rpc }, state, env),
  ),
  "session/prompt": reader("session/prompt", (rpc, { sessionId, prompt }, state, env) =>
    inSession(rpc, sessionId, state, (session) => ask(rpc, prompt, session, env)),
  ),
  "session/set_mode": reader("session/set_mode", (rpc, { sessionId, modeId }, state, env) =>
    inSession(rpc, sessionId, state, (session) => configure(rpc, "mode", patchOf("mode", modeId), session, state, env)),
  ),
  "session/set_model": reader("session/set_model", (rpc, { sessionId, modelId }, state, env) =>
    inSession(rpc, sessionId, state, (session) => configure(rpc, "mode", patchOf("model", modelId), session, state, env)),
  ),
  "session/set_config_option": reader("session/set_config_option", (rpc, { sessionId, configId, value }, state, env) =>
    inSession(rpc, sessionId, state, (session) => configure(rpc, "option", choiceOf(session, configId, value), session, state, env)),
  ),
  "_session/steering": reader("_session/steering", (rpc, { sessionId, prompt }, state, env) =>
    inSession(rpc, sessionId, state, (session) => {
      // Without a running turn the client has to send the text as a prompt.
      if (session.prompts.length === 0) return answer(rpc, { outcome: "promptRequired", reason: "noRunningTurn" });
      return asked({ type: "turn.steer", session: session.handle, parts: prompt.map(partOf) }, { for: "steer", rpc }, state, env);
    }),
  ),
};

// --- sessions ---

function isArchiveFilter(text: string): text is ArchiveFilter {
  return text === "exclude" || text === "include" || text === "only";
}

/** Resuming a session that is live here closes it first: the client wants the stored session. */
function open(
  rpc: RpcId,
  method: string,
  how: Pick<OpOf<"session.open">, "open" | "sessionId" | "after" | "fork">,
  params: NewSessionParams,
  state: AgentState,
  env: SideEnv,
): Step<Op> {
  const problem = problemOf(params);
  if (problem !== undefined) return refused(rpc, CODES.invalidParams, problem);
  if (state.isLoggedOut) return refused(rpc, CODES.authRequired, "You have logged out; authenticate first");
  const handle = env.stamp().id;
  const live = how.open === "resume" && how.fork !== true ? state.named.get(how.sessionId ?? "") : undefined;
  const closed = closing(live, state, env);
  const session = clientSession(handle, how.fork === true ? handle : (how.sessionId ?? handle), configOf(params, state));
  state.sessions.set(handle, session);
  const op: OpOf<"session.open"> = { type: "session.open", id: env.stamp().id, session: handle, ...how, config: session.config };
  state.pending.set(op.id ?? "", { for: "open", rpc, method, op });
  return { in: [...closed, op], out: [] };
}

/** Closes a session that is open here; its name is free from now on. */
function closing(live: ClientSession | undefined, state: AgentState, env: SideEnv): Op[] {
  if (live === undefined) return [];
  state.named.delete(live.id);
  return [{ type: "session.close", id: env.stamp().id, session: live.handle }];
}

/** The client does files and commands itself where it offers to, so that reads see its unsaved buffers. */
function configOf({ cwd, mcpServers, additionalDirectories, ...params }: NewSessionParams, { client }: AgentState): SessionConfig {
  const workspace = {
    ...(client.fs?.readTextFile === true && { read: "host" as const }),
    ...(client.fs?.writeTextFile === true && { write: "host" as const }),
    ...(client.terminal === true && { exec: "host" as const }),
  };
  return {
    cwd,
    ...(additionalDirectories != null && additionalDirectories.length > 0 && { directories: additionalDirectories }),
    ...(mcpServers != null && mcpServers.length > 0 && { mcpServers: serversOf(mcpServers) }),
    ...systemOf(params),
    ...(Object.keys(workspace).length > 0 && { workspace }),
  };
}

function systemOf({ systemPrompt, _meta: meta }: Pick<NewSessionParams, "systemPrompt" | "_meta">): SessionConfig {
  const beside = meta?.systemPrompt;
  if (systemPrompt == null)
    return beside === undefined ? {} : typeof beside === "string" ? { system: beside } : { appendSystem: beside.append };
  const words = plainText(systemPrompt.content.map(partOf));
  return systemPrompt.mode === "override" ? { system: words } : { appendSystem: words };
}

function problemOf({ cwd, systemPrompt }: NewSessionParams): string | undefined {
  if (!/^(?:[/\\]|[A-Za-z]:[\\/])/.test(cwd)) return `cwd must be an absolute path, not '${cwd}'`;
  if (systemPrompt == null) return undefined;
  if (systemPrompt.mode !== "append" && systemPrompt.mode !== "override")
    return `systemPrompt.mode is append or override, not '${systemPrompt.mode}'`;
  const other = systemPrompt.content.find(({ type }) => type !== "text");
  return other === undefined ? undefined : `A system prompt is text; a block of type '${other.type}' cannot be one`;
}

function configure(
  rpc: RpcId,
  what: "mode" | "option",
  patch: SessionConfig | string,
  session: ClientSession,
  state: AgentState,
  env: SideEnv,
): Step<Op> {
  if (typeof patch === "string") return refused(rpc, CODES.invalidParams, patch);
  return asked({ type: "session.configure", session: session.handle, patch }, { for: what, rpc, session }, state, env);
}

// --- prompts ---

function ask(rpc: RpcId, prompt: readonly ContentBlock[], session: ClientSession, env: SideEnv): Step<Op> {
  const problem = promptProblem(prompt);
  if (problem !== undefined) return refused(rpc, CODES.invalidParams, problem);
  const { id } = env.stamp();
  const plain: OpOf<"turn.prompt"> = { type: "turn.prompt", id, session: session.handle, turn: id, parts: prompt.map(partOf) };
  const command = commandIn(plain, session);
  session.prompts.push({ rpc, op: id, turn: id, plain: command === undefined ? undefined : plain });
  return { in: [command === undefined ? plain : { ...plain, parts: plain.parts.slice(1), command }], out: [] };
}

function promptProblem(prompt: readonly ContentBlock[]): string | undefined {
  if (prompt.some(({ type }) => type === "audio")) return "Audio is not understood here";
  if (prompt.every((block) => block.type === "text" && block["text"] === "")) return "The prompt is empty";
  const problems = prompt.flatMap((block, at) => {
    const problem = blockProblem(block);
    return problem === undefined ? [] : [`prompt.${at}: ${problem}`];
  });
  return problems.length === 0 ? undefined : `Invalid params of session/prompt: ${problems.join("; ")}`;
}

/** Before the agent has listed its commands, any word behind a slash may be one. */
function commandIn({ parts: [first] }: OpOf<"turn.prompt">, { commands }: ClientSession): { name: string; args?: string } | undefined {
  if (first?.type !== "text") return undefined;
  const [, name, args] = /^\/([\w:.-]+)(?:\s+([^]*))?$/.exec(first.text.trimEnd()) ?? [];
  if (name === undefined || commands?.has(name) === false) return undefined;
  return { name, ...(args !== undefined && { args }) };
}

/** Interrupts each prompt of the session: the running turn and the queued ones. */
function cancel(session: ClientSession | undefined, env: SideEnv): Step<Op> {
  if (session === undefined) return NOTHING;
  return { in: session.prompts.map(({ turn }) => interrupt(session, turn, env)), out: [] };
}

function cancelRequest(id: RpcId, state: AgentState, env: SideEnv): Step<Op> {
  for (const session of state.sessions.values()) {
    const prompt = session.prompts.find(({ rpc }) => rpc === id);
    if (prompt !== undefined) return { in: [interrupt(session, prompt.turn, env)], out: [] };
    if (session.replay?.rpc === id) return cancelOpening(id, session, state, env);
  }
  const opening = [...state.pending].find(([, pending]) => pending.for === "open" && pending.rpc === id);
  const session = opening?.[1].for === "open" ? state.sessions.get(opening[1].op.session) : undefined;
  if (opening === undefined || session === undefined) return NOTHING;
  state.pending.delete(opening[0]);
  return cancelOpening(id, session, state, env);
}

/** The session is closed as soon as it is open; what the agent still tells of it is passed over. */
function cancelOpening(rpc: RpcId, session: ClientSession, state: AgentState, env: SideEnv): Step<Op> {
  forget(session, state);
  const close: Op = { type: "session.close", id: env.stamp().id, session: session.handle };
  return { in: [close], out: [failure(rpc, { code: CODES.cancelled, message: "The request was cancelled" })] };
}

export function interrupt({ handle }: ClientSession, turn: string | undefined, env: SideEnv): Op {
  return { type: "turn.interrupt", id: env.stamp().id, session: handle, ...(turn !== undefined && { turn }) };
}

// --- answers ---

function asked(op: Op, pending: Pending, state: AgentState, env: SideEnv): Step<Op> {
  const { id } = env.stamp();
  state.pending.set(id, pending);
  return { in: [{ ...op, id }], out: [] };
}

function inSession(rpc: RpcId, sessionId: string, state: AgentState, then: (session: ClientSession) => Step<Op>): Step<Op> {
  const session = state.named.get(sessionId);
  if (session?.isReady === true) return then(session);
  const isOpening = [...state.pending.values()].some((pending) => pending.for === "open" && pending.op.sessionId === sessionId);
  const message = isOpening
    ? `The session '${sessionId}' is being opened; wait for the answer to that`
    : `There is no session '${sessionId}' here; open it with session/new, session/load or session/resume`;
  return { in: [], out: [failure(rpc, { code: CODES.notFound, message, data: { sessionId } })] };
}

function answer(id: RpcId, value: unknown): Step<Op> {
  return { in: [], out: [result(id, value)] };
}

function refused(id: RpcId, code: number, message: string): Step<Op> {
  return { in: [], out: [failure(id, { code, message })] };
}
