/** A conversation with an agent, for authors of hosts: open, prompt, answer, interrupt, close. */
import * as v from "valibot";
import type { Agent } from "../core/agent.js";
import type { SessionConfig } from "../core/config.js";
import { textPart, type Part } from "../core/content.js";
import { ParleyError, toFault } from "../core/errors.js";
import type { Event, EventOf } from "../core/event.js";
import { mintId } from "../core/ids.js";
import { becamePrompt, CommandReply, SuggestReply } from "../core/command.js";
import type { Answer, Op, OpOf } from "../core/op.js";
import { AgentEvents } from "./agent-events.js";
import { Approvals, type Approve } from "./approvals.js";
import { declared, runTool, type Tools } from "./host-tools.js";
import { ResultOfEvents, type TurnResult } from "./turn-result.js";

/** The session to open: a new one by default, or a stored one by its id. */
export interface Opening {
  open?: "new" | "resume";
  sessionId?: string;
  /** Of a resume: goes on with a copy, before that turn where one is named; the stored session stays as it is. */
  fork?: boolean;
  before?: { turn: string };
  /** The name for people. */
  name?: string;
  config?: SessionConfig;
}

/** How a prompt is taken. */
export interface PromptOptions {
  /**
   * Set it for text of a person who may read the files that you may read: `@path` then attaches that file. Otherwise the text is plain
   * words to every agent.
   */
  mentions?: boolean;
  /** Fields of a single dialect, by dialect. */
  ext?: Record<string, unknown>;
}

/** How the host takes part; without them the events say what is asked, and the host answers by the session's methods. */
export interface Hosting {
  /** Decides about calls. Without it approvals wait for `answer`, until their deadline denies them. */
  approve?: Approve;
  /** Tools of the host, by name. */
  tools?: Tools;
  /** Hears every event of the session, whoever reads them. */
  onEvent?: (event: Event) => void;
}

/** How a prompt is taken, and what interrupts it. */
export interface RunOptions extends PromptOptions {
  /** Interrupts the turn; its result then says so. */
  signal?: AbortSignal;
}

/**
 * Opens a session. One agent may have several: each is read by itself. Throws a `ParleyError` with the agent's refusal; an agent without
 * any other session is closed then.
 *
 * @example
 * const session = await openSession(drive(await loadDialect("acp"), ["gemini", "--acp"]), {
 *   config: { cwd: process.cwd() },
 *   approve: async (call) => (call.category === "edit" ? "allow" : "deny"),
 * });
 * const { text } = await session.run("What does this project do?");
 * await session.close();
 */
export async function openSession(agent: Agent, opening: Opening & Hosting = {}): Promise<HostSession> {
  const events = AgentEvents.of(agent);
  const session = new HostSession(agent, events, opening);
  try {
    await session.begin();
    return session;
  } catch (error) {
    // The caller may not have kept the agent; a caller that kept it can wait for its end.
    events.leave(session.handle);
    if (events.sessions === 0) agent.close().catch(() => {});
    throw error;
  }
}

/** A conversation with an agent. `openSession` makes it. */
export class HostSession {
  /** The name by which ops and events of the session are told from others. */
  readonly handle: string;
  readonly #agent: Agent;
  readonly #events: AgentEvents;
  readonly #opening: Opening & Hosting;
  readonly #approvals: Approvals | undefined;
  #ready: EventOf<"session.ready"> | undefined;
  /** Events that were read and not yet delivered. */
  readonly #held: Event[] = [];
  /** Ops that wait for the event that answers them, by id. */
  readonly #asked = new Map<string, (event: Event) => void>();
  /** Running tools of the host, by request. */
  readonly #running = new Map<string, AbortController>();
  /** Whether there is a reader of events; two readers would take events from each other. */
  #isRead = false;
  #isClosed = false;

  constructor(agent: Agent, events: AgentEvents, opening: Opening & Hosting) {
    this.#agent = agent;
    this.#events = events;
    this.#opening = opening;
    this.handle = opening.fork === true ? mintId() : (opening.sessionId ?? mintId());
    if (opening.approve !== undefined) this.#approvals = new Approvals(opening.approve, (answers) => this.answer(answers));
  }

