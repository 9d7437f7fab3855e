/** The turns of a session: prompts and commands in order, one at a time, with steering and interrupts; each turn has exactly one end. */
import { setMaxListeners } from "node:events";
import type { SessionConfig } from "../../core/config.js";
import { ParleyError, toFault } from "../../core/errors.js";
import type { EventOf } from "../../core/event.js";
import { mintId } from "../../core/ids.js";
import { QUEUE_LIMIT, timerMs } from "../../core/limits.js";
import type { OpOf } from "../../core/op.js";
import { roughSize } from "../../core/queue.js";
import type { TurnExtensions } from "../extensions/extensions.js";
import type { Tool } from "../tools/tool.js";
import type { Trace, TracedSpan } from "../trace/trace.js";
import type { TurnEnd } from "../turn/run-turn.js";
import { newTurn, takeParts, type Turn } from "../turn/turn.js";
import { admitTurn } from "./admit-turn.js";
import type { SessionServices } from "./services.js";
import { rulesOf } from "./settings.js";
import { afterTurn } from "./unfinished.js";

/** The most bytes of steered text that may wait for the model. */
const STEERING_BYTES = 1024 * 1024;

interface QueuedPrompt {
  op: OpOf<"turn.prompt">;
  turn: string;
  /** Whether the host interrupted it before it began. */
  cancelled: boolean;
}

interface LiveTurn {
  turn: Turn;
  abort: AbortController;
  /** Whether the host interrupted it before it began. */
  cancelled: boolean;
  isTraceIgnored: boolean;
  /** The reason for the stop. */
  reason: string | undefined;
}

export class TurnQueue {
  /** Whether the session got a prompt since it was opened. */
  prompted = false;
  readonly #session: SessionServices;
  #queue: QueuedPrompt[] = [];
  #live: LiveTurn | undefined;
  #running: Promise<void> = Promise.resolve();
  #closing: "draining" | "now" | undefined;
  #module: Promise<typeof import("../turn/run-turn.js")> | undefined;
  /** Unknown names in the session's lists of tools that the host has been warned about. */
  readonly #toldUnknown = new Set<string>();

  constructor(session: SessionServices) {
    this.#session = session;
  }

  get trace(): Trace | undefined {
    return this.#live?.turn.trace;
  }

  /** Whether a turn or a command runs or waits. */
  get isBusy(): boolean {
    return this.#live !== undefined || this.#queue.length > 0;
  }

  /** Resolves when the running turn or command has ended completely. */
  get settled(): Promise<void> {
    return this.#running;
  }

  // --- ops ---

