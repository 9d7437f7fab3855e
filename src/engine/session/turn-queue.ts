/** The turns of a session: prompts and commands in their order, one at a time, steered, interrupted, each with exactly one end. */
import { setMaxListeners } from "node:events";
import type { SessionConfig } from "../../core/config.js";
import type { Part } from "../../core/content.js";
import { toFault, type ParleyError } from "../../core/errors.js";
import type { EventOf } from "../../core/event.js";
import { mintId } from "../../core/ids.js";
import { QUEUE_LIMIT } from "../../core/limits.js";
import type { OpOf } from "../../core/op.js";
import { roughSize } from "../../core/queue.js";
import type { Redactor } from "../../core/redact.js";
import { beginTurn, type Begun } from "./begin-turn.js";
import type { History } from "./history.js";
import type { MemoryLimit } from "./memory-limit.js";
import type { OwnProviders } from "../../core/choose-provider.js";
import type { Model } from "../models/model.js";
import { withModel } from "./open.js";
import type { Emit } from "../turn/run.js";
import type { SessionExtensions } from "./extensions.js";
import { withOverrides } from "./overrides.js";
import { rulesOf, type SessionSettings } from "./settings.js";
import type { SessionState } from "./state.js";
import type { SessionVoice } from "./session-events.js";
import type { KeptSession } from "../store/store.js";
import type { Tool } from "../tools/tool.js";
import type { SessionTrace, Trace, TracedSpan } from "../trace/trace.js";
import { startClock } from "./turn-clock.js";
import { afterTurn } from "./unfinished.js";

/** Steered words that wait for the model. */
const STEERING_BYTES = 1024 * 1024;

interface TurnsDeps {
  state: SessionState;
  settings: SessionSettings;
  voice: SessionVoice;
  history: History;
  extensions: SessionExtensions;
  redactor: Redactor;
  memory: MemoryLimit;
  openModel(config: SessionConfig): Promise<Model>;
  /** The config's own: whose models are whose. */
  providers: OwnProviders;
  openTrace: (() => Promise<SessionTrace | undefined>) | undefined;
  /** A turn changed the session's mode. */
  onMode(): void;
  kept(): KeptSession;
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
  steering: Steering;
  reason: string | undefined;
  /** Where traces are collected: what it is below, and itself once it has begun. */
  trace: Trace | undefined;
  span: TracedSpan | undefined;
}

/** Words that wait for the model, about how many bytes they are, and the op that brought the first of them. */
interface Steering {
  parts: Part[];
  bytes: number;
  op: string | undefined;
}

export class SessionTurns {
  /** Since the session was opened. */
  prompted = false;
  readonly #deps: TurnsDeps;
  readonly #state: SessionState;
  readonly #settings: SessionSettings;
  readonly #voice: SessionVoice;
  readonly #history: History;
  readonly #extensions: SessionExtensions;
  #queue: QueuedPrompt[] = [];
  #live: LiveTurn | undefined;
  #running: Promise<void> = Promise.resolve();
  #closing: "draining" | "now" | undefined;
  #module: Promise<typeof import("../turn/turn.js")> | undefined;
  /** Entries of the session's lists of tools. */
  readonly #toldUnknown = new Set<string>();

  constructor(deps: TurnsDeps) {
    this.#deps = deps;
    this.#state = deps.state;
    this.#settings = deps.settings;
    this.#voice = deps.voice;
    this.#history = deps.history;
    this.#extensions = deps.extensions;
  }

  get trace(): Trace | undefined {
    return this.#live?.span ?? this.#live?.trace;
  }

  // --- ops ---

  prompt(op: OpOf<"turn.prompt">): Promise<void> | undefined {
    if (this.#closing !== undefined)
      return this.#voice.refuse(op, { code: "session", message: "The session is closing", retryable: false });
    if (this.#queue.length >= QUEUE_LIMIT) {
      return this.#voice.refuse(op, {
        code: "limit",
        message: `${QUEUE_LIMIT} prompts wait already; this one was refused`,
        retryable: true,
      });
    }
    const turn = op.turn ?? mintId();
    if (this.#live?.id === turn || this.#queue.some((queued) => queued.turn === turn)) {
      return this.#voice.refuse(op, { code: "protocol", message: `There is a turn '${turn}' already`, retryable: false });
    }
    this.prompted = true;
    this.#queue.push({ op, turn, cancelled: false });
    if (this.#queue.length === 1 && this.#live === undefined) this.#running = this.#running.then(() => this.#runQueue());
    return undefined;
  }

