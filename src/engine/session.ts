/** A session: it takes ops, keeps prompts in order, and runs one turn at a time. */
import { setMaxListeners } from "node:events";
import type { McpServer, Mode, SessionConfig } from "../core/config.js";
import type { Part } from "../core/content.js";
import { ParleyError, toFault, type Fault } from "../core/errors.js";
import type { Event, EventOf } from "../core/event.js";
import { mintId } from "../core/ids.js";
import { ANSWER_SECONDS, QUEUE_LIMIT } from "../core/limits.js";
import { roughSize } from "../core/queue.js";
import type { Op, OpOf } from "../core/op.js";
import type { Redactor } from "../core/redact.js";
import { PendingApprovals, Permissions, UNASKED } from "./approval.js";
import { CallIds } from "./call-ids.js";
import type { Compacted } from "./compaction.js";
import { HostRequests } from "./host-requests.js";
import { Locks } from "./locks.js";
import { History } from "./history.js";
import type { Model } from "./models/model.js";
import type { Rules } from "./rules.js";
import type { Emit } from "./run.js";
import { SeenFileMap, todosIn, type SessionState } from "./session-state.js";
import type { ExtensionSources } from "./extensions/extensions.js";
import { withModel } from "./open-session.js";
import type { SessionControl } from "./session-control.js";
import { SessionExtensions } from "./session-extensions.js";
import { Recorder } from "./store/recorder.js";
import { refuseUnsupported } from "./unsupported.js";
import { nextSeq } from "./store/seq.js";
import type { Crash, KeptSession, SessionLog, SessionStore, StoredSession } from "./store/store.js";
import type { Workspace } from "./workspace.js";

/** Steered words that wait for the model. */
const STEERING_BYTES = 1024 * 1024;
/** From TERM to KILL for what a turn started, and for what the session kept. */
const GRACE_MS = 2000;

export interface SessionDeps {
  handle: string;
  config: SessionConfig;
  workspace: Workspace;
  redactor: Redactor;
  outputChars: number;
  /** Levels of sub-agents. */
  nesting: number;
  model: Model;
  rules: Rules;
  openModel(config: SessionConfig): Promise<Model>;
  /** What is given to these servers is redacted from now on. */
  learnSecrets(servers: Readonly<Record<string, McpServer>>): void;
  /** Where its extensions come from; without it there are none. */
  extensions?: ExtensionSources | undefined;
  env: Record<string, string | undefined>;
  version: string;
  openStore(): Promise<SessionStore> | undefined;
  /** Where the session is kept, if it is. */
  log?: SessionLog | undefined;
  /** What it was before, when it is resumed. */
  stored?: StoredSession | undefined;
  sessionId?: string | undefined;
  name?: string | undefined;
  nextSeq(): number;
  push(event: Event): Promise<void> | undefined;
}

interface QueuedPrompt {
  op: OpOf<"turn.prompt">;
  turn: string;
  /** Interrupted before it began. */
  cancelled: boolean;
}

interface LiveTurn {
  id: string;
  abort: AbortController;
  steering: Part[];
  reason: string | undefined;
}

export class Session {
  readonly handle: string;
  config: SessionConfig;
  readonly #deps: SessionDeps;
  readonly #state: SessionState;
  readonly #recorder: Recorder;
  readonly #history: History;
  readonly #extensions: SessionExtensions;
  #model: Model;
  #queue: QueuedPrompt[] = [];
  #live: LiveTurn | undefined;
  #running: Promise<void> = Promise.resolve();
  /** Since it was opened. */
  #prompted = false;
  #seq = 0;
  #closing: Promise<void> | undefined;
  #draining = false;
  #turns: Promise<typeof import("./turn.js")> | undefined;
  /** Changes of the session that are under way, and what waits behind them. */
  #configuring: Promise<void> | undefined;
  /** Of the configuration, by the host and by commands. */
  #changes: Promise<void> = Promise.resolve();
  /** Warnings that wait for the opener to be told first. */
  #early: string[] | undefined = [];

