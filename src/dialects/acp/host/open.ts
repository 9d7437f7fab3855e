/** `initialize` and the opening of a session: mode, model and levels are set before the session is announced as ready. */
import type { SessionConfig } from "../../../core/config.js";
import type { Fault } from "../../../core/errors.js";
import type { Event } from "../../../core/event.js";
import type { OpOf } from "../../../core/op.js";
import { VERSION as PACKAGE } from "../../../core/version.js";
import type { Out, SideEnv, Step } from "../../dialect.js";
import { openingGap } from "../../kit/covers.js";
import { refusal, warning } from "../../kit/reply.js";
import { NOTHING, together } from "../../kit/step.js";
import { OPENING } from "../coverage.js";
import { PROTOCOL } from "../wire/records.js";
import { CODES, faultOf, type RpcError } from "../wire/rpc.js";
import { wireServer, type AgentCapabilities, type AuthMethod, type InitializeResult, type SessionResult } from "../wire/sessions.js";
import { capabilitiesOf, chooseMode, chooseOption, chosen, configNow, knowModels, knowOptions, type Choosing } from "./options.js";
import { newReplay } from "./replay.js";
import { ask } from "./requests.js";
import { agentName, drivenSession, forget, type Asked, type DrivenSession, type HostState } from "./state.js";

type Open = OpOf<"session.open">;

// --- the greeting ---

export function openOp(op: Open, state: HostState, env: SideEnv): Step<Event> {
  if (state.greeting === "done") return openSession(op, state, env);
  state.waiting.push(op);
  if (state.greeting === "asked") return NOTHING;
  state.greeting = "asked";
  state.offers = op.config?.workspace ?? {};
  const { read, write, exec } = state.offers;
  const clientCapabilities = {
    fs: { readTextFile: read === "host", writeTextFile: write === "host" },
    terminal: exec === "host",
    session: { notices: {}, compaction: {}, configOptions: { boolean: {} } },
    elicitation: { form: {} },
    _meta: { terminal_output: true },
  };
  const clientInfo = { name: "parley", title: "Parley", version: PACKAGE };
  return told([ask("initialize", { protocolVersion: PROTOCOL, clientCapabilities, clientInfo }, { for: "initialize" }, state)]);
}

/** Reads the answer to `initialize`; returns the reason if the agent cannot be driven. */
export function onGreeting(agent: InitializeResult, state: HostState): Fault | undefined {
  state.agent = agent;
  if (agent.protocolVersion !== PROTOCOL) {
    const message = `${agentName(state)} speaks version ${agent.protocolVersion} of ACP, and version ${PROTOCOL} is spoken here`;
    return { code: "version", message, retryable: false };
  }
  state.greeting = "done";
  return undefined;
}

export function openWaiting(state: HostState, env: SideEnv): Step<Event> {
  return state.waiting
    .splice(0)
    .map((op) => openSession(op, state, env))
    .reduce(together<Event>, NOTHING);
}

// --- opening ---

function openSession(op: Open, state: HostState, env: SideEnv): Step<Event> {
  const { config = {} } = op;
  const { sessionCapabilities: can } = state.agent?.agentCapabilities ?? {};
  const problem = unopenable(op, state);
  if (problem !== undefined) return refusedOpen(op, { code: "unsupported", message: problem, retryable: false });
  const isSaid = (key: string): boolean =>
    !((key === "system" && can?.systemPrompt?.mode?.override == null) || (key === "appendSystem" && can?.systemPrompt == null));
  const unoffered = Object.entries(config.workspace ?? {}).some(([what, where]) => where === "host" && offerOf(state, what) !== "host");
  const beyond = (config.directories ?? []).length > 0 && can?.additionalDirectories == null;
  const restrictions = [
    ...(unoffered ? ["a workspace of the host, which its first session did not have"] : []),
    ...(beyond ? ["directories"] : []),
  ];
  const gap = openingGap(agentName(state), config, { only: OPENING.filter(isSaid) }, restrictions);
  if (gap.refusal !== undefined) return refusedOpen(op, { code: "unsupported", message: gap.refusal, retryable: false });
  const session = drivenSession(op);
  if (gap.warning !== undefined) session.lost.push(gap.warning);
  state.sessions.set(op.session, session);
  if (session.id !== undefined) state.named.set(session.id, session);
  return told([openRequest(session, state, env, false)]);
}

function offerOf({ offers }: HostState, what: string): unknown {
  return Object.entries(offers).find(([name]) => name === what)?.[1];
}

