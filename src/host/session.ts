/** A conversation with an agent, for authors of hosts: open, prompt, answer, interrupt, close. */
import * as v from "valibot";
import type { Agent } from "../core/agent.js";
import type { SessionConfig } from "../core/config.js";
import { textPart, type Part } from "../core/content.js";
import { ParleyError } from "../core/errors.js";
import type { Event, EventOf } from "../core/event.js";
import { mintId } from "../core/ids.js";
import { becamePrompt, CommandReply, SuggestReply } from "../core/command.js";
import type { Answer, Op, OpOf } from "../core/op.js";

/** The session to open: a new one by default, or a stored one by its id. */
export interface Opening {
  open?: "new" | "resume";
  sessionId?: string;
  /** The name for people. */
  name?: string;
  config?: SessionConfig;
}

export interface PromptOptions {
  /**
   * Set it for text of a person who may read the files that you may read: `@path` then attaches that file. Otherwise the text is plain
   * words to every agent.
   */
  mentions?: boolean;
  /** Fields of a single dialect, by dialect. */
  ext?: Record<string, unknown>;
}

/** Agents whose events have a reader: two readers would take events from each other. */
const taken = new WeakSet<Agent>();

/** Opens a session of an agent whose events have no other reader. Throws the agent's refusal, after closing the agent. */
export async function openSession(agent: Agent, opening: Opening = {}): Promise<HostSession> {
  if (taken.has(agent)) {
    const message = "This agent has a session already: another session takes an agent of its own";
    throw new ParleyError({ code: "usage", message, retryable: false });
  }
  taken.add(agent);
  const events = agent.events[Symbol.asyncIterator]();
  try {
    return await opened(agent, events, opening);
  } catch (error) {
    // The caller may not have kept the agent; a caller that kept it can wait for its end.
    agent.close().catch(() => {});
    throw error;
  }
}

async function opened(agent: Agent, events: AsyncIterator<Event>, opening: Opening): Promise<HostSession> {
  const handle = opening.sessionId ?? mintId();
  const id = mintId();
  await agent.send({ open: "new", ...opening, type: "session.open", id, session: handle });
  for (let next = await events.next(); next.done !== true; next = await events.next()) {
    const event = next.value;
    if (event.type === "session.ready" && event.session === handle) return new HostSession(agent, events, event);
    if (event.type === "closed" && event.reason !== undefined)
      throw new ParleyError({ code: "launch", message: `The agent closed before the session was ready: ${event.reason}`, retryable: true });
    // A start failure arrives without our op id.
    const isMeant = event.type === "reply" && (event.parent === id || (event.to === "session.open" && event.parent === undefined));
    if (isMeant && event.fault !== undefined) throw new ParleyError(event.fault);
  }
  throw new ParleyError({ code: "launch", message: "The agent closed before the session was ready", retryable: true });
}

export class HostSession {
  readonly ready: EventOf<"session.ready">;
  readonly #agent: Agent;
  readonly #events: AsyncIterator<Event>;
  readonly #handle: string;
  /** Events that were read and not yet delivered. */
  readonly #held: Event[] = [];
  /** Ops beside the turns that wait for their reply, by id. */
  readonly #asked = new Map<string, (reply: EventOf<"reply">) => void>();
  /** The read that is under way; all callers wait for the same read. */
  #reading: Promise<boolean> | undefined;
  /** Whether there is a reader of events; two readers would take events from each other. */
  #isRead = false;
  /** The end of the agent. */
  #closed: EventOf<"closed"> | undefined;

  constructor(agent: Agent, events: AsyncIterator<Event>, ready: EventOf<"session.ready">) {
    this.#agent = agent;
    this.#events = events;
    this.ready = ready;
    this.#handle = ready.session ?? "";
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
    const id = mintId();
    let reply: EventOf<"reply"> | undefined;
    this.#asked.set(id, (heard) => {
      if (heard.status !== "loading") reply = heard;
    });
    try {
      await this.#agent.send({ type: "command.suggest", id, session: this.#handle, trigger, text });
      while (reply === undefined && (await this.#read()));
    } finally {
      this.#asked.delete(id);
    }
    if (reply?.fault !== undefined) throw new ParleyError(reply.fault);
    return v.is(SuggestReply, reply?.data) ? reply.data : { suggestions: [] };
  }

  async *#ask(asked: Pick<OpOf<"turn.prompt">, "parts" | "command" | "mentions" | "ext">): AsyncIterable<Event> {
    const id = mintId();
    const turn = mintId();
    for await (const event of this.#heard({ type: "turn.prompt", id, session: this.#handle, turn, ...asked })) {
      yield event;
      if (event.type === "turn.ended" && (event.turn === turn || event.parent === id)) return;
      if (event.type !== "reply" || event.parent !== id) continue;
      if (event.fault !== undefined) throw new ParleyError(event.fault);
      if (isWholeAnswer(event.data)) return;
    }
    throw new ParleyError({ code: "launch", message: this.#closed?.reason ?? "The agent is gone", retryable: true });
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
    while (this.#held.length === 0 && (await this.#read()));
    return this.#held.shift();
  }

  /** Reads one event, and gives it to the op that waits for it or holds it for the turns; false at the end. */
  #read(): Promise<boolean> {
    this.#reading ??= this.#events.next().then((next) => {
      this.#reading = undefined;
      if (next.done === true) return false;
      const event = next.value;
      if (event.type === "closed") this.#closed = event;
      const take = event.type === "reply" ? this.#asked.get(event.parent ?? "") : undefined;
      if (event.type === "reply" && take !== undefined) take(event);
      else this.#held.push(event);
      return true;
    });
    return this.#reading;
  }

  /** Answers a `host.request`. */
  answerRequest(request: string, ok: boolean, data: unknown): Promise<void> {
    return this.#agent.send({ type: "host.answer", session: this.#handle, request, ok, data });
  }

  answer(answers: Answer[]): Promise<void> {
    return this.#agent.send({ type: "approval.answer", session: this.#handle, answers });
  }

  interrupt(reason?: string): Promise<void> {
    return this.#agent.send({ type: "turn.interrupt", session: this.#handle, ...(reason !== undefined && { reason }) });
  }

  /**
   * Closes the session and its agent. The reader of a prompt gets its end; events without a reader are dropped, so that the agent is not
   * held back.
   */
  async close(): Promise<void> {
    const closed = this.#agent.close();
    while (await this.#read()) if (!this.#isRead) this.#held.length = 0;
    await closed;
  }
}

/** A command that did not become a prompt has no turn. */
function isWholeAnswer(data: unknown): boolean {
  return v.is(CommandReply, data) && !becamePrompt(data);
}
