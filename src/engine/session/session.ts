/** A session: what it is made of, what ops do to it, how it begins and ends. Its turns are in session-turns.ts. */
import { join } from "node:path";
import type { McpServer, SessionConfig } from "../../core/config.js";
import { toFault } from "../../core/errors.js";
import type { Event, EventOf } from "../../core/event.js";
import { ANSWER_SECONDS, NESTING } from "../../core/limits.js";
import type { Op, OpOf } from "../../core/op.js";
import type { Redactor } from "../../core/redact.js";
import { PendingApprovals } from "../permissions/pending-approvals.js";
import { Permissions, UNASKED } from "../permissions/permissions.js";
import { CallIds } from "../calls/ids.js";
import type { Bounds } from "./configured-bounds.js";
import type { Compacted } from "../turn/compaction.js";
import { HostRequests } from "./host-requests.js";
import { Locks } from "../calls/locks.js";
import { History } from "./history.js";
import type { MemoryLimit } from "./memory-limit.js";
import type { OwnProviders } from "../../core/choose-provider.js";
import type { Model } from "../models/model.js";
import { unsaved } from "./open.js";
import { Protection } from "../permissions/protection.js";
import type { Rules } from "../permissions/rules.js";
import type { Emit } from "../turn/run.js";
import { SeenFileMap, todosIn, type SessionState } from "./state.js";
import type { ExtensionSources } from "../extensions/extensions.js";
import { seedMessages } from "./seed.js";
import type { SessionControl } from "./control.js";
import { sessionCapabilities } from "./capabilities.js";
import { SessionExtensions } from "./extensions.js";
import { SessionSettings } from "./settings.js";
import { SessionTurns } from "./turn-queue.js";
import { SessionVoice } from "./session-events.js";
import { damageIn } from "../store/jsonl/read-log.js";
import { nextSeq } from "../store/seq.js";
import type { Crash, KeptSession, SessionLog, SessionStore, StoredSession } from "../store/store.js";
import type { SessionTrace } from "../trace/trace.js";
import { unfinishedIn } from "./unfinished.js";
import type { Workspace } from "../workspace/workspace.js";

/** From TERM to KILL for what a turn started, and for what the session kept. */
const GRACE_MS = 2000;
/** How long the hints that were asked for last may take, once there is no more input. */
const LAST_HINTS_MS = 5000;

export interface SessionDeps {
  handle: string;
  config: SessionConfig;
  workspace: Workspace;
  redactor: Redactor;
  outputChars: number;
  answerMiB: number;
  memory: MemoryLimit;
  model: Model;
  /** Those that answer in its place when its server cannot. */
  fallbacks: readonly Model[];
  rules: Rules;
  openModel(config: SessionConfig): Promise<Model>;
  /** The config's own: whose models are whose. */
  providers: OwnProviders;
  /** What the config forbids, whatever a host says. */
  bounds: Bounds;
  /** What is given to these servers is redacted from now on. */
  learnSecrets(servers: Readonly<Record<string, McpServer>>): void;
  /** Where its extensions come from; without it there are none. */
  extensions?: ExtensionSources | undefined;
  env: Record<string, string | undefined>;
  version: string;
  openStore(): Promise<SessionStore> | undefined;
  /** Undefined where no traces are collected; nothing of that is loaded then. */
  openTrace?: (() => Promise<SessionTrace | undefined>) | undefined;
  /** Where the session is kept, if it is. */
  log?: SessionLog | undefined;
  /** What it was before, when it is resumed. */
  stored?: StoredSession | undefined;
  sessionId?: string | undefined;
  name?: string | undefined;
  nextSeq(): number;
  push(event: Event): Promise<void> | undefined;
}

type Nature = Pick<EventOf<"session.updated">, "sessionId" | "name" | "config" | "capabilities">;

export class Session {
  readonly handle: string;
  readonly #deps: SessionDeps;
  readonly #state: SessionState;
  readonly #settings: SessionSettings;
  readonly #voice: SessionVoice;
  readonly #history: History;
  readonly #seen: SeenFileMap;
  readonly #extensions: SessionExtensions;
  readonly #turns: SessionTurns;
  #closing: Promise<void> | undefined;
  /** Changes of the session that are under way, and what waits behind them. */
  #configuring: Promise<void> | undefined;
  readonly #suggesting = new Set<Promise<void>>();