  steer(op: OpOf<"turn.steer">): Promise<void> | undefined {
    if (this.#live === undefined) return this.#voice.reply(op, "noop");
    const { steering } = this.#live;
    const bytes = roughSize(op.parts);
    if (steering.bytes + bytes > STEERING_BYTES) {
      return this.#voice.refuse(op, {
        code: "limit",
        message: `More than ${STEERING_BYTES} bytes of steering wait already`,
        retryable: true,
      });
    }
    this.#voice.recorder.steered(op.parts);
    steering.parts.push(...op.parts);
    steering.bytes += bytes;
    steering.op ??= op.id;
    return this.#voice.reply(op, "ok");
  }

  interrupt(op: OpOf<"turn.interrupt">): Promise<void> | undefined {
    const { queued, hit } = this.#meant(op);
    if (queued !== undefined) queued.cancelled = true;
    if (hit !== undefined) this.#stop(hit, op.reason ?? "interrupted by the host");
    return this.#voice.reply(op, queued === undefined && hit === undefined ? "noop" : "ok");
  }

  /** Whether an interrupt finds what it means. */
  has(op: OpOf<"turn.interrupt">): boolean {
    const { queued, hit } = this.#meant(op);
    return queued !== undefined || hit !== undefined;
  }

  /** Without a turn: the one that runs, or the next. */
  #meant(op: OpOf<"turn.interrupt">): { queued: QueuedPrompt | undefined; hit: LiveTurn | undefined } {
    const waits = op.turn === undefined && this.#live === undefined ? this.#queue[0] : undefined;
    const queued = waits ?? this.#queue.find((prompt) => prompt.turn === op.turn);
    const hit = op.turn === undefined || op.turn === this.#live?.id ? this.#live : undefined;
    return { queued, hit };
  }

  // --- turns ---

  async #runQueue(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) await this.#runTurn(next);
  }

  async #runTurn({ op, turn, cancelled }: QueuedPrompt): Promise<void> {
    const live: LiveTurn = {
      id: turn,
      abort: new AbortController(),
      steering: noSteering(),
      reason: undefined,
      trace: undefined,
      span: undefined,
    };
    // Every call of the turn listens; that is no leak.
    setMaxListeners(0, live.abort.signal);
    this.#live = live;
    this.#state.permissions.forTurn = [];
    this.#state.permissions.turnLimits = undefined;
    const tracing = this.#deps.openTrace === undefined ? undefined : await this.#deps.openTrace();
    if (tracing !== undefined) live.trace = (op.trace === undefined ? undefined : tracing.below(op.trace)) ?? tracing.root();
    const begun = await beginTurn(op, { ...this.#deps, tools: () => this.#tools(op, live.abort.signal) }, live.abort.signal, cancelled);
    if (begun === undefined) {
      if (live.steering.parts.length > 0) this.#keepSteering(live.steering, live.abort.signal.aborted ? "interrupted" : "completed");
      this.#live = undefined;
      return;
    }
    ({ op } = begun);
    const address = { turn, ...(op.id !== undefined && { parent: op.id }) };
    const emit: Emit = (draft) => this.#voice.emit(draft, address);
    const heard = (parts: Part[]): void => this.#voice.recorder.event(this.#voice.stamped({ type: "user.message", parts }, address));
    const started = this.#voice.stamped({ type: "turn.started" }, address);
    this.#voice.recorder.event(started);
    // In the log before the start is told: a prompt that was acknowledged is never lost.
    heard(op.parts);
    if (begun.calls.length > 0) this.#voice.recorder.asked(begun.calls);
    const { pushed } = this.#history;
    // As things are now: what changes from here on counts from the next turn on.
    const { model, fallbacks } = this.#settings;
    const settings = { config: { ...this.#settings.config, ...op.overrides }, model, fallbacks };
    live.span = live.trace?.turn(turn);
    await this.#voice.push(started);
    if (op.trace !== undefined && tracing !== undefined && tracing.below(op.trace) === undefined)
      await emit({ type: "notice", level: "debug", kind: "trace", text: "The prompt's trace is no W3C traceparent and was ignored" });
    if (cancelled) this.#stop(live, "interrupted before it began");
    const stopClock = startClock(settings.config.maxSeconds, (limit) => this.#stop(live, limit.message, limit));
    const end = await this.#work(
      begun,
      live,
      settings,
      heard,
      emit,
      (call) => (draft) => this.#voice.emit(draft, { ...address, under: call }),
    );
    stopClock();
    live.span?.endTurn(end);
    if (live.steering.parts.length > 0) this.#keepSteering(live.steering, end.outcome);
    if (this.#history.pushed > pushed) this.#history.lastTurn = afterTurn(end, this.#history.messages.at(-1));
    const reason = end.outcome === "interrupted" && live.reason !== undefined ? { reason: live.reason } : {};
    this.#live = undefined;
    const ended = this.#voice.stamped({ type: "turn.ended", ...end, ...reason }, address);
    this.#voice.recorder.event(ended);
    this.#voice.recorder.syncSoon();
    await this.#voice.push(ended);
    await this.#voice.recorder.settle(() => this.#deps.kept());
  }

  async #tools(op: OpOf<"turn.prompt">, signal: AbortSignal): Promise<ReadonlyMap<string, Tool>> {
    return (await this.#outfit(op, this.#settings.config, (event) => this.#voice.emit(event), signal)).tools;
  }

  /** What surrounds a turn now, and the tools that its prompt has; `known`: the names of those, too, that lists leave out. */
  async #outfit(op: OpOf<"turn.prompt">, config: SessionConfig, emit: Emit, signal: AbortSignal) {
    const [{ toolbox, toolNames }, around] = await Promise.all([this.load(), this.#extensions.forTurn(signal)]);
    const { tools: own, instructions, hooks } = around;
    const host = { requests: this.#state.hostRequests, emit, seconds: this.#state.answerSeconds };
    const overridden = withOverrides(config, op);
    return { tools: toolbox(overridden, host, own), known: () => toolNames(overridden, own), instructions, hooks };
  }

  async #work(
    { op, calls }: Begun,
    live: LiveTurn,
    { config, model: current, fallbacks }: Pick<SessionSettings, "config" | "model" | "fallbacks">,
    heard: (parts: Part[]) => void,
    emit: Emit,
    emitUnder: (call: string) => Emit,
  ): Promise<Omit<EventOf<"turn.ended">, "type">> {
    const { redactor } = this.#deps;
    try {
      const { runTurn, tellUnknownOfPrompt, tellUnknownOfSession } = await this.load();
      const { provider, model } = op.overrides ?? {};
      const { tools, known, instructions, hooks } = await this.#outfit(op, config, emit, live.abort.signal);
      if (config.allowedTools !== undefined || config.disallowedTools !== undefined)
        await tellUnknownOfSession(config, known(), this.#toldUnknown, emit);
      const { tools: allowedTools } = op.overrides ?? {};
      if (allowedTools !== undefined) {
        await tellUnknownOfPrompt(allowedTools, tools, emit);
        this.#state.permissions.turnLimits = await rulesOf({ allowedTools });
      }
      const used = provider === undefined && model === undefined ? current : await this.#deps.openModel(config);
      live.span?.model(used);
      return await runTurn({
        tools,
        instructions,
        hooks,
        turn: live.id,
        setMode: (mode) => {
          this.#settings.setMode(mode);
          this.#deps.onMode();
        },
        state: this.#state,
        config,
        fallbacks,
        model: used,
        openModel: (name) => this.#deps.openModel(withModel(config, name, this.#deps.providers)),
        history: this.#history,
        persist: () => this.#voice.recorder.sync(),
        redactor,
        signal: live.abort.signal,
        trace: live.span,
        parts: op.parts,
        calls,
        continues: op.continues === true,
        mentioned: op.mentions === true ? () => this.#extensions.mentioned(op, emit, live.abort.signal) : undefined,
        takeSteering() {
          const { parts } = live.steering;
          live.steering = noSteering();
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
  #keepSteering({ parts, op: id }: Steering, outcome: EventOf<"turn.ended">["outcome"]): void {
    if (outcome === "interrupted") return this.#voice.warn("What was steered in went with the interrupted turn");
    this.#queue.unshift({ op: { type: "turn.prompt", id, parts }, turn: mintId(), cancelled: this.#closing === "now" });
  }

  /** Loaded once: even a module that is there costs a look-up each time it is imported. */
  load(): Promise<typeof import("../turn/turn.js")> {
    this.#module ??= import("../turn/turn.js");
    return this.#module;
  }

  /** By the host, or by a limit. */
  #stop(live: LiveTurn, reason: string, limit?: ParleyError): void {
    if (live.abort.signal.aborted) return;
    live.reason = reason;
    // Aborted first: a voided approval must find its call already cancelled.
    live.abort.abort(limit);
    this.#state.approvals.void(reason);
  }

  // --- the end ---

  /** What runs and waits may end; nothing new begins. */
  async drain(): Promise<void> {
    this.#closing ??= "draining";
    await this.#running;
  }

  async close(): Promise<void> {
    this.#closing = "now";
    for (const prompt of this.#queue) prompt.cancelled = true;
    if (this.#live !== undefined) this.#stop(this.#live, "the session was closed");
    await this.#running;
  }
}

function noSteering(): Steering {
  return { parts: [], bytes: 0, op: undefined };
}