  constructor(deps: SessionDeps) {
    const { config, model, rules } = deps;
    this.handle = deps.handle;
    this.config = { ...deps.config, provider: model.provider, model: model.id };
    this.#deps = deps;
    this.#model = model;
    this.#recorder = new Recorder(deps.log, deps.stored === undefined ? 0 : nextSeq(deps.stored.seq), (why) => this.#warn(why));
    this.#history = new History(deps.stored?.messages, this.#recorder);
    const history = this.#history;
    this.#state = {
      workspace: deps.workspace,
      permissions: new Permissions(config.mode ?? "default", config.approveTools ?? UNASKED, rules, homesOf(deps)),
      approvals: new PendingApprovals(),
      callIds: new CallIds(deps.stored?.messages),
      notes: new Set(),
      get todos() {
        return todosIn(history.messages);
      },
      hostRequests: new HostRequests(),
      locks: new Locks(),
      seen: new SeenFileMap(),
      children: new Set(),
      outputChars: deps.outputChars,
      nesting: deps.nesting,
      answerSeconds: deps.config.answerSeconds ?? ANSWER_SECONDS,
    };
    const { redactor, env, version } = deps;
    this.#extensions = new SessionExtensions(deps.extensions, { control: this.#control(), redactor, env, version });
  }

  /** Before anybody is told: what a crash left open is closed in the log, so that a replay is whole. */
  recover(): void {
    const { stored } = this.#deps;
    if (stored === undefined) return;
    for (const entry of stored.crash?.mend ?? []) {
      if (entry.kind === "message") this.#recorder.message(entry.message);
      else this.#recorder.event(this.#stamped({ ...entry.event }));
    }
    const { id, cwd, name, config } = this.#kept();
    this.#recorder.reopened({ at: Date.now(), id, cwd, name, config, seq: nextSeq(stored.seq) });
  }

  /** Tells the opener, and what it missed; then of calls nobody knows the end of. */
  begin(ready: Omit<EventOf<"session.ready">, "type" | "config" | "sessionId" | "name">, replay: readonly Event[]): void {
    void this.#emit({ type: "session.ready", ...ready, ...this.#identity(), config: this.config });
    for (const event of replay) void this.#deps.push({ ...event, session: this.handle, replay: true });
    // The first line is out; what the first turn needs can be loaded while the host thinks.
    setImmediate(() => void Promise.all([this.#machinery(), this.#model.warm?.(), this.#extensions.start()]).catch(() => {}));
    const early = this.#early ?? [];
    this.#early = undefined;
    const { crash, unsavedSince, unreadable = 0 } = this.#deps.stored ?? {};
    if (unreadable > 0)
      this.#warn(
        `${unreadable} damaged ${unreadable === 1 ? "line" : "lines"} of this session's log could not be read; something is missing`,
      );
    if (crash !== undefined) {
      void this.#emit({ type: "notice", level: "warning", kind: "recovered", text: recoveryText(crash), data: { unknown: crash.unknown } });
    }
    if (unsavedSince !== undefined)
      this.#warn(`What this session did after ${new Date(unsavedSince).toISOString()} could not be saved then`);
    for (const text of early) this.#warn(text);
  }

  get sessionId(): string | undefined {
    return this.#deps.sessionId;
  }

  // --- ops ---

  /** Never waits for what an op begins. A promise when replies pile up unread: then the sender waits. */
  take(op: Op): Promise<void> | undefined {
    switch (op.type) {
      case "turn.steer":
        return this.#steer(op);
      case "turn.interrupt":
        return this.#interrupt(op);
      case "approval.answer":
        return this.#answer(op);
      case "host.answer":
        return this.#reply(op, this.#state.hostRequests.answer(op.request, { ok: op.ok, data: op.data }) ? "ok" : "noop");
      case "command.suggest":
        void this.#suggest(op);
        return undefined;
      case "turn.prompt":
      case "session.configure":
      case "session.seed":
        return this.#inOrder(op);
      default:
        return this.#refuse(op, { code: "protocol", message: `A session has no ${op.type}`, retryable: false });
    }
  }

  /** A prompt behind a change of model waits for the change; interrupts and answers pass both. */
  #inOrder(op: OpOf<"turn.prompt" | "session.configure" | "session.seed">): Promise<void> | undefined {
    const isPlain = op.type === "session.seed" || (op.type === "turn.prompt" && op.command === undefined);
    if (isPlain && this.#configuring === undefined) return this.#change(op);
    return this.#behind(op, () => this.#change(op));
  }

  #behind(op: Op, next: () => Promise<void> | undefined): undefined {
    const work = (this.#configuring ?? Promise.resolve()).then(next).catch((error: unknown) => this.#refuse(op, toFault(error)));
    this.#configuring = work;
    void work.finally(() => {
      if (this.#configuring === work) this.#configuring = undefined;
    });
    return undefined;
  }

  #change(op: OpOf<"turn.prompt" | "session.configure" | "session.seed">): Promise<void> | undefined {
    if (op.type === "turn.prompt") return op.command === undefined ? this.#prompt(op) : this.#command(op, op.command.name);
    return op.type === "session.seed" ? this.#seed(op) : this.#configure(op);
  }

  #prompt(op: OpOf<"turn.prompt">): Promise<void> | undefined {
    if (this.#closing !== undefined || this.#draining)
      return this.#refuse(op, { code: "session", message: "The session is closing", retryable: false });
    if (this.#queue.length >= QUEUE_LIMIT) {
      return this.#refuse(op, { code: "limit", message: `${QUEUE_LIMIT} prompts wait already; this one was refused`, retryable: true });
    }
    const turn = op.turn ?? mintId();
    if (this.#live?.id === turn || this.#queue.some((queued) => queued.turn === turn)) {
      return this.#refuse(op, { code: "protocol", message: `There is a turn '${turn}' already`, retryable: false });
    }
    this.#prompted = true;
    this.#queue.push({ op, turn, cancelled: false });
    if (this.#queue.length === 1 && this.#live === undefined) this.#running = this.#running.then(() => this.#runQueue());
    return undefined;
  }

  /** One that runs beside a turn is run at once; the others take their place in the queue. */
  async #command(op: OpOf<"turn.prompt">, name: string): Promise<void> {
    const args = op.command?.args ?? "";
    const command = await this.#extensions.command(name);
    if (command.immediate?.(args) !== true) return this.#prompt(op);
    await this.#reply(op, "ok", { command: op.command, result: await command.run(args, new AbortController().signal) });
  }

  async #suggest(op: OpOf<"command.suggest">): Promise<void> {
    try {
      await this.#extensions.suggest(op, (status, data) => this.#reply(op, status, data));
    } catch (error) {
      await this.#refuse(op, toFault(error));
    }
  }

  #steer(op: OpOf<"turn.steer">): Promise<void> | undefined {
    if (this.#live === undefined) return this.#reply(op, "noop");
    if (roughSize(this.#live.steering) + roughSize(op.parts) > STEERING_BYTES) {
      return this.#refuse(op, { code: "limit", message: `More than ${STEERING_BYTES} bytes of steering wait already`, retryable: true });
    }
    this.#recorder.steered(op.parts);
    this.#live.steering.push(...op.parts);
    return this.#reply(op, "ok");
  }

  #interrupt(op: OpOf<"turn.interrupt">): Promise<void> | undefined {
    const waits = op.turn === undefined && this.#live === undefined ? this.#queue[0] : undefined;
    const queued = waits ?? this.#queue.find((prompt) => prompt.turn === op.turn);
    const hit = op.turn === undefined || op.turn === this.#live?.id ? this.#live : undefined;
    // What it means may still wait behind a change of the session.
    if (queued === undefined && hit === undefined && this.#configuring !== undefined) return this.#behind(op, () => this.#interrupt(op));
    if (queued !== undefined) queued.cancelled = true;
    if (hit !== undefined) this.#stop(hit, op.reason ?? "interrupted by the host");
    return this.#reply(op, queued === undefined && hit === undefined ? "noop" : "ok");
  }

  #answer(op: OpOf<"approval.answer">): Promise<void> | undefined {
    const settled: string[] = [];
    const unknown: string[] = [];
    for (const answer of op.answers) {
      const taken = this.#state.approvals.answer(answer);
      if (taken === "unknown") unknown.push(answer.call);
      if (taken === "settled") settled.push(answer.call);
    }
    const [first] = unknown;
    if (first !== undefined) {
      const others = unknown.length === 1 ? "" : ` and ${unknown.length - 1} more`;
      return this.#refuse(op, {
        code: "protocol",
        message: `No approval was asked for call '${first}'${others}`,
        retryable: false,
        param: first,
      });
    }
    const [call] = settled;
    if (call !== undefined) return this.#reply(op, "noop", { call });
    return op.answers.length === 0 ? this.#reply(op, "noop") : undefined;
  }

  async #configure(op: OpOf<"session.configure">): Promise<void> {
    await this.#reconfigure(op.patch);
    void this.#emit({ type: "session.updated", ...this.#identity(), config: this.config, parent: op.id });
  }

  /** One after the other: a change that is still opening its model must not undo one that came in the meantime. */
  #reconfigure(patch: SessionConfig): Promise<void> {
    const change = this.#changes.then(() => this.#apply(patch));
    this.#changes = change.catch(() => {});
    return change;
  }

  /** The mode counts from the next call on, the rest from the next turn on. Nothing changes when a part of it is wrong. */
  async #apply(patch: SessionConfig): Promise<void> {
    if (patch.maxTurns !== undefined && patch.maxTurns < 1) throw configFault("A turn needs at least one model call", "maxTurns");
    if (patch.cwd !== undefined && patch.cwd !== this.config.cwd)
      throw configFault("The folder of a session cannot change; open another session", "cwd");
    this.#deps.learnSecrets(patch.mcpServers ?? {});
    const next = { ...this.config, ...patch };
    if (patch.model !== undefined && patch.provider === undefined) delete next.provider;
    refuseUnsupported(next);
    const reopened = patch.model !== undefined || patch.provider !== undefined ? await this.#deps.openModel(next) : this.#model;
    const rules = await rulesOf(next);
    // A plan that was approved meanwhile has changed the mode.
    if (patch.mode === undefined) next.mode = this.config.mode;
    this.#model = reopened;
    this.#state.permissions.rules = rules;
    this.config = { ...next, provider: this.#model.provider, model: this.#model.id };
    this.#state.permissions.mode = next.mode ?? "default";
    this.#state.permissions.approveTools = next.approveTools ?? UNASKED;
    this.#state.answerSeconds = next.answerSeconds ?? ANSWER_SECONDS;
    await this.#extensions.configure(this.config);
  }

  /** From within a turn, which must not wait for what waits behind it. */
  #setMode(mode: Mode): void {
    this.config = { ...this.config, mode };
    this.#state.permissions.mode = mode;
    void this.#emit({ type: "session.updated", ...this.#identity(), config: this.config });
    void this.#extensions.configure(this.config);
  }

  #seed(op: OpOf<"session.seed">): Promise<void> | undefined {
    if (this.#prompted) {
      return this.#refuse(op, { code: "protocol", message: "Prior context can only be given before the first prompt", retryable: false });
    }
    this.#history.push({ role: "user", parts: [{ type: "text", text: op.text }] });
    this.#history.push({ role: "assistant", blocks: [{ type: "text", text: "I have read the earlier context." }] });
    return this.#reply(op, "ok");
  }

  // --- turns ---

  async #runQueue(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) await this.#runTurn(next);
  }

  async #runTurn({ op, turn, cancelled }: QueuedPrompt): Promise<void> {
    const live: LiveTurn = { id: turn, abort: new AbortController(), steering: [], reason: undefined };
    // Every call of the turn listens; that is no leak.
    setMaxListeners(0, live.abort.signal);
    this.#live = live;
    this.#state.permissions.forTurn = [];
    if (op.command !== undefined) {
      const prompt = await this.#runCommand(op, op.command, live, cancelled);
      if (prompt === undefined) {
        this.#live = undefined;
        return;
      }
      op = { ...op, parts: prompt };
    }
    const address = { turn, ...(op.id !== undefined && { parent: op.id }) };
    const emit: Emit = (draft) => this.#emit(draft, address);
    const heard = (parts: Part[]): void => this.#recorder.event(this.#stamped({ type: "user.message", parts }, address));
    const started = this.#stamped({ type: "turn.started" }, address);
    this.#recorder.event(started);
    // In the log before the start is told: a prompt that was acknowledged is never lost.
    heard(op.parts);
    await this.#deps.push(started);
    if (cancelled) this.#stop(live, "interrupted before it began");
    const config = { ...this.config, ...op.overrides };
    const end = await this.#work(op, live, config, heard, emit, (call) => (draft) => this.#emit(draft, { ...address, under: call }));
    if (live.steering.length > 0) this.#keepSteering(live.steering, end.outcome);
    const reason = end.outcome === "interrupted" && live.reason !== undefined ? { reason: live.reason } : {};
    this.#live = undefined;
    const ended = this.#stamped({ type: "turn.ended", ...end, ...reason }, address);
    this.#recorder.event(ended);
    // Nobody waits for it, so it begins when the end of the turn is on its way.
    setImmediate(() => void this.#recorder.sync());
    await this.#deps.push(ended);
    await this.#recorder.settle(() => this.#kept());
  }

  /** Undefined when the command was all there was to do; else the prompt that it became. */
  async #runCommand(
    op: OpOf<"turn.prompt">,
    given: NonNullable<OpOf<"turn.prompt">["command"]>,
    live: LiveTurn,
    cancelled: boolean,
  ): Promise<Part[] | undefined> {
    try {
      if (cancelled) throw interrupted();
      const command = await this.#extensions.command(given.name);
      const result = await command.run(given.args ?? "", live.abort.signal);
      const prompt = result.type === "submit_prompt" ? result.prompt : undefined;
      await this.#reply(op, "ok", { command: given, result: prompt === undefined ? result : { type: "submit_prompt" } });
      return prompt;
    } catch (error) {
      await this.#refuse(op, toFault(live.abort.signal.aborted ? interrupted() : error));
      return undefined;
    }
  }

  async #work(
    op: OpOf<"turn.prompt">,
    live: LiveTurn,
    config: SessionConfig,
    heard: (parts: Part[]) => void,
    emit: Emit,
    emitUnder: (call: string) => Emit,
  ): Promise<Omit<EventOf<"turn.ended">, "type">> {
    const { redactor } = this.#deps;
    try {
      const { runTurn, toolbox } = await this.#machinery();
      const { provider, model } = op.overrides ?? {};
      const { tools: own, instructions, hooks } = await this.#extensions.forTurn();
      const host = { requests: this.#state.hostRequests, emit, seconds: this.#state.answerSeconds };
      return await runTurn({
        turn: live.id,
        hooks,
        setMode: (mode) => this.#setMode(mode),
        state: this.#state,
        config,
        model: provider === undefined && model === undefined ? this.#model : await this.#deps.openModel(config),
        tools: toolbox(withOverrides(config, op), host, own),
        instructions,
        openModel: (name) => this.#deps.openModel(withModel(config, name)),
        history: this.#history,
        persist: () => this.#recorder.sync(),
        redactor,
        signal: live.abort.signal,
        parts: op.parts,
        mentioned: () => this.#extensions.mentioned(op, emit, live.abort.signal),
        takeSteering() {
          const parts = live.steering.splice(0);
          if (parts.length > 0) heard(parts);
          return parts;
        },
        emit,
        emitUnder,
      });
    } catch (error) {
      const fault = toFault(error);
      await emit({ type: "error", fault });
      return { outcome: "failed", reason: fault.message, fault };
    }
  }

  /** What came too late for the turn that it was meant for is the next prompt; an interrupted turn takes its steering with it. */
  #keepSteering(parts: Part[], outcome: EventOf<"turn.ended">["outcome"]): void {
    if (outcome === "interrupted") return this.#warn("What was steered in went with the interrupted turn");
    const id = mintId();
    this.#queue.unshift({ op: { type: "turn.prompt", id, parts }, turn: mintId(), cancelled: this.#closing !== undefined });
  }

  /** Loaded once: even a module that is there costs a look-up each time it is imported. */
  #machinery(): Promise<typeof import("./turn.js")> {
    this.#turns ??= import("./turn.js");
    return this.#turns;
  }

  #control(): SessionControl {
    return {
      state: this.#state,
      messages: this.#history.messages,
      handle: this.handle,
      sessionId: this.#deps.sessionId,
      emit: (event) => this.#emit(event),
      configure: async (patch) => {
        await this.#reconfigure(patch);
        void this.#emit({ type: "session.updated", ...this.#identity(), config: this.config });
      },
      reset: (messages) => {
        this.#state.callIds.know(messages);
        this.#history.reset(messages);
      },
      used: () => this.#history.measured?.tokens,
      compact: (signal) => this.#compact(signal),
      openStore: () => this.#deps.openStore(),
      config: () => this.config,
      model: () => this.#model,
    };
  }

  async #compact(signal: AbortSignal): Promise<Compacted> {
    const { compactNow, windowOf } = await import("./compaction.js");
    const model = this.#model;
    const emit: Emit = (event) => this.#emit(event);
    return compactNow({ history: this.#history, model, contextLimit: windowOf(this.config, model), emit, signal, addUsage() {} });
  }

  #stop(live: LiveTurn, reason: string): void {
    if (live.abort.signal.aborted) return;
    live.reason = reason;
    // Aborted first: a voided approval must find its call already cancelled.
    live.abort.abort();
    this.#state.approvals.void(reason);
  }

  // --- the end ---

  /** No host answers any more: what waits is denied, what runs and is queued may end. */
  async drain(): Promise<void> {
    await this.#configuring;
    this.#draining = true;
    const reason = "the host closed its input";
    this.#state.approvals.close(reason);
    this.#state.hostRequests.close(reason);
    await this.#running;
  }

  /** Interrupts, ends every child, tells `session.ended`. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const prompt of this.#queue) prompt.cancelled = true;
    if (this.#live !== undefined) this.#stop(this.#live, "the session was closed");
    await this.#running;
    await this.#extensions.close();
    await Promise.all([...this.#state.children].map((child) => child.end(GRACE_MS)));
    await this.#recorder.close(() => this.#kept());
    await this.#emit({ type: "session.ended" });
  }

  // --- telling ---

  #reply(op: Op, status: "ok" | "noop" | "loading", data?: unknown): Promise<void> | undefined {
    return this.#emit({ type: "reply", to: op.type, status, parent: op.id, ...(data !== undefined && { data }) });
  }

  #refuse(op: Op, fault: Fault): Promise<void> | undefined {
    return this.#emit({ type: "reply", to: op.type, status: "error", fault, parent: op.id });
  }

  #warn(text: string): void {
    if (this.#early !== undefined) return void this.#early.push(text);
    void this.#emit({ type: "notice", level: "warning", text, kind: "store" });
  }

  /** The log first, then the host. */
  #emit(event: Event, address?: Address): Promise<void> | undefined {
    this.#recorder.event(this.#stamped(event, address));
    return this.#deps.push(event);
  }

  /** In place: a delta is one object from here to the wire. */
  #stamped(event: Event, address?: Address): Event {
    event.session = this.handle;
    if (address !== undefined) {
      event.turn = address.turn;
      if (address.parent !== undefined) event.parent = address.parent;
      if (address.under !== undefined) event.under = address.under;
    }
    event.at = Date.now();
    event.seq = this.#seq = this.#deps.nextSeq();
    return event;
  }

  #identity(): { sessionId?: string; name?: string } {
    const { sessionId, name } = this.#deps;
    return { ...(sessionId !== undefined && { sessionId }), ...(name !== undefined && { name }) };
  }

  #kept(): KeptSession {
    const { sessionId = this.handle, workspace, name } = this.#deps;
    const { messages } = this.#history;
    return { id: sessionId, cwd: workspace.root, name, config: this.config, messages, seq: this.#seq };
  }
}