function unopenable({ open, fork, session, sessionId }: Open, state: HostState): string | undefined {
  const { loadSession, sessionCapabilities: can } = state.agent?.agentCapabilities ?? {};
  const name = agentName(state);
  if (open === "attach") return `${name} has no running sessions to attach to`;
  if (open === "new") return undefined;
  if (sessionId === "latest") return `${name} has no word for the session last used; ask for it by its name`;
  const isOpen = fork !== true && state.named.has(sessionId ?? session);
  if (isOpen) return `The session '${sessionId ?? session}' is open already`;
  if (fork === true) return can?.fork == null ? `${name} cannot go on with a copy of a session` : undefined;
  return can?.resume == null && loadSession !== true ? `${name} cannot resume sessions` : undefined;
}

function openRequest(session: DrivenSession, state: HostState, env: SideEnv, isRetry: boolean): Out {
  const { open, config } = session;
  const { loadSession, sessionCapabilities: can } = state.agent?.agentCapabilities ?? {};
  const words = {
    cwd: config.cwd ?? env.cwd?.() ?? "/",
    mcpServers: serversFor(session, state),
    ...(config.directories !== undefined && config.directories.length > 0 && { additionalDirectories: config.directories }),
    ...systemPromptOf(config, can),
  };
  session.config = { ...config, cwd: words.cwd };
  const asked: Asked = { for: "open", session, isRetry };
  if (open.open === "new") return ask("session/new", words, asked, state);
  const old = { sessionId: open.sessionId ?? open.session, ...words };
  if (open.fork === true) return ask("session/fork", old, asked, state);
  // An agent that can only load a session replays its past, which is dropped if the host did not ask for it.
  const loads = (open.after !== undefined && loadSession === true) || can?.resume == null;
  if (loads) session.replay = newReplay(session.handle, open.after !== undefined, env);
  return ask(loads ? "session/load" : "session/resume", old, asked, state);
}

function serversFor(session: DrivenSession, state: HostState): unknown[] {
  const { http, sse } = state.agent?.agentCapabilities?.mcpCapabilities ?? {};
  return Object.entries(session.config.mcpServers ?? {}).flatMap(([name, server]) => {
    const wire = wireServer(name, server);
    const isKnown = wire !== undefined && (!("type" in wire) || (wire.type === "sse" ? sse === true : http === true));
    if (isKnown) return [wire];
    session.lost.push(`${agentName(state)} cannot be told of the MCP server '${name}'`);
    return [];
  });
}

function systemPromptOf({ system, appendSystem }: SessionConfig, can: AgentCapabilities["sessionCapabilities"]): object {
  const prompt = (mode: string, text: string): object => ({ systemPrompt: { mode, content: [{ type: "text", text }] } });
  if (system !== undefined && can?.systemPrompt?.mode?.override != null)
    return prompt("override", appendSystem === undefined ? system : `${system}\n\n${appendSystem}`);
  return appendSystem !== undefined && can?.systemPrompt != null ? prompt("append", appendSystem) : {};
}

// --- choices before the session is ready ---

export function onOpened(session: DrivenSession, result: SessionResult, state: HostState): Step<Event> {
  if (result.sessionId != null) session.id = result.sessionId;
  session.id ??= session.handle;
  state.named.set(session.id, session);
  knowOptions(session, result);
  knowModels(session, result);
  const mode = chooseMode(session, session.open.config?.mode);
  if ("refusal" in mode)
    return refusedSession(session, { code: "unsupported", message: `${agentName(state)} ${mode.refusal}`, retryable: false }, state);
  session.answeredMode = mode.answered;
  if (mode.warning !== undefined) session.lost.push(`${agentName(state)} ${mode.warning}`);
  const wantedMode = session.open.config?.mode;
  const isVital = wantedMode === "plan" || wantedMode === "default";
  const out = mode.choose.map((choice) => setUp(choice, "the mode", isVital, session, state));
  const { model, thinking, effort } = session.open.config ?? {};
  const wishes = [
    ["model", model],
    ["thinking", thinking],
    ["effort", effort],
  ] as const;
  for (const [key, wanted] of wishes) {
    if (wanted === undefined || configNow({ ...session, config: {} })[key] === wanted) continue;
    const choice = chooseOption(session, key, wanted);
    if (typeof choice === "string") session.lost.push(`${agentName(state)} ${choice}`);
    else out.push(setUp(choice, key, false, session, state));
  }
  if (session.name !== undefined && state.agent?.agentCapabilities?.sessionCapabilities?.title != null) {
    const params = { sessionId: session.id, title: session.name };
    out.push(setUp({ method: "session/set_title", params }, "the name", false, session, state));
  }
  if (session.setup === 0 && session.replay !== undefined && tellsPastLate(state)) out.push(...fence(session, state));
  return session.setup === 0 ? together(told(out), becomeReady(session, state)) : told(out);
}

/** Gemini CLI answers `session/load` while it still tells the past: the answer to one more request comes behind all of it. */
function tellsPastLate({ agent }: HostState): boolean {
  return agent?.agentInfo?.name === "gemini-cli";
}