  /** The session as the agent told it when it was ready. */
  get ready(): EventOf<"session.ready"> {
    if (this.#ready === undefined) throw new ParleyError({ code: "usage", message: "The session is not open", retryable: false });
    return this.#ready;
  }

  /** The name by which the session can be resumed later; undefined where the agent has none. */
  get sessionId(): string | undefined {
    return this.#ready?.sessionId;
  }

  /** Opens it; `openSession` does so. */
  async begin(): Promise<void> {
    const { approve: _approve, tools = {}, onEvent: _onEvent, config, ...opening } = this.#opening;
    this.#events.join(this.handle, this);
    const hostTools = [...(config?.hostTools ?? []), ...declared(tools)];
    const id = mintId();
    const op: Op = {
      open: "new",
      ...opening,
      type: "session.open",
      id,
      session: this.handle,
      ...((config !== undefined || hostTools.length > 0) && { config: { ...config, ...(hostTools.length > 0 && { hostTools }) } }),
    };
    await this.#agent.send(op);
    while (await this.#events.read(this)) {
      for (const event of this.#held.splice(0)) {
        if (event.type === "session.ready") {
          this.#ready = event;
          return;
        }
        if (event.type === "closed" && event.reason !== undefined)
          throw new ParleyError({
            code: "launch",
            message: `The agent closed before the session was ready: ${event.reason}`,
            retryable: true,
          });
        // A start failure arrives without our op id.
        const isMeant = event.type === "reply" && (event.parent === id || (event.to === "session.open" && event.parent === undefined));
        if (isMeant && event.fault !== undefined) throw new ParleyError(event.fault);
      }
    }
    throw new ParleyError({ code: "launch", message: "The agent closed before the session was ready", retryable: true });
  }

  /** How many events wait to be read. */
  get waiting(): number {
    return this.#held.length;
  }

  /** An event of the session, or one of the whole agent. */
  take(event: Event): void {
    this.#opening.onEvent?.(event);
    this.#approvals?.follow(event);
    this.#followTools(event);
    const parent = "parent" in event ? event.parent : undefined;
    const answered = event.type === "reply" || event.type === "session.updated" ? this.#asked.get(parent ?? "") : undefined;
    if (answered !== undefined) answered(event);
    else this.#held.push(event);
  }

  /**
   * Sends a prompt and reads its turn to the end. It resolves in any case: `outcome` says how the turn ended, and `error` why it failed.
   *
   * @example
   * const { text, outcome, usage, calls } = await session.run("Mend the failing test", { signal: AbortSignal.timeout(60_000) });
   */
  async run(prompt: string | Part[], { signal, ...options }: RunOptions = {}): Promise<TurnResult> {
    const result = new ResultOfEvents(this.sessionId);
    const stop = (): void => void this.interrupt("aborted by the host");
    signal?.addEventListener("abort", stop, { once: true });
    try {
      if (isAborted(signal)) return result.interrupted();
      for await (const event of this.prompt(prompt, options)) {
        result.see(event);
        // A signal that came before the turn began means this turn.
        if (event.type === "turn.started" && isAborted(signal)) stop();
      }
      return result.value();
    } catch (error) {
      result.fail(toFault(error));
      return result.value();
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  /**
   * Sends a prompt, and returns the events until its turn has ended; `turn.ended` is the last. One prompt at a time. Throws the refusal.
   */
  prompt(prompt: string | Part[], { mentions = false, ext }: PromptOptions = {}): AsyncIterable<Event> {
    const parts = typeof prompt === "string" ? [textPart(prompt)] : prompt;
    return this.#ask({ parts, ...(mentions && { mentions }), ...(ext !== undefined && { ext }) });
  }

  /** Runs a command of the agent; its reply is the last event, unless the command became a prompt. */
  command(name: string, args = ""): AsyncIterable<Event> {
    return this.#ask({ parts: [], command: { name, args } });
  }

  /** The events until everything around the session (MCP servers, skills) is loaded, so that the first prompt can use it. */
  async *gathered(): AsyncIterable<Event> {
    for await (const event of this.#heard()) {
      yield event;
      if (event.type === "catalog.updated" && event.whole) return;
    }
  }

  /** Completes a half-written `/command` or `@path`, also during a turn. A later call voids an earlier one, which then finds nothing. */
  async suggest(trigger: "slash" | "at", text: string): Promise<SuggestReply> {
    const reply = await this.#answerTo({ type: "command.suggest", id: mintId(), session: this.handle, trigger, text });
    return reply?.type === "reply" && v.is(SuggestReply, reply.data) ? reply.data : { suggestions: [] };
  }

  async *#ask(asked: Pick<OpOf<"turn.prompt">, "parts" | "command" | "mentions" | "ext">): AsyncIterable<Event> {
    const id = mintId();
    const turn = mintId();
    for await (const event of this.#heard({ type: "turn.prompt", id, session: this.handle, turn, ...asked })) {
      yield event;
      if (event.type === "turn.ended" && (event.turn === turn || event.parent === id)) return;
      if (event.type !== "reply" || event.parent !== id) continue;
      if (event.fault !== undefined) throw new ParleyError(event.fault);
      if (isWholeAnswer(event.data)) return;
    }
    throw new ParleyError({ code: "launch", message: this.#events.closed?.reason ?? "The agent is gone", retryable: true });
  }

  /** Sends the op, and returns the events to the end, for one reader at a time. */
  async *#heard(op?: Op): AsyncIterable<Event> {
    if (this.#isRead) {
      const message = "A prompt of this session is under way: read it to its end, or leave its loop, before the next";
      throw new ParleyError({ code: "usage", message, retryable: false });
    }
    this.#isRead = true;
    try {
      if (op !== undefined) await this.#agent.send(op);
      for (let event = await this.#next(); event !== undefined; event = await this.#next()) yield event;
    } finally {
      this.#isRead = false;
    }
  }

  /** The next event; undefined at the end. */
  async #next(): Promise<Event | undefined> {
    while (this.#held.length === 0 && (await this.#events.read(this)));
    const next = this.#held.shift();
    if (this.#held.length === 0) this.#events.wake();
    return next;
  }

  /** Sends the op, and resolves with the event that answers it; undefined when the agent is gone. */
  async #answerTo(op: Op & { id: string }): Promise<Event | undefined> {
    let answer: Event | undefined;
    this.#asked.set(op.id, (event) => {
      if (event.type !== "reply" || event.status !== "loading") answer = event;
    });
    try {
      await this.#agent.send(op);
      while (answer === undefined && (await this.#events.read(this)));
    } finally {
      this.#asked.delete(op.id);
    }
    if (answer?.type === "reply" && answer.fault !== undefined) throw new ParleyError(answer.fault);
    return answer;
  }

  #followTools(event: Event): void {
    if (event.type === "host.settled") this.#running.get(event.request)?.abort();
    if (event.type === "closed") for (const running of this.#running.values()) running.abort();
    const { tools } = this.#opening;
    if (event.type === "host.request" && event.replay !== true && tools !== undefined) void this.#runTool(tools, event);
  }

  async #runTool(tools: Tools, event: EventOf<"host.request">): Promise<void> {
    const controller = new AbortController();
    this.#running.set(event.request, controller);
    const outcome = await runTool(tools, event, controller.signal);
    this.#running.delete(event.request);
    if (outcome !== undefined && !controller.signal.aborted) await this.answerRequest(event.request, outcome.ok, outcome.data);
  }

  /**
   * Gives words to the running turn; false when none runs: then they are for the next prompt.
   *
   * @example
   * if (!(await session.steer("and keep the old name"))) await session.run("Keep the old name");
   */
  async steer(prompt: string | Part[]): Promise<boolean> {
    const parts = typeof prompt === "string" ? [textPart(prompt)] : prompt;
    const reply = await this.#answerTo({ type: "turn.steer", id: mintId(), session: this.handle, parts });
    return reply?.type === "reply" && reply.status === "ok";
  }

  /**
   * Changes the session from its next turn on. Throws the agent's refusal.
   *
   * @example
   * await session.configure({ model: "claude-opus-4-6", mode: "plan" });
   */
  async configure(patch: SessionConfig): Promise<void> {
    await this.#answerTo({ type: "session.configure", id: mintId(), session: this.handle, patch });
  }

  /**
   * A new session of the same agent with all that was said here, or with all before a turn. This one stays as it is.
   *
   * @example
   * const other = await session.fork({ turn: firstTurn });
   */
  fork({ turn, ...hosting }: { turn?: string } & Hosting = {}): Promise<HostSession> {
    if (this.sessionId === undefined) {
      const message = "The agent gave this session no name, so it cannot be copied";
      throw new ParleyError({ code: "unsupported", message, retryable: false });
    }
    return openSession(this.#agent, {
      ...this.#opening,
      ...hosting,
      open: "resume",
      sessionId: this.sessionId,
      fork: true,
      ...(turn !== undefined && { before: { turn } }),
    });
  }

  /** Answers a `host.request`. */
  answerRequest(request: string, ok: boolean, data: unknown): Promise<void> {
    return this.#agent.send({ type: "host.answer", session: this.handle, request, ok, data });
  }

  answer(answers: Answer[]): Promise<void> {
    return this.#agent.send({ type: "approval.answer", session: this.handle, answers });
  }

  interrupt(reason?: string): Promise<void> {
    return this.#agent.send({ type: "turn.interrupt", session: this.handle, ...(reason !== undefined && { reason }) });
  }

  /**
   * Closes the session, and its agent with the last of its sessions. The reader of a prompt gets its end; events without a reader are
   * dropped, so that the agent is not held back. Twice is once.
   */
  async close(): Promise<void> {
    if (this.#events.sessions > 1 && !this.#isClosed) {
      this.#isClosed = true;
      const ended = (event: Event): boolean => event.type === "session.ended" || event.type === "closed";
      await this.#agent.send({ type: "session.close", id: mintId(), session: this.handle });
      while (!this.#held.some(ended) && (await this.#events.read(this)));
      this.#events.leave(this.handle);
      return;
    }
    const isOwn = !this.#isClosed;
    this.#isClosed = true;
    const closed = isOwn || this.#events.sessions <= 1 ? this.#agent.close() : Promise.resolve();
    while (await this.#events.read(this)) if (!this.#isRead) this.#held.length = 0;
    await closed;
    this.#events.leave(this.handle);
  }

  /** `await using session = await openSession(…)` closes it at the end of its block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** A command that did not become a prompt has no turn. */
function isWholeAnswer(data: unknown): boolean {
  return v.is(CommandReply, data) && !becamePrompt(data);
}
