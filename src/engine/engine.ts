/** The engine as an Agent: it routes ops to sessions and puts their events, stamped, into one bounded queue. */
import type { Agent } from "../core/agent.js";
import { SessionConfig, type McpServer } from "../core/config.js";
import { needsSandbox } from "../core/modes.js";
import { messageOf, ParleyError, toFault, type Fault } from "../core/errors.js";
import type { Event } from "../core/event.js";
import { mintId } from "../core/ids.js";
import { knownFields } from "../core/values/known-fields.js";
import { ANSWER_MIB, EVENT_BYTES, EVENT_WEIGHT, OUTPUT_CHARS } from "../core/limits.js";
import type { Op, OpOf } from "../core/op.js";
import { Queue, roughSize } from "../core/queue.js";
import { Redactor } from "../core/secrets/redact.js";
import type { ExtensionSources } from "./extensions/extensions.js";
import { secretValues, serverSecrets, toolEnvironment } from "../core/secrets/secrets.js";
import { homeOf, userHomeOf } from "../os/files/home.js";
import { localWorkspace } from "./workspace/local.js";
import type { Workspace } from "./workspace/workspace.js";
import { MemoryLimit } from "./session/memory-limit.js";
import { isApiRoot } from "../core/providers/providers.js";
import type { OwnProviders } from "../core/providers/choose-provider.js";
import type { Model } from "./models/model.js";
import type { ProviderOverride } from "./models/access.js";
import { openModel } from "./models/open.js";
import type { KeptGrants } from "./permissions/grants/kept-grants.js";
import { SessionGrants } from "./permissions/grants/session-grants.js";
import { keep, missedEvents, restore, type Located, type Stored } from "./session/open.js";
import type { EngineServices } from "./session/services.js";
import { Session } from "./session/session.js";
import { checkLimits, refuseUnsupported } from "./session/check-config.js";
import { openFallbacks, rulesOf } from "./session/settings.js";
import { nextSeq } from "./store/seq.js";
import type { SandboxOptions } from "./sandbox/sandbox.js";
import type { SessionStore } from "./store/store.js";
import type { SessionTrace } from "./trace/trace.js";
import type { Tracer } from "./trace/tracer.js";

/** The surroundings of an engine; docs/sdk.md explains each option. */
export interface EngineOptions {
  /** Defaults for the config of every session; `cwd` is its workspace. */
  defaults: SessionConfig & { cwd: string };
  /** Throws a `config` fault that names what is missing (a key, a script). By default every provider that we know, keys from `env`. */
  openModel?(config: SessionConfig, override: ProviderOverride | undefined): Promise<Model>;
  /** Gets every model that was opened, and the redactor; returns the model to use. */
  wrapModel?(model: Model, redactor: Redactor): Promise<Model>;
  /** Providers of the config: each brings its own models. */
  providers?: OwnProviders;
  /** Our own environment: tools get it without its secrets, and its secrets are redacted everywhere. */
  env: Record<string, string | undefined>;
  /** Names of variables that tools get although they are secret; a `*` at the end stands for any end. */
  passToTools?: readonly string[];
  /** Secrets that the environment does not hold. */
  secrets?: readonly string[];
  /** Learns every secret that is known here, for other writers of the conversation. */
  redactor?: Redactor;
  outputChars?: number;
  /** The most of one answer of a model, text, thinking and arguments together; 16 unless told otherwise. */
  answerMiB?: number;
  /**
   * No turn begins while the process holds more; `heap` means three quarters of the most that Node's heap may hold. Without a limit any
   * turn may begin.
   */
  memoryMiB?: number | "heap";
  /** The version that `session.ready` tells the host. */
  version?: string;
  /** A hub owns the sessions: it has checked what clients ask for, and says `by` which of them. */
  hub?: boolean;
  /** Where skills, commands, hooks and MCP servers come from; without it a session has none. */
  extensions?: ExtensionSources;
  /** Providers that are registered from the start, as `provider.set` does it. */
  registered?: Readonly<Record<string, ProviderOverride>>;
  /** Commands run in a sandbox of the operating system; without it they run as they are. */
  sandbox?: SandboxOptions;
  /** Grants that outlive their session; without it none does. */
  grants?: KeptGrants;
  /** Keeps sessions; without it none is kept. Asked for with the first session. */
  openStore?(redact: <T>(value: T) => T): Promise<SessionStore>;
  /** Collects traces; without it no code for traces is loaded. Asked for once, when the first session is ready. */
  openTracer?(): Promise<Tracer>;
}

/**
 * Makes the coding agent in this process.
 *
 * @example
 * const agent = createEngine({ defaults: { cwd: process.cwd(), provider: "rehearsal" }, env: process.env });
 */
