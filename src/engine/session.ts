/** A session: it takes ops, keeps prompts in order, and runs one turn at a time. */
import type { SessionConfig } from "../core/config.js";
import type { Part } from "../core/content.js";
import type { Fault } from "../core/errors.js";
import { toFault } from "../core/errors.js";
import type { Event, EventOf } from "../core/event.js";
import { mintId } from "../core/ids.js";
import type { Op, OpOf } from "../core/op.js";
import type { Redactor } from "../core/redact.js";
import { PendingApprovals, Permissions, UNASKED } from "./approval.js";
import { HostRequests } from "./host-requests.js";
import { Locks } from "./locks.js";
import type { Message, Model } from "./models/model.js";
import { compileRules } from "./rules.js";
import type { Draft, Emit } from "./run.js";
import { SeenFileMap, type SessionState } from "./session-state.js";
import { toolbox } from "./toolbox.js";
import type { Tool } from "./tools/tool.js";
import { runTurn } from "./turn.js";
import type { Workspace } from "./workspace.js";

/** Prompts that may wait behind a turn. */
const QUEUE_LIMIT = 64;
/** Seconds that an approval waits when nobody says otherwise. */
const ANSWER_SECONDS = 300;
/** From TERM to KILL for what a turn started, and for what the session kept. */
const GRACE_MS = 2000;

export interface SessionDeps {
  handle: string;
  config: SessionConfig;
  workspace: Workspace;
  tools: readonly Tool[];
  redactor: Redactor;
  outputChars: number;
  openModel(config: SessionConfig): Promise<Model>;
  emit(event: Event): Promise<void> | undefined;
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
  readonly #history: Message[] = [];
  #model: Model;
  #queue: QueuedPrompt[] = [];
  #live: LiveTurn | undefined;
  #running: Promise<void> = Promise.resolve();
  #prompted = false;
  #closing: Promise<void> | undefined;

  /** Opens the model first: a missing key is the opener's error, and there is no session then. */
  static async open(deps: SessionDeps): Promise<Session> {
    const model = await deps.openModel(deps.config);
    const { config } = deps;
    const permissions = new Permissions(config.mode ?? "default", config.approveTools ?? UNASKED, await compileRules(config.rules ?? []));
    return new Session(deps, model, permissions);
  }

