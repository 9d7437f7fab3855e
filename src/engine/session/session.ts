/** A session: its parts, its ops, its start and its end. turn-queue.ts has its turns. */
import type { Mode, SessionConfig } from "../../core/config.js";
import type { TodoItem } from "../../core/content.js";
import { messageOf, toFault } from "../../core/errors.js";
import type { EventOf } from "../../core/event.js";
import { ANSWER_SECONDS } from "../../core/limits.js";
import type { Op, OpOf } from "../../core/op.js";
import type { Redactor } from "../../core/secrets/redact.js";
import { CallIds } from "../calls/ids.js";
import { AccessLock, FileOrder } from "../calls/locks.js";
import { PendingApprovals } from "../permissions/pending-approvals.js";
import type { SessionGrants } from "../permissions/grants/session-grants.js";
import { Permissions, UNASKED } from "../permissions/permissions.js";
import type { Rules } from "../permissions/rules.js";
import { damageIn } from "../store/jsonl/read-log.js";
import { nextSeq } from "../store/seq.js";
import type { KeptSession, SessionLog, StoredSession } from "../store/store.js";
import { AgentShell } from "../tools/shell/agent-shell.js";
import { OutputFiles } from "../tools/shell/output-files.js";
import type { Compacted } from "../turn/compaction/compaction.js";
import { Interrupted, untilAborted } from "../turn/interrupt.js";
import type { Emit } from "../turn/turn.js";
import type { FileChanges } from "../undo/file-changes.js";
import { askedBy } from "../undo/asked.js";
import { SessionUndo } from "../undo/session-undo.js";
import type { Workspace } from "../workspace/workspace.js";
import { sessionCapabilities } from "./capabilities.js";
import { ChangeOrder } from "./change-order.js";
import type { SessionControl } from "./control.js";
import { SessionExtensions } from "./extensions.js";
import { History, todosIn } from "./history.js";
import { HostRequests } from "./host-requests.js";
import type { Replay } from "./open.js";
import { fileGuardOf, readsOnlyOf } from "./lazy-checks.js";
import { recover, recoveryText } from "./recovery.js";
import { seedMessages } from "./seed.js";
import { SeenFileMap } from "./seen-files.js";
import type { EngineServices, SessionServices } from "./services.js";
import { SessionEvents } from "./session-events.js";
import { SessionSettings, type OpenedSettings } from "./settings.js";
import { TurnQueue } from "./turn-queue.js";
import { unfinishedIn } from "./unfinished.js";

/** The grace from TERM to KILL for processes of the session. */
const GRACE_MS = 2000;
/** The time for open suggestions after the host has closed its input. */
const LAST_HINTS_MS = 5000;

/** The values that a session is opened with. */
export interface Opened extends OpenedSettings {
  handle: string;
  workspace: Workspace;
  rules: Rules;
  grants: SessionGrants;
  name: string | undefined;
  /** Undefined if the session is not stored. */
  sessionId: string | undefined;
  log: SessionLog | undefined;
  /** The stored session, if it is resumed. */
  stored: StoredSession | undefined;
}

type SessionDescription = Pick<EventOf<"session.updated">, "sessionId" | "name" | "config" | "capabilities">;

export class Session implements SessionServices {
  readonly handle: string;
  readonly sessionId: string | undefined;
  readonly engine: EngineServices;
  readonly workspace: Workspace;
  readonly events: SessionEvents;
  readonly history: History;
  readonly seen: SeenFileMap;
  readonly permissions: Permissions;
  readonly callIds: CallIds;
  readonly settings: SessionSettings;
  readonly extensions: SessionExtensions;
  readonly approvals = new PendingApprovals();
  readonly hostRequests = new HostRequests();
  readonly fileOrder = new FileOrder();
  readonly access = new AccessLock();
  readonly shell = new AgentShell();
  readonly outputs: OutputFiles;
  readonly notes = new Set<string>();
  readonly children = new Set<{ end(graceMs: number): Promise<void> }>();
  readonly #stored: StoredSession | undefined;
  readonly #turns: TurnQueue;
  readonly #undo: SessionUndo;
  readonly #ending = new AbortController();
  #closing: Promise<void> | undefined;
  readonly #order: ChangeOrder;
  readonly #suggesting = new Set<Promise<void>>();