function fence(session: DrivenSession, state: HostState): Out[] {
  const { id: sessionId, modes } = session;
  if (modes === undefined) return [];
  const choice = { method: "session/set_mode", params: { sessionId, modeId: modes.currentModeId } };
  return [setUp(choice, "its own mode again", false, session, state)];
}

function setUp(choice: Choosing, what: string, isVital: boolean, session: DrivenSession, state: HostState): Out {
  session.setup++;
  return ask(choice.method, choice.params, { for: "setup", session, choice, what, isVital }, state);
}

/** Refuses the session if the agent rejects a restricting mode; another rejected choice becomes a warning. */
export function onSetUp(asked: Asked & { for: "setup" }, error: RpcError | undefined, state: HostState): Step<Event> {
  const { session, what, isVital } = asked;
  session.setup--;
  if (error === undefined) chosen(session, asked.choice);
  if (error !== undefined) {
    const message = `${agentName(state)} did not take ${what}: ${faultOf(error).message}`;
    if (isVital) return refusedSession(session, { code: "unsupported", message, retryable: false }, state);
    session.lost.push(message);
  }
  return session.setup === 0 && state.sessions.get(session.handle) === session ? becomeReady(session, state) : NOTHING;
}

/** Emits, in order: `session.ready`, the replayed past, warnings about lost settings, and events held until now. */
function becomeReady(session: DrivenSession, state: HostState): Step<Event> {
  session.isReady = true;
  const { handle, open, name } = session;
  const past = session.replay?.end() ?? [];
  const isTold = open.after !== undefined;
  session.replay = undefined;
  session.config = configNow(session);
  const version = state.agent?.agentInfo?.version;
  const ready: Event = {
    type: "session.ready",
    session: handle,
    ...(open.id !== undefined && { parent: open.id }),
    ...(session.id !== undefined && { sessionId: session.id }),
    ...(name !== undefined && { name }),
    config: session.config,
    capabilities: capabilitiesOf(session, state),
    ...(version !== undefined && { version }),
    ...(isTold && { replay: past.length }),
  };
  const lost = session.lost.splice(0).map((text) => warning(text, handle, "acp"));
  return { in: [ready, ...(isTold ? past : []), ...lost, ...session.early.splice(0)], out: [] };
}

// --- refusals ---

/** If the agent demands a login, tries once the method that needs no user: a key in the agent's environment. */
export function onRefusedOpen(asked: Asked & { for: "open" }, error: RpcError, state: HostState): Step<Event> {
  const { session, isRetry } = asked;
  const methods = state.agent?.authMethods ?? [];
  const silent = methods.find(isSilent);
  if (error.code === CODES.authRequired && !isRetry && silent !== undefined) {
    forget(session, state);
    return told([ask("authenticate", { methodId: silent.id }, { for: "authenticate", open: session.open }, state)]);
  }
  const fault = faultOf(error);
  const known = methods.map(({ name, description }) => (description == null ? name : `${name} (${description})`));
  const remedy = error.code === CODES.authRequired && known.length > 0 ? `; it offers these ways to log in: ${known.join(", ")}` : "";
  const isLogin = error.code === CODES.authRequired;
  return refusedSession(
    session,
    { ...fault, message: `${fault.message}${remedy}`, ...(isLogin && { code: "config", param: "apiKey" }) },
    state,
  );
}

function isSilent({ type, _meta }: AuthMethod): boolean {
  return type === "env_var" || (_meta != null && "api-key" in _meta);
}

export function onAuthenticated(
  { open }: Asked & { for: "authenticate" },
  error: RpcError | undefined,
  state: HostState,
  env: SideEnv,
): Step<Event> {
  if (error !== undefined) return refusedOpen(open, { ...faultOf(error), code: "config", param: "apiKey" });
  const session = drivenSession(open);
  state.sessions.set(open.session, session);
  if (session.id !== undefined) state.named.set(session.id, session);
  return told([openRequest(session, state, env, true)]);
}

/** Refuses the opening, and closes the new session at the agent if it was created already. */
export function refusedSession(session: DrivenSession, fault: Fault, state: HostState): Step<Event> {
  const held = session.held.splice(0);
  forget(session, state);
  const answers = held.map((op) => refusal(op, fault));
  const closes =
    session.id !== undefined && session.open.open === "new" && state.agent?.agentCapabilities?.sessionCapabilities?.close != null;
  const out = closes ? [ask("session/close", { sessionId: session.id }, { for: "close", session }, state)] : [];
  return together({ in: [refusal(session.open, fault), ...answers], out }, NOTHING);
}

function refusedOpen(op: Open, fault: Fault): Step<Event> {
  return { in: [refusal(op, fault)], out: [] };
}

function told(out: Out[]): Step<Event> {
  return { in: [], out };
}