export function createEngine(options: EngineOptions): Agent {
  const events = new Queue<Event>(EVENT_BYTES, weigh);
  const sessions = new Map<string, Session>();
  /** Handles whose open is under way, and the ops that came behind it. */
  const opening = new Map<string, Promise<void>>();
  /** Sessions that are closing and still hold resources. */
  const closing = new Map<Session, Promise<void>>();
  const providers = new Map<string, ProviderOverride>(Object.entries(options.registered ?? {}));
  const redactor = options.redactor ?? new Redactor();
  for (const secret of [...secretValues(options.env), ...(options.secrets ?? [])]) redactor.add(secret);
  const opened =
    options.openModel ?? ((config, override) => openModel(config, override, { env: options.env, providers: {}, chosen: undefined }));
  let store: Promise<SessionStore> | undefined;
  let tracing: Promise<[typeof import("./trace/trace.js"), Tracer | undefined] | undefined> | undefined;
  let seq = 0;
  let leaving: Promise<void> | undefined;
  let urgent = false;
  const services: EngineServices = {
    redactor,
    outputChars: options.outputChars ?? OUTPUT_CHARS,
    answerMiB: options.answerMiB ?? ANSWER_MIB,
    memory: new MemoryLimit(options.memoryMiB),
    providers: options.providers ?? {},
    bounds: options.defaults,
    extensions: options.extensions,
    hub: options.hub === true,
    env: options.env,
    version: options.version ?? "",
    openTrace: options.openTracer === undefined ? undefined : openTrace,
    openModel: openNamed,
    openStore,
    learnSecrets,
    nextSeq: () => seq++,
    push,
  };

  return { send, events, close: () => shutdown("now") };

  async function openNamed(config: SessionConfig): Promise<Model> {
    const model = await opened(config, providers.get(config.provider ?? ""));
    return options.wrapModel === undefined ? model : options.wrapModel(model, redactor);
  }

  async function send(sent: Op): Promise<void> {
    const op = known(sent.id === undefined ? { ...sent, id: mintId() } : sent);
    try {
      await route(op);
    } catch (error) {
      await refuse(op, toFault(error));
    }
  }

  /** Accepts an op; long work goes on by itself. A promise when replies pile up unread: then the sender waits. */
  function route(op: Op): Promise<void> | undefined {
    switch (op.type) {
      case "session.open":
        return open(op);
      case "session.list":
        void listSessions(op);
        return undefined;
      case "session.delete":
        void deleteSession(op);
        return undefined;
      case "session.mark":
        void markSession(op);
        return undefined;
      case "session.watch":
        return refuse(op, { code: "unsupported", message: "Only a hub tells of all sessions (parley hub)", retryable: false });
      case "provider.set":
        return setProvider(op);
      case "ping":
        return events.holdsControl("ping") ? undefined : reply(op, "ok");
      case "shutdown":
        void shutdown(op.when);
        return undefined;
      case "other":
        return refuse(op, { code: "protocol", message: `Unknown op: ${op.name}`, retryable: false });
      default:
        return toSession(op);
    }
  }

  async function listSessions(op: Op): Promise<void> {
    const live = [...sessions.values()].map(({ handle, config }) => ({ session: handle, config }));
    try {
      await reply(op, "ok", { sessions: live, stored: (await (await openStore())?.list()) ?? [] });
    } catch (error) {
      await refuse(op, toFault(error));
    }
  }

  /** The store refuses a session that is open, here or in another process. */
  async function deleteSession(op: OpOf<"session.delete">): Promise<void> {
    try {
      await closed(op.sessionId, op.sessionId);
      const kept = await openStore();
      if (kept === undefined) throw new ParleyError({ code: "session", message: "No sessions are kept here", retryable: false });
      await kept.remove(op.sessionId);
      await reply(op, "ok");
    } catch (error) {
      await refuse(op, toFault(error));
    }
  }

  /** A session that is open here is renamed for its host, too; one that is not kept is nothing but open. */
  async function markSession(op: OpOf<"session.mark">): Promise<void> {
    const { sessionId, name, archived } = op;
    try {
      if (name?.trim() === "")
        throw new ParleyError({ code: "session", message: "A session's name must not be empty", retryable: false, param: "name" });
      await opening.get(sessionId);
      const live = [...sessions.values()].filter((session) => (session.sessionId ?? session.handle) === sessionId);
      const kept = live.some((session) => session.sessionId === undefined) ? undefined : await openStore();
      if (kept === undefined && (live.length === 0 || archived !== undefined))
        throw new ParleyError({ code: "session", message: "No sessions are kept here", retryable: false });
      await kept?.mark(sessionId, { ...(name !== undefined && { name }), ...(archived !== undefined && { archived }) });
      if (name !== undefined) for (const session of live) session.rename(name);
      await reply(op, "ok");
    } catch (error) {
      await refuse(op, toFault(error));
    }
  }

  function setProvider(op: OpOf<"provider.set">): Promise<void> | undefined {
    if (op.baseUrl !== null && !isApiRoot(op.baseUrl)) {
      return refuse(op, { code: "config", message: `'${op.baseUrl}' is not an http or https address`, retryable: false, param: "baseUrl" });
    }
    if (op.baseUrl === null && op.model === undefined) providers.delete(op.name);
    else providers.set(op.name, { baseUrl: op.baseUrl, ...(op.model !== undefined && { model: op.model }) });
    return reply(op, "ok");
  }

  /** Ops behind an opening wait for it in their order; nobody else waits with them. */
  function toSession(op: Op): Promise<void> | undefined {
    const key = op.session ?? "";
    const before = opening.get(key);
    if (before === undefined) return deliver(op);
    const behind = before.then(() => deliver(op)).catch((error: unknown) => refuse(op, toFault(error)));
    wait(key, behind);
    return undefined;
  }

  function wait(key: string, work: Promise<void>): void {
    opening.set(key, work);
    void work.finally(() => (opening.get(key) === work ? opening.delete(key) : false));
  }

  function deliver(op: Op): Promise<void> | undefined {
    const session = find(op);
    if (session === undefined) {
      const message = op.session === undefined ? "There is no session; open one first" : `There is no session '${op.session}'`;
      return refuse(op, { code: "session", message, retryable: false });
    }
    if (op.type !== "session.close") return session.take(op);
    closeSession(session);
    return undefined;
  }

  /** An op without a session means the only one there is. */
  function find(op: Op): Session | undefined {
    if (op.session !== undefined) return sessions.get(op.session);
    return sessions.size === 1 ? sessions.values().next().value : undefined;
  }

  function open(op: OpOf<"session.open">): Promise<void> | undefined {
    if (leaving !== undefined) return refuse(op, { code: "session", message: "The agent is shutting down", retryable: false });
    if (sessions.has(op.session) || opening.has(op.session)) {
      return refuse(op, { code: "session", message: `There is a session '${op.session}' already`, retryable: false });
    }
    wait(
      op.session,
      openSession(op).catch((error: unknown) => refuse(op, toFault(error))),
    );
    return undefined;
  }

  async function openSession(op: OpOf<"session.open">): Promise<void> {
    await closed(op.session, op.sessionId);
    const { stored, config } = await restore(op, options.defaults, await openStore(), options.providers ?? {});
    try {
      await beginSession(op, config, stored);
    } catch (error) {
      await stored?.log?.close().catch(() => {});
      throw error;
    }
  }

  async function beginSession(op: OpOf<"session.open">, config: Located, stored: Stored | undefined): Promise<void> {
    learnSecrets({ ...options.extensions?.mcpServers, ...config.mcpServers });
    const bare = await localWorkspace(config.cwd, {
      env: toolEnvironment(options.env, redactor.forms, options.passToTools),
      directories: config.directories,
    });
    // Every check that may refuse comes before the log: a session that cannot be opened leaves nothing behind.
    refuseUnsupported(config, { hub: services.hub, extensions: options.extensions !== undefined });
    checkLimits(config);
    const model = await openNamed(config);
    const named = { ...config, provider: model.provider, model: model.id };
    const fallbacks = await openFallbacks(named, services);
    const rules = await rulesOf(config);
    const { grants = [], problem } = (await options.grants?.of(bare.root)) ?? {};
    const { workspace, missing } = await withSandbox(bare);
    const kept = stored ?? (await keep(op, { ...named, cwd: workspace.root }, await openStore()));
    if (stored !== undefined) seq = Math.max(seq, nextSeq(stored.session.seq));
    const session = new Session(services, {
      handle: op.session,
      config,
      workspace,
      model,
      fallbacks,
      rules,
      grants: new SessionGrants(workspace.root, grants, options.grants),
      log: kept.log,
      stored: stored?.session,
      sessionId: kept.id,
      name: stored?.session.name ?? op.name,
    });
    session.recover();
    if (problem !== undefined) session.events.warn(problem, "permissions");
    if (missing !== undefined) session.events.warn(missing, "sandbox");
    else if (needsSandbox(config.mode ?? "default") && workspace.sandbox === undefined) session.events.warn(SANDBOX_OFF, "sandbox");
    const replay =
      op.after === undefined || stored === undefined ? undefined : await missedEvents(op.after.seq, stored.session, await openStore());
    sessions.set(op.session, session);
    const ready = {
      parent: op.id,
      ...(options.version !== undefined && { version: options.version }),
      ...(op.after !== undefined && { replay: replay?.count ?? 0 }),
    };
    await session.begin(ready, replay);
  }

  /** The workspace with its sandbox, if one is wanted and there is one; `missing` tells why there is none. */
  async function withSandbox(bare: Workspace): Promise<{ workspace: Workspace; missing?: string }> {
    if (options.sandbox === undefined) return { workspace: bare };
    const { sandboxed } = await import("./sandbox/sandboxed.js");
    const home = options.extensions?.home ?? homeOf(options.env, bare.root);
    return sandboxed(bare, options.sandbox, { home, userHome: options.extensions?.userHome ?? userHomeOf(options.env) });
  }

  /** Learns the secrets of servers before their configuration is told or kept. */
  function learnSecrets(servers: Readonly<Record<string, McpServer>>): void {
    for (const secret of serverSecrets(servers, options.env)) redactor.add(secret);
  }

  function closeSession(session: Session): void {
    sessions.delete(session.handle);
    const done = session.close().finally(() => closing.delete(session));
    closing.set(session, done);
  }

  /** A session that is opened again or removed while it closes waits until it is closed. */
  async function closed(handle: string, sessionId: string = handle): Promise<void> {
    const same = [...closing].filter(([session]) => session.handle === handle || session.sessionId === sessionId || sessionId === "latest");
    await Promise.all(same.map(([, done]) => done));
  }

  function openStore(): Promise<SessionStore> | undefined {
    store ??= options.openStore?.((value) => redactor.value(value));
    return store;
  }

  /** A tracer that cannot be opened is told once, and work goes on without a trace. */
  async function openTrace(handle: string, sessionId: string | undefined): Promise<SessionTrace | undefined> {
    tracing ??= Promise.all([import("./trace/trace.js"), options.openTracer?.()]).catch(async (error: unknown) => {
      const text = `No traces are collected: ${messageOf(error)}`;
      await emit({ type: "notice", session: handle, level: "warning", kind: "trace", text });
      return undefined;
    });
    const [module, tracer] = (await tracing) ?? [];
    return tracer && module?.sessionTrace(tracer, { handle, sessionId }, redactor);
  }

  function shutdown(when: "now" | "drained"): Promise<void> {
    if (when === "now") {
      urgent = true;
      for (const session of sessions.values()) void session.close();
    }
    leaving ??= leave();
    return leaving;
  }

  async function leave(): Promise<void> {
    await Promise.all(opening.values());
    // A session that was opening when the order to leave at once came is closed as soon as it is open.
    await Promise.all([...sessions.values()].map((session) => (urgent ? session.close() : session.drain())));
    await Promise.all([...[...sessions.values()].map((session) => session.close()), ...closing.values()]);
    void emit({ type: "closed", code: 0 });
    events.end();
  }

  function reply(op: Op, status: "ok" | "noop", data?: unknown): Promise<void> | undefined {
    return emit({ type: "reply", to: op.type, status, parent: op.id, ...addressOf(op), ...(data !== undefined && { data }) });
  }

  function refuse(op: Op, fault: Fault): Promise<void> | undefined {
    return emit({ type: "reply", to: op.type, status: "error", fault, parent: op.id, ...addressOf(op) });
  }

  /** Stamps an event of the engine itself and tells it. */
  function emit(event: Event): Promise<void> | undefined {
    return push({ ...event, at: Date.now(), seq: seq++ });
  }

  /** The one way out, and the funnel for secrets; deltas were redacted as streams (response.ts), because a secret may be split. */
  function push(event: Event): Promise<void> | undefined {
    if (event.type === "text.delta" || event.type === "thinking.delta") return events.push(event);
    const safe = redactor.value(event);
    return safe.type === "reply" ? events.pushControl(safe, safe.to) : events.push(safe);
  }
}

const SANDBOX_OFF =
  "The mode sandboxed asks about every command, because the sandbox is off: --sandbox auto, or sandbox.mode in the config";

function weigh(event: Event): number {
  const size = event.type === "text.delta" || event.type === "thinking.delta" ? event.text.length + 160 : roughSize(event);
  return Math.max(EVENT_WEIGHT, size);
}

/** Leaves out unknown keys of a config, which is told, listed and kept: an unknown key may hold a secret of the host. */
function known(op: Op): Op {
  if (op.type === "session.open" && op.config !== undefined) return { ...op, config: knownFields(SessionConfig, op.config) };
  return op.type === "session.configure" ? { ...op, patch: knownFields(SessionConfig, op.patch) } : op;
}

function addressOf({ session }: Op): { session?: string } {
  return session === undefined ? {} : { session };
}