  constructor(engine: EngineServices, opened: Opened) {
    const { handle, sessionId, name, stored, workspace, config } = opened;
    this.handle = handle;
    this.sessionId = sessionId;
    this.engine = engine;
    this.workspace = workspace;
    this.outputs = new OutputFiles(workspace.sandbox);
    this.#stored = stored;
    const identity = { ...(sessionId !== undefined && { sessionId }), ...(name !== undefined && { name }) };
    this.events = new SessionEvents(handle, identity, engine, opened.log, stored === undefined ? 0 : nextSeq(stored.seq));
    this.history = new History(stored?.messages, this.events.recorder, stored?.lastTurn);
    this.seen = new SeenFileMap(stored?.seen, (path, stamp) => this.events.recorder.seen(path, stamp));
    this.permissions = new Permissions(
      config.mode ?? "default",
      config.approveTools ?? UNASKED,
      opened.rules,
      fileGuardOf(engine, workspace),
      readsOnlyOf(engine, workspace),
      opened.grants,
    );
    this.callIds = new CallIds(stored?.messages);
    this.settings = new SessionSettings(this, opened);
    const { redactor, env, version } = engine;
    this.#undo = new SessionUndo(this, opened.log, this.#ending.signal);
    this.extensions = new SessionExtensions(engine.extensions, { control: this.#control(), redactor, env, version });
    this.#turns = new TurnQueue(this);
    this.#order = new ChangeOrder(this.events);
  }

  /** Closes in the log what a crash left open. Throws a fault when it cannot be written. */
  recover(): void {
    if (this.#stored !== undefined) recover(this.events, this.#stored, this.kept());
  }

  /** Emits `session.ready` and the events that the host missed; then a warning about calls with an unknown end. */
  async begin(ready: Omit<EventOf<"session.ready">, keyof SessionDescription | "type">, replay: Replay | undefined): Promise<void> {
    const unfinished = unfinishedIn(this.history.messages, this.history.lastTurn);
    void this.events.tell({ type: "session.ready", ...ready, ...(unfinished !== undefined && { unfinished }), ...this.#description() });
    if (replay !== undefined && !(await this.#replay(replay))) return;
    // The first line goes out at the next tick. Then the code for the first turn is loaded, while the host is idle.
    setImmediate(() => setImmediate(() => this.#warmUp()));
    const early = this.events.opened();
    const { id = "", crash, unsavedSince, unreadable = [] } = this.#stored ?? {};
    const damage = damageIn(id, unreadable);
    if (damage !== undefined) this.events.warn(damage);
    if (crash !== undefined) {
      void this.events.tell({
        type: "notice",
        level: "warning",
        kind: "recovered",
        text: recoveryText(crash),
        data: { unknown: crash.unknown },
      });
    }
    if (unsavedSince !== undefined)
      this.events.warn(`What this session did after ${new Date(unsavedSince).toISOString()} could not be saved then`);
    for (const { text, kind } of early) this.events.warn(text, kind);
  }

  /** Emits missed events as fast as the host reads them. Returns false if the session was closed meanwhile. */
  async #replay({ events }: Replay): Promise<boolean> {
    try {
      for await (const event of events) {
        const full = this.events.replay(event);
        if (full !== undefined) await untilAborted(this.#ending.signal, full);
        if (this.#ending.signal.aborted) return false;
      }
    } catch (error) {
      if (error instanceof Interrupted) return false;
      this.events.warn(`The rest of the replay could not be read: ${messageOf(error)}`);
    }
    return true;
  }

  #warmUp(): void {
    const { engine, handle, sessionId } = this;
    const tracing = engine.openTrace?.(handle, sessionId);
    void Promise.all([this.#turns.load(), this.settings.model.warm?.(), this.extensions.start(), tracing]).catch(() => {});
  }

  get config(): SessionConfig {
    return this.settings.config;
  }

  get redactor(): Redactor {
    return this.engine.redactor;
  }

  get outputChars(): number {
    return this.engine.outputChars;
  }

  get answerSeconds(): number {
    return this.config.answerSeconds ?? ANSWER_SECONDS;
  }

  todos(): readonly TodoItem[] {
    return todosIn(this.history.messages);
  }

  changes(warn: (text: string) => void): FileChanges | undefined {
    return this.#undo.changes(warn);
  }

  setMode(mode: Mode): void {
    this.settings.setMode(mode);
    this.#updated();
  }

  // --- ops ---

  /** Never waits for the work of an op. Returns a promise if unread replies pile up: the sender then waits. */
  take(op: Op): Promise<void> | undefined {
    switch (op.type) {
      case "turn.steer":
        return this.#turns.steer(op);
      case "turn.interrupt":
        // The prompt to interrupt may wait behind a change of the session.
        if (this.#order.isBusy && !this.#turns.has(op)) return this.#order.behind(op, () => this.#turns.interrupt(op));
        return this.#turns.interrupt(op);
      case "approval.answer":
        return this.#answer(op);
      case "host.answer":
        return this.events.reply(op, this.hostRequests.answer(op.request, { ok: op.ok, data: op.data }) ? "ok" : "noop");
      case "command.suggest":
        this.#suggest(op);
        return undefined;
      case "session.rewind":
        return this.#rewind(op);
      case "turn.prompt":
      case "session.configure":
      case "session.seed":
        return this.#inOrder(op);
      case "session.open":
      case "session.close":
      case "session.list":
      case "session.watch":
      case "session.delete":
      case "session.mark":
      case "provider.set":
      case "ping":
      case "shutdown":
      case "other":
        return this.events.refuse(op, { code: "protocol", message: `A session has no ${op.type}`, retryable: false });
      default:
        return op satisfies never;
    }
  }

  #inOrder(op: OpOf<"turn.prompt" | "session.configure" | "session.seed">): Promise<void> | undefined {
    const isPlain = op.type === "session.seed" || (op.type === "turn.prompt" && op.command === undefined);
    if (isPlain && !this.#order.isBusy) return this.#change(op);
    return this.#order.behind(op, () => this.#change(op));
  }

  #change(op: OpOf<"turn.prompt" | "session.configure" | "session.seed">): Promise<void> | undefined {
    if (op.type === "turn.prompt") return op.command === undefined ? this.#turns.prompt(op) : this.#command(op, op.command);
    return op.type === "session.seed" ? this.#seed(op) : this.#configure(op);
  }

  #rewind(op: OpOf<"session.rewind">): Promise<void> | undefined {
    const message = "A turn runs or waits: interrupt it, or wait for its end, and rewind then";
    const refuse = (): Promise<void> | undefined => this.events.refuse(op, { code: "session", message, retryable: true });
    if (this.#turns.isBusy) return refuse();
    return this.#order.behind(op, async () => {
      if (this.#turns.isBusy) return refuse();
      await this.#turns.settled;
      await this.events.reply(op, "ok", await this.#undo.rewind(askedBy(op)));
    });
  }

  /** A command that may run beside a turn runs at once; others are queued. */
  async #command(op: OpOf<"turn.prompt">, given: NonNullable<OpOf<"turn.prompt">["command"]>): Promise<void> {
    const { args = "" } = given;
    const command = await this.extensions.command(given);
    if (command.immediate?.(args) !== true) return this.#turns.prompt(op);
    await this.events.reply(op, "ok", { command: given, result: await command.run(args, new AbortController().signal) });
  }

  #suggest(op: OpOf<"command.suggest">): void {
    const answered = this.extensions
      .suggest(op, (status, data) => this.events.reply(op, status, data))
      .catch((error: unknown) => this.events.refuse(op, toFault(error)))
      .finally(() => this.#suggesting.delete(answered));
    this.#suggesting.add(answered);
  }

  #answer(op: OpOf<"approval.answer">): Promise<void> | undefined {
    const settled: string[] = [];
    const unknown: string[] = [];
    for (const answer of op.answers) {
      const taken = this.approvals.answer(answer);
      if (taken === "unknown") unknown.push(answer.call);
      if (taken === "settled") settled.push(answer.call);
    }
    const [first] = unknown;
    if (first !== undefined) {
      const others = unknown.length === 1 ? "" : ` and ${unknown.length - 1} more`;
      return this.events.refuse(op, {
        code: "protocol",
        message: `No approval was asked for call '${first}'${others}`,
        retryable: false,
        param: first,
      });
    }
    const [call] = settled;
    if (call !== undefined) return this.events.reply(op, "noop", { call });
    return op.answers.length === 0 ? this.events.reply(op, "noop") : undefined;
  }

  async #configure(op: OpOf<"session.configure">): Promise<void> {
    await this.settings.change(op.patch);
    this.#updated(op.id);
  }

  rename(name: string): void {
    this.events.identity.name = name;
    this.#updated();
  }

  #updated(parent?: string): void {
    const answers = parent === undefined ? {} : { parent };
    void this.events.tell({ type: "session.updated", ...this.#description(), ...answers });
  }

  /** The session as the host sees it. */
  #description(): SessionDescription {
    const capabilities = sessionCapabilities(this.settings.model, this.config, {
      extensions: this.engine.extensions !== undefined,
      sandbox: this.workspace.sandbox?.name,
    });
    return { ...this.events.identity, config: this.config, capabilities };
  }

  #seed(op: OpOf<"session.seed">): Promise<void> | undefined {
    if (this.#turns.prompted) {
      return this.events.refuse(op, {
        code: "protocol",
        message: "Prior context can only be given before the first prompt",
        retryable: false,
      });
    }
    const messages = seedMessages(op);
    for (const message of messages) this.history.push(message);
    if (messages.length > 0) this.history.lastTurn = undefined;
    return this.events.reply(op, "ok");
  }

  // --- for the extensions ---

  #control(): SessionControl {
    return {
      session: this,
      messages: this.history.messages,
      handle: this.handle,
      sessionId: this.sessionId,
      emit: (event) => this.events.tell(event),
      configure: async (patch) => {
        await this.settings.change(patch);
        this.#updated();
      },
      reset: (messages) => {
        this.callIds.know(messages);
        this.history.reset(messages);
      },
      used: () => this.history.measured?.tokens,
      compact: (signal) => this.#compact(signal),
      turns: () => this.#undo.turns(),
      changes: () => this.#undo.changed(),
      rewind: (asked) => this.#undo.rewind(asked),
      openStore: () => this.engine.openStore(),
      trace: () => this.#turns.trace,
      config: () => this.config,
      model: () => this.settings.model,
    };
  }

  async #compact(signal: AbortSignal): Promise<Compacted> {
    const { compactNow } = await import("../turn/compaction/compaction.js");
    const { history, settings, config, seen } = this;
    const emit: Emit = (event) => this.events.tell(event);
    const trace = this.#turns.trace;
    return compactNow({ history, model: settings.model, config, emit, signal, trace, used: { total: undefined }, seen });
  }

  // --- the end ---

  /** The host will not answer any more: open approvals are denied; running and queued turns may end. */
  async drain(): Promise<void> {
    await this.#order.settled;
    const drained = this.#turns.drain();
    const reason = "the host closed its input";
    this.approvals.close(reason);
    this.hostRequests.close(reason);
    await Promise.all([drained, this.#suggested()]);
  }

  /** Suggestions get a short time after the host has closed its input. */
  async #suggested(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const moment = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LAST_HINTS_MS);
    });
    await Promise.race([Promise.all(this.#suggesting), moment]);
    clearTimeout(timer);
  }

  /** Interrupts, ends every child, and emits `session.ended`. */
  close(): Promise<void> {
    this.#ending.abort();
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** A part that fails to end must not keep the others from ending. */
  async #close(): Promise<void> {
    const parts = [
      () => this.#turns.close(),
      () => this.#undo.settled(),
      () => this.extensions.close(),
      () => Promise.all([...this.children].map((child) => child.end(GRACE_MS))),
      () => Promise.resolve(this.outputs.remove()),
      () => Promise.resolve(this.workspace.sandbox?.close()),
      () => this.events.recorder.close(() => this.kept()),
    ];
    for (const end of parts) {
      try {
        await end();
      } catch (error) {
        this.events.warn(`A part of the session did not end in order: ${messageOf(error)}`);
      }
    }
    await this.events.tell({ type: "session.ended" });
  }

  kept(): KeptSession {
    const { sessionId: id = this.handle, workspace, config, events } = this;
    const { messages, lastTurn } = this.history;
    const { name } = events.identity;
    return { id, cwd: workspace.root, name, config, messages, lastTurn, seen: this.seen.all(), seq: events.seq };
  }
}