  constructor(deps: SessionDeps) {
    const { config, rules } = deps;
    this.handle = deps.handle;
    this.#deps = deps;
    this.#voice = new SessionVoice(deps, deps.stored === undefined ? 0 : nextSeq(deps.stored.seq));
    this.#history = new History(deps.stored?.messages, this.#voice.recorder, deps.stored?.lastTurn);
    this.#seen = new SeenFileMap(deps.stored?.seen, (path, stamp) => this.#voice.recorder.seen(path, stamp));
    const history = this.#history;
    this.#state = {
      workspace: deps.workspace,
      permissions: new Permissions(config.mode ?? "default", config.approveTools ?? UNASKED, rules, protectionOf(deps)),
      approvals: new PendingApprovals(),
      callIds: new CallIds(deps.stored?.messages),
      notes: new Set(),
      todos: () => todosIn(history.messages),
      hostRequests: new HostRequests(),
      locks: new Locks(),
      seen: this.#seen,
      children: new Set(),
      outputChars: deps.outputChars,
      answerMiB: deps.answerMiB,
      nesting: deps.config.nesting ?? NESTING,
      answerSeconds: deps.config.answerSeconds ?? ANSWER_SECONDS,
    };
    this.#settings = new SessionSettings(deps, this.#state, (changed) => this.#extensions.configure(changed));
    const { redactor, env, version } = deps;
    this.#extensions = new SessionExtensions(deps.extensions, { control: this.#control(), redactor, env, version });
    this.#turns = new SessionTurns({
      state: this.#state,
      settings: this.#settings,
      voice: this.#voice,
      history: this.#history,
      extensions: this.#extensions,
      redactor,
      memory: deps.memory,
      openModel: (wanted) => deps.openModel(wanted),
      providers: deps.providers,
      openTrace: deps.openTrace,
      onMode: () => this.#updated(),
      kept: () => this.#kept(),
    });
  }

  /** Before anybody is told: what a crash left open is closed in the log, so that a replay is whole. */
  recover(): void {
    const { stored } = this.#deps;
    if (stored === undefined) return;
    for (const entry of stored.crash?.mend ?? []) {
      if (entry.kind === "message") this.#voice.recorder.message(entry.message);
      else this.#voice.recorder.event(this.#voice.stamped({ ...entry.event }));
    }
    const { id, cwd, name, config } = this.#kept();
    this.#voice.recorder.reopened({ at: Date.now(), id, cwd, name, config, seq: nextSeq(stored.seq) });
    this.#voice.recorder.write();
    const { failure } = this.#voice.recorder;
    if (failure !== undefined) throw unsaved(failure);
  }

  /** Tells the opener, and what it missed; then of calls nobody knows the end of. */
  begin(ready: Omit<EventOf<"session.ready">, keyof Nature | "type">, replay: readonly Event[]): void {
    const unfinished = unfinishedIn(this.#history.messages, this.#history.lastTurn);
    void this.#voice.emit({ type: "session.ready", ...ready, ...(unfinished !== undefined && { unfinished }), ...this.#nature() });
    for (const event of replay) void this.#voice.push({ ...event, session: this.handle, replay: true });
    // The first line goes out with the next turn of the loop; behind it, what the first turn needs is loaded while the host thinks.
    setImmediate(() => setImmediate(() => this.#warmUp()));
    const early = this.#voice.opened();
    const { id = "", crash, unsavedSince, unreadable = [] } = this.#deps.stored ?? {};
    const damage = damageIn(id, unreadable);
    if (damage !== undefined) this.#voice.warn(damage);
    if (crash !== undefined) {
      void this.#voice.emit({
        type: "notice",
        level: "warning",
        kind: "recovered",
        text: recoveryText(crash),
        data: { unknown: crash.unknown },
      });
    }
    if (unsavedSince !== undefined)
      this.#voice.warn(`What this session did after ${new Date(unsavedSince).toISOString()} could not be saved then`);
    for (const text of early) this.#voice.warn(text);
  }

  #warmUp(): void {
    const { openTrace } = this.#deps;
    void Promise.all([this.#turns.load(), this.#settings.model.warm?.(), this.#extensions.start(), openTrace?.()]).catch(() => {});
  }

  get config(): SessionConfig {
    return this.#settings.config;
  }

  get sessionId(): string | undefined {
    return this.#deps.sessionId;
  }

  // --- ops ---

  /** Never waits for what an op begins. A promise when replies pile up unread: then the sender waits. */
  take(op: Op): Promise<void> | undefined {
    switch (op.type) {
      case "turn.steer":
        return this.#turns.steer(op);
      case "turn.interrupt":
        // What it means may still wait behind a change of the session.
        if (this.#configuring !== undefined && !this.#turns.has(op)) return this.#behind(op, () => this.#turns.interrupt(op));
        return this.#turns.interrupt(op);
      case "approval.answer":
        return this.#answer(op);
      case "host.answer":
        return this.#voice.reply(op, this.#state.hostRequests.answer(op.request, { ok: op.ok, data: op.data }) ? "ok" : "noop");
      case "command.suggest":
        this.#suggest(op);
        return undefined;
      case "turn.prompt":
      case "session.configure":
      case "session.seed":
        return this.#inOrder(op);
      default:
        return this.#voice.refuse(op, { code: "protocol", message: `A session has no ${op.type}`, retryable: false });
    }
  }

  /** A prompt behind a change of model waits for the change; interrupts and answers pass both. */
  #inOrder(op: OpOf<"turn.prompt" | "session.configure" | "session.seed">): Promise<void> | undefined {
    const isPlain = op.type === "session.seed" || (op.type === "turn.prompt" && op.command === undefined);
    if (isPlain && this.#configuring === undefined) return this.#change(op);
    return this.#behind(op, () => this.#change(op));
  }

  #behind(op: Op, next: () => Promise<void> | undefined): undefined {
    const work = (this.#configuring ?? Promise.resolve()).then(next).catch((error: unknown) => this.#voice.refuse(op, toFault(error)));
    this.#configuring = work;
    void work.finally(() => {
      if (this.#configuring === work) this.#configuring = undefined;
    });
    return undefined;
  }

  #change(op: OpOf<"turn.prompt" | "session.configure" | "session.seed">): Promise<void> | undefined {
    if (op.type === "turn.prompt") return op.command === undefined ? this.#turns.prompt(op) : this.#command(op, op.command);
    return op.type === "session.seed" ? this.#seed(op) : this.#configure(op);
  }

  /** One that runs beside a turn is run at once; the others take their place in the queue. */
  async #command(op: OpOf<"turn.prompt">, given: NonNullable<OpOf<"turn.prompt">["command"]>): Promise<void> {
    const { args = "" } = given;
    const command = await this.#extensions.command(given);
    if (command.immediate?.(args) !== true) return this.#turns.prompt(op);
    await this.#voice.reply(op, "ok", { command: given, result: await command.run(args, new AbortController().signal) });
  }

  #suggest(op: OpOf<"command.suggest">): void {
    const answered = this.#extensions
      .suggest(op, (status, data) => this.#voice.reply(op, status, data))
      .catch((error: unknown) => this.#voice.refuse(op, toFault(error)))
      .finally(() => this.#suggesting.delete(answered));
    this.#suggesting.add(answered);
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
      return this.#voice.refuse(op, {
        code: "protocol",
        message: `No approval was asked for call '${first}'${others}`,
        retryable: false,
        param: first,
      });
    }
    const [call] = settled;
    if (call !== undefined) return this.#voice.reply(op, "noop", { call });
    return op.answers.length === 0 ? this.#voice.reply(op, "noop") : undefined;
  }

  async #configure(op: OpOf<"session.configure">): Promise<void> {
    await this.#settings.change(op.patch);
    this.#updated(op.id);
  }

  #updated(parent?: string): void {
    const answers = parent === undefined ? {} : { parent };
    void this.#voice.emit({ type: "session.updated", ...this.#nature(), ...answers });
  }

  /** What the session is now. */
  #nature(): Nature {
    const capabilities = sessionCapabilities(this.#settings.model, this.config, this.#deps.extensions !== undefined);
    return { ...this.#voice.identity(), config: this.config, capabilities };
  }

  #seed(op: OpOf<"session.seed">): Promise<void> | undefined {
    if (this.#turns.prompted) {
      return this.#voice.refuse(op, {
        code: "protocol",
        message: "Prior context can only be given before the first prompt",
        retryable: false,
      });
    }
    const messages = seedMessages(op);
    for (const message of messages) this.#history.push(message);
    if (messages.length > 0) this.#history.lastTurn = undefined;
    return this.#voice.reply(op, "ok");
  }

  // --- for the extensions ---

  #control(): SessionControl {
    return {
      state: this.#state,
      messages: this.#history.messages,
      handle: this.handle,
      sessionId: this.#deps.sessionId,
      emit: (event) => this.#voice.emit(event),
      configure: async (patch) => {
        await this.#settings.change(patch);
        this.#updated();
      },
      reset: (messages) => {
        this.#state.callIds.know(messages);
        this.#history.reset(messages);
      },
      used: () => this.#history.measured?.tokens,
      compact: (signal) => this.#compact(signal),
      openStore: () => this.#deps.openStore(),
      trace: () => this.#turns.trace,
      config: () => this.config,
      model: () => this.#settings.model,
    };
  }

  async #compact(signal: AbortSignal): Promise<Compacted> {
    const { compactNow, windowOf } = await import("../turn/compaction.js");
    const model = this.#settings.model;
    const emit: Emit = (event) => this.#voice.emit(event);
    const { trace } = this.#turns;
    return compactNow({ history: this.#history, model, contextLimit: windowOf(this.config, model), emit, signal, trace, addUsage() {} });
  }

  // --- the end ---

  /** No host answers any more: what waits is denied, what runs and is queued may end. */
  async drain(): Promise<void> {
    await this.#configuring;
    const drained = this.#turns.drain();
    const reason = "the host closed its input";
    this.#state.approvals.close(reason);
    this.#state.hostRequests.close(reason);
    await Promise.all([drained, this.#suggested()]);
  }

  /** What is being looked up for a host that has closed its input is worth a moment, and no more. */
  async #suggested(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const moment = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LAST_HINTS_MS);
    });
    await Promise.race([Promise.all(this.#suggesting), moment]);
    clearTimeout(timer);
  }

  /** Interrupts, ends every child, tells `session.ended`. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#turns.close();
    await this.#extensions.close();
    await Promise.all([...this.#state.children].map((child) => child.end(GRACE_MS)));
    await this.#voice.recorder.close(() => this.#kept());
    await this.#voice.emit({ type: "session.ended" });
  }

  #kept(): KeptSession {
    const { sessionId = this.handle, workspace, name } = this.#deps;
    const { messages, lastTurn } = this.#history;
    return {
      id: sessionId,
      cwd: workspace.root,
      name,
      config: this.config,
      messages,
      lastTurn,
      seen: this.#seen.all(),
      seq: this.#voice.seq,
    };
  }
}

function recoveryText({ unknown, torn }: Crash): string {
  const cut = "The last run of this session ended in the middle of a turn.";
  if (unknown.length === 0) return `${cut} ${torn ? "Whether a call was running then is not known." : "No call was running then."}`;
  return `${cut} Whether these calls took effect is unknown, and they are not run again: ${unknown.map(({ name, title }) => title ?? name).join("; ")}`;
}

function protectionOf({ extensions, env, workspace }: SessionDeps): Protection {
  if (extensions === undefined) return new Protection({ workspace, env });
  const { home, userHome } = extensions;
  const others = [env["ANTE_HOME"] || join(userHome, ".ante"), join(userHome, ".agents"), join(userHome, ".claude")];
  return new Protection({ workspace, env, home, others });
}