  private constructor(deps: SessionDeps, model: Model, permissions: Permissions) {
    this.handle = deps.handle;
    this.config = { ...deps.config, provider: model.provider, model: model.id };
    this.#deps = deps;
    this.#model = model;
    this.#state = {
      workspace: deps.workspace,
      permissions,
      approvals: new PendingApprovals(),
      hostRequests: new HostRequests(),
      locks: new Locks(),
      seen: new SeenFileMap(),
      children: new Set(),
      outputChars: deps.outputChars,
      answerSeconds: deps.config.answerSeconds ?? ANSWER_SECONDS,
      todos: [],
    };
  }

  // --- ops ---

  async take(op: Op): Promise<void> {
    switch (op.type) {
      case "turn.prompt":
        return this.#prompt(op);
      case "turn.steer":
        return this.#steer(op);
      case "turn.interrupt":
        return this.#interrupt(op);
      case "approval.answer":
        return this.#answer(op);
      case "host.answer":
        return this.#reply(op, this.#state.hostRequests.answer(op.request, { ok: op.ok, data: op.data }) ? "ok" : "noop");
      case "session.configure":
        return this.#configure(op);
      case "session.seed":
        return this.#seed(op);
      default:
        return this.#refuse(op, { code: "protocol", message: `A session has no ${op.type}`, retryable: false });
    }
  }

  async #prompt(op: OpOf<"turn.prompt">): Promise<void> {
    if (this.#closing !== undefined) return this.#refuse(op, { code: "session", message: "The session is closing", retryable: false });
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
  }

  async #steer(op: OpOf<"turn.steer">): Promise<void> {
    if (this.#live === undefined) return this.#reply(op, "noop");
    this.#live.steering.push(...op.parts);
    this.#reply(op, "ok");
  }

  #interrupt(op: OpOf<"turn.interrupt">): void {
    const queued = this.#queue.find((prompt) => prompt.turn === op.turn);
    const hit = op.turn === undefined || op.turn === this.#live?.id ? this.#live : undefined;
    if (queued !== undefined) queued.cancelled = true;
    if (hit !== undefined) this.#stop(hit, op.reason ?? "interrupted by the host");
    this.#reply(op, queued === undefined && hit === undefined ? "noop" : "ok");
  }

  #answer(op: OpOf<"approval.answer">): void {
    for (const answer of op.answers) {
      const taken = this.#state.approvals.answer(answer);
      if (taken === "unknown") {
        this.#refuse(op, {
          code: "protocol",
          message: `No approval was asked for call '${answer.call}'`,
          retryable: false,
          param: answer.call,
        });
      } else if (taken === "settled") {
        this.#reply(op, "noop", { call: answer.call });
      }
    }
  }

  /** The mode counts from the next call on, the rest from the next turn on. Nothing changes when a part of it is wrong. */
  async #configure(op: OpOf<"session.configure">): Promise<void> {
    const { patch } = op;
    if (patch.cwd !== undefined && patch.cwd !== this.config.cwd) {
      return this.#refuse(op, {
        code: "config",
        message: "The folder of a session cannot change; open another session",
        retryable: false,
        param: "cwd",
      });
    }
    const next = { ...this.config, ...patch };
    if (patch.model !== undefined && patch.provider === undefined) delete next.provider;
    try {
      const reopened = patch.model !== undefined || patch.provider !== undefined ? await this.#deps.openModel(next) : this.#model;
      const rules = await compileRules(next.rules ?? []);
      this.#model = reopened;
      this.#state.permissions.rules = rules;
    } catch (error) {
      return this.#refuse(op, toFault(error));
    }
    this.config = { ...next, provider: this.#model.provider, model: this.#model.id };
    this.#state.permissions.mode = next.mode ?? "default";
    this.#state.permissions.approveTools = next.approveTools ?? UNASKED;
    void this.#emit({ type: "session.updated", sessionId: this.handle, config: this.config, parent: op.id });
  }

  #seed(op: OpOf<"session.seed">): void {
    if (this.#prompted) {
      return this.#refuse(op, { code: "protocol", message: "Prior context can only be given before the first prompt", retryable: false });
    }
    this.#history.push({ role: "user", parts: [{ type: "text", text: op.text }] });
    this.#history.push({ role: "assistant", blocks: [{ type: "text", text: "I have read the earlier context." }] });
    this.#reply(op, "ok");
  }

  // --- turns ---

  async #runQueue(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) await this.#runTurn(next);
  }

  async #runTurn({ op, turn, cancelled }: QueuedPrompt): Promise<void> {
    const live: LiveTurn = { id: turn, abort: new AbortController(), steering: [], reason: undefined };
    this.#live = live;
    const address = { turn, ...(op.id !== undefined && { parent: op.id }) };
    const emit: Emit = (draft) => this.#emit({ ...draft, ...address });
    await emit({ type: "turn.started" });
    if (cancelled) this.#stop(live, "interrupted before it began");
    const config = { ...this.config, ...op.overrides };
    const end = await this.#work(op, live, config, emit, (call) => (draft) => this.#emit({ ...draft, ...address, under: call }));
    const reason = end.outcome === "interrupted" && live.reason !== undefined ? { reason: live.reason } : {};
    this.#live = undefined;
    await emit({ type: "turn.ended", ...end, ...reason });
  }

  async #work(
    op: OpOf<"turn.prompt">,
    live: LiveTurn,
    config: SessionConfig,
    emit: Emit,
    emitUnder: (call: string) => Emit,
  ): Promise<Omit<EventOf<"turn.ended">, "type">> {
    const { redactor } = this.#deps;
    try {
      const { provider, model } = op.overrides ?? {};
      const host = { requests: this.#state.hostRequests, emit, seconds: this.#state.answerSeconds };
      return await runTurn({
        state: this.#state,
        config,
        model: provider === undefined && model === undefined ? this.#model : await this.#deps.openModel(config),
        tools: toolbox(this.#deps.tools, withOverrides(config, op), host),
        history: this.#history,
        redactor,
        signal: live.abort.signal,
        parts: op.parts,
        takeSteering: () => live.steering.splice(0),
        emit,
        emitUnder,
      });
    } catch (error) {
      const fault = redactor.value(toFault(error));
      await emit({ type: "error", fault });
      return { outcome: "failed", reason: fault.message, fault };
    }
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
    await Promise.all([...this.#state.children].map((child) => child.end(GRACE_MS)));
    await this.#emit({ type: "session.ended" });
  }

  // --- telling ---

  #reply(op: Op, status: "ok" | "noop", data?: unknown): void {
    void this.#emit({ type: "reply", to: op.type, status, parent: op.id, ...(data !== undefined && { data }) });
  }

  #refuse(op: Op, fault: Fault): void {
    void this.#emit({ type: "reply", to: op.type, status: "error", fault: this.#deps.redactor.value(fault), parent: op.id });
  }

  #emit(event: Draft & { turn?: string; parent?: string | undefined; under?: string }): Promise<void> | undefined {
    return this.#deps.emit({ ...event, session: this.handle });
  }
}

function withOverrides(config: SessionConfig, op: OpOf<"turn.prompt">): SessionConfig {
  const { tools, hostTools } = op.overrides ?? {};
  return {
    ...config,
    ...(tools !== undefined && { allowedTools: tools }),
    ...(hostTools !== undefined && { hostTools: [...(config.hostTools ?? []), ...hostTools] }),
  };
}