  prompt(op: OpOf<"turn.prompt">): Promise<void> | undefined {
    const { events } = this.#session;
    if (this.#closing !== undefined) return events.refuse(op, { code: "session", message: "The session is closing", retryable: false });
    if (this.#queue.length >= QUEUE_LIMIT) {
      const message = `${QUEUE_LIMIT} prompts wait already; this one was refused`;
      return events.refuse(op, { code: "limit", message, retryable: true });
    }
    const turn = op.turn ?? mintId();
    if (this.#live?.turn.id === turn || this.#queue.some((queued) => queued.turn === turn))
      return events.refuse(op, { code: "protocol", message: `There is a turn '${turn}' already`, retryable: false });
    this.prompted = true;
    this.#queue.push({ op, turn, cancelled: false });
    if (this.#queue.length === 1 && this.#live === undefined) this.#running = this.#running.then(() => this.#runQueue());
    return undefined;
  }

  steer(op: OpOf<"turn.steer">): Promise<void> | undefined {
    const { events } = this.#session;
    if (this.#live === undefined) return events.reply(op, "noop");
    const { steering } = this.#live.turn;
    const bytes = roughSize(op.parts);
    if (steering.bytes + bytes > STEERING_BYTES) {
      const message = `More than ${STEERING_BYTES} bytes of steering wait already`;
      return events.refuse(op, { code: "limit", message, retryable: true });
    }
    events.recorder.steered(op.parts);
    steering.parts.push(...op.parts);
    steering.bytes += bytes;
    steering.op ??= op.id;
    return events.reply(op, "ok");
  }

  interrupt(op: OpOf<"turn.interrupt">): Promise<void> | undefined {
    const { queued, hit } = this.#meant(op);
    if (queued !== undefined) queued.cancelled = true;
    if (hit !== undefined) this.#stop(hit, op.reason ?? "interrupted by the host");
    return this.#session.events.reply(op, queued === undefined && hit === undefined ? "noop" : "ok");
  }

  /** Whether an interrupt has a target. */
  has(op: OpOf<"turn.interrupt">): boolean {
    const { queued, hit } = this.#meant(op);
    return queued !== undefined || hit !== undefined;
  }

  /** An interrupt without a turn is for the running turn, or the next one. */
  #meant(op: OpOf<"turn.interrupt">): { queued: QueuedPrompt | undefined; hit: LiveTurn | undefined } {
    const waits = op.turn === undefined && this.#live === undefined ? this.#queue[0] : undefined;
    const queued = waits ?? this.#queue.find((prompt) => prompt.turn === op.turn);
    const hit = op.turn === undefined || op.turn === this.#live?.turn.id ? this.#live : undefined;
    return { queued, hit };
  }

  // --- turns ---

  async #runQueue(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) await this.#runTurn(next);
  }

  /** Never throws: an internal error ends this turn, and the session goes on. */
  async #runTurn({ op, turn: id, cancelled }: QueuedPrompt): Promise<void> {
    const abort = new AbortController();
    // Every call of the turn adds a listener; that is no leak.
    setMaxListeners(0, abort.signal);
    const turn = newTurn(this.#session, id, op, abort.signal);
    this.#live = { turn, abort, cancelled, isTraceIgnored: false, reason: undefined };
    try {
      if (await this.#admit(this.#live)) await this.#play(this.#live);
      else this.#keepSteering(turn, abort.signal.aborted ? "interrupted" : "completed");
    } catch (error) {
      await this.#refuse(op, error);
    } finally {
      this.#live = undefined;
    }
  }

  /** Answers a prompt without a turn. A refusal that cannot be sent must not stop the queue. */
  async #refuse(op: OpOf<"turn.prompt">, error: unknown): Promise<void> {
    try {
      await this.#session.events.refuse(op, toFault(error));
    } catch {
      this.#session.events.warn("A prompt could not be answered");
    }
  }

  /** Returns false if the prompt was answered without a turn. */
  async #admit(live: LiveTurn): Promise<boolean> {
    const { turn, cancelled } = live;
    const { permissions, engine, handle, sessionId } = this.#session;
    permissions.forTurn = [];
    permissions.turnLimits = undefined;
    const tracing = engine.openTrace === undefined ? undefined : await engine.openTrace(handle, sessionId);
    const given = turn.prompt.trace;
    const above = given === undefined ? undefined : tracing?.below(given);
    live.isTraceIgnored = given !== undefined && tracing !== undefined && above === undefined;
    turn.trace = above ?? tracing?.root();
    if (!(await admitTurn(turn, { cancelled, tools: async () => (await this.#toolsOf(turn)).tools }))) return false;
    this.#takeSettings(turn);
    return true;
  }

  /** Runs a turn from its start to its end, each emitted exactly once. */
  async #play(live: LiveTurn): Promise<void> {
    const { turn, cancelled, isTraceIgnored } = live;
    const { events, history } = this.#session;
    const { pushed } = history;
    const span = turn.trace?.turn(turn.id);
    turn.trace = span;
    // Recorded before the start is sent: an acknowledged prompt is never lost.
    await events.tell({ type: "turn.started" }, turn.address, () => {
      events.record({ type: "user.message", parts: turn.prompt.parts }, turn.address);
      if (turn.calls.length > 0) events.recorder.asked([...turn.calls]);
    });
    if (isTraceIgnored)
      await turn.emit({ type: "notice", level: "debug", kind: "trace", text: "The prompt's trace is no W3C traceparent and was ignored" });
    if (cancelled) this.#stop(live, "interrupted before it began");
    const stopClock = startClock(turn.config.maxSeconds, (limit) => this.#stop(live, limit.message, limit));
    const end = await this.#work(turn, span);
    stopClock();
    await this.#attempt(turn, () => span?.endTurn(end));
    this.#keepSteering(turn, end.outcome);
    if (history.pushed > pushed) history.lastTurn = afterTurn(end, history.messages.at(-1));
    const reason = end.outcome === "interrupted" && live.reason !== undefined ? { reason: live.reason } : {};
    this.#live = undefined;
    const told = turn.emit({ type: "turn.ended", ...end, ...reason });
    events.recorder.syncSoon();
    await told;
    await events.recorder.settle(() => this.#session.kept());
  }

  /** Runs work at the end of a turn. A failure becomes an error event, and the turn still ends. */
  async #attempt(turn: Turn, work: () => void): Promise<void> {
    try {
      work();
    } catch (error) {
      await turn.emit({ type: "error", fault: toFault(error) });
    }
  }

  /** Gives the turn the present settings: later changes take effect with the next turn. */
  #takeSettings(turn: Turn): void {
    const { config, model, fallbacks } = this.#session.settings;
    turn.config = { ...config, ...turn.prompt.overrides };
    turn.model = model;
    turn.ownProvider = model.provider;
    turn.fallbacks = fallbacks;
  }

  /** The tools and extensions of a prompt. `known` also has the names of tools that lists remove. */
  async #toolsOf(turn: Turn): Promise<TurnTools> {
    const { extensions, hostRequests, answerSeconds, workspace } = this.#session;
    const [{ toolbox, toolNames }, around] = await Promise.all([this.load(), extensions.forTurn(turn.signal)]);
    const config = withTools(turn.config, turn.prompt);
    const host = { requests: hostRequests, emit: turn.emit, seconds: answerSeconds };
    return { around, tools: toolbox(config, host, around.tools, workspace.sandbox?.words), known: () => toolNames(config, around.tools) };
  }

  async #work(turn: Turn, span: TracedSpan | undefined): Promise<TurnEnd> {
    const { config, prompt, emit } = turn;
    const { engine, permissions } = this.#session;
    try {
      const { runTurn, tellUnknownOfPrompt, tellUnknownOfSession } = await this.load();
      const { provider, model, tools: allowedTools } = prompt.overrides ?? {};
      const { around, tools, known } = await this.#toolsOf(turn);
      turn.tools = tools;
      turn.hooks = around.hooks;
      turn.instructions = around.instructions;
      if (config.allowedTools !== undefined || config.disallowedTools !== undefined)
        await tellUnknownOfSession(config, known(), this.#toldUnknown, emit);
      if (allowedTools !== undefined) {
        await tellUnknownOfPrompt(allowedTools, tools, emit);
        permissions.turnLimits = await rulesOf({ allowedTools });
      }
      if (provider !== undefined || model !== undefined) {
        turn.model = await engine.openModel(config);
        turn.ownProvider = turn.model.provider;
      }
      span?.model(turn.model);
      return await runTurn(turn);
    } catch (error) {
      const fault = toFault(error);
      await emit({ type: "error", fault });
      return { outcome: "failed", reason: fault.message, fault };
    }
  }

  /** Steered text that came too late for its turn becomes the next prompt; an interrupt drops it. */
  #keepSteering({ steering }: Turn, outcome: EventOf<"turn.ended">["outcome"]): void {
    const { op: id } = steering;
    const parts = takeParts(steering);
    if (parts.length === 0) return;
    if (outcome === "interrupted") return this.#session.events.warn("What was steered in went with the interrupted turn");
    this.#queue.unshift({ op: { type: "turn.prompt", id, parts }, turn: mintId(), cancelled: this.#closing === "now" });
  }

  /** Loads the turn's module once: importing a loaded module still costs a look-up. */
  load(): Promise<typeof import("../turn/run-turn.js")> {
    this.#module ??= import("../turn/run-turn.js");
    return this.#module;
  }

  /** Stops a turn for the host or for a limit. */
  #stop(live: LiveTurn, reason: string, limit?: ParleyError): void {
    if (live.abort.signal.aborted) return;
    live.reason = reason;
    // Aborted first: a voided approval must find its call already cancelled.
    live.abort.abort(limit);
    this.#session.approvals.void(reason);
  }

  // --- the end ---

  /** Lets running and queued turns end, and takes no new ones. */
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

interface TurnTools {
  around: TurnExtensions;
  tools: ReadonlyMap<string, Tool>;
  known(): string[];
}

/** A prompt may bring a list of tools and host tools for itself alone. */
function withTools(config: SessionConfig, { overrides }: OpOf<"turn.prompt">): SessionConfig {
  const { tools, hostTools } = overrides ?? {};
  return {
    ...config,
    ...(tools !== undefined && { allowedTools: tools }),
    ...(hostTools !== undefined && { hostTools: [...(config.hostTools ?? []), ...hostTools] }),
  };
}

/** Limits the wall-clock time of a turn, waiting approvals included. Returns the function that stops the clock. */
function startClock(seconds: number | undefined, onLate: (limit: ParleyError) => void): () => void {
  if (seconds === undefined) return () => {};
  const message = `The turn took longer than ${seconds} s, its limit (maxSeconds)`;
  const late = (): void => onLate(new ParleyError({ code: "limit", message, retryable: false, param: "maxSeconds" }));
  const timer = setTimeout(late, timerMs(seconds));
  return () => clearTimeout(timer);
}