/** Whose event it is. */
interface Address {
  turn: string;
  parent?: string;
  under?: string;
}

function recoveryText({ unknown }: Crash): string {
  const cut = "The last run of this session ended in the middle of a turn.";
  if (unknown.length === 0) return `${cut} No call was running then.`;
  return `${cut} Whether these calls took effect is unknown, and they are not run again: ${unknown.map(({ name, title }) => title ?? name).join("; ")}`;
}

function configFault(message: string, param: string): ParleyError {
  return new ParleyError({ code: "config", message, retryable: false, param });
}

function interrupted(): ParleyError {
  return new ParleyError({ code: "interrupted", message: "The command was interrupted", retryable: false });
}

/** Folders that hold what decides for the user. */
function homesOf({ extensions, env }: SessionDeps): string[] {
  return [extensions?.home, env["ANTE_HOME"]].flatMap((home) => home || []);
}

/** Most sessions have no rules, and then their machinery is not loaded. */
export async function rulesOf({ rules = [] }: SessionConfig): Promise<Rules> {
  if (rules.length === 0) return { judge: () => Promise.resolve({ decision: "none" }) };
  const { compileRules } = await import("./rules.js");
  return compileRules(rules);
}

function withOverrides(config: SessionConfig, op: OpOf<"turn.prompt">): SessionConfig {
  const { tools, hostTools } = op.overrides ?? {};
  return {
    ...config,
    ...(tools !== undefined && { allowedTools: tools }),
    ...(hostTools !== undefined && { hostTools: [...(config.hostTools ?? []), ...hostTools] }),
  };
}
