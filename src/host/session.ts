/** A conversation with an agent, for people who write hosts: open, prompt, answer, interrupt, close. */
import * as v from "valibot";
import type { Agent } from "../core/agent.js";
import type { SessionConfig } from "../core/config.js";
import { textPart, type Part } from "../core/content.js";
import { ParleyError } from "../core/errors.js";
import type { Event, EventOf } from "../core/event.js";
import { mintId } from "../core/ids.js";
import { CommandReply } from "../core/command.js";
import type { Answer, OpOf } from "../core/op.js";

/** Which session: a new one by default, or a stored one by its id. */
export interface Opening {
  open?: "new" | "resume";
  sessionId?: string;
  config?: SessionConfig;
}

/** Opens a session on an agent that nobody else reads. Throws what the agent refused it with. */
export async function openSession(agent: Agent, opening: Opening = {}): Promise<HostSession> {
  const handle = opening.sessionId ?? mintId();
  const id = mintId();
  const events = agent.events[Symbol.asyncIterator]();
  await agent.send({ open: "new", ...opening, type: "session.open", id, session: handle });
  for (let next = await events.next(); next.done !== true; next = await events.next()) {
    const event = next.value;
    if (event.type === "session.ready" && event.session === handle) return new HostSession(agent, events, event);
    if (event.type === "reply" && event.parent === id && event.fault !== undefined) throw new ParleyError(event.fault);
  }
  throw new ParleyError({ code: "launch", message: "The agent closed before the session was ready", retryable: true });
}

export class HostSession {
  readonly ready: EventOf<"session.ready">;
  readonly #agent: Agent;
  readonly #events: AsyncIterator<Event>;
  readonly #handle: string;

  constructor(agent: Agent, events: AsyncIterator<Event>, ready: EventOf<"session.ready">) {
    this.#agent = agent;
    this.#events = events;
    this.ready = ready;
    this.#handle = ready.session ?? "";
  }

  /** Everything that happens until this turn has ended; its `turn.ended` is the last. One prompt at a time. Throws when it is refused. */
  prompt(prompt: string | Part[]): AsyncIterable<Event> {
    return this.#ask({ parts: typeof prompt === "string" ? [textPart(prompt)] : prompt });
  }

  /** A command of the agent; what comes of it is in the reply, which is the last event unless the command became a prompt. */
  command(name: string, args = ""): AsyncIterable<Event> {
    return this.#ask({ parts: [], command: { name, args } });
  }

  async *#ask(asked: Pick<OpOf<"turn.prompt">, "parts" | "command">): AsyncIterable<Event> {
    const id = mintId();
    const turn = mintId();
    await this.#agent.send({ type: "turn.prompt", id, session: this.#handle, turn, ...asked });
    for (let next = await this.#events.next(); next.done !== true; next = await this.#events.next()) {
      const event = next.value;
      yield event;
      if (event.type === "turn.ended" && (event.turn === turn || event.parent === id)) return;
      if (event.type !== "reply" || event.parent !== id) continue;
      if (event.fault !== undefined) throw new ParleyError(event.fault);
      if (isWholeAnswer(event.data)) return;
    }
    throw new ParleyError({ code: "launch", message: "The agent closed in the middle of a turn", retryable: true });
  }

  answer(answers: Answer[]): Promise<void> {
    return this.#agent.send({ type: "approval.answer", session: this.#handle, answers });
  }

  interrupt(reason?: string): Promise<void> {
    return this.#agent.send({ type: "turn.interrupt", session: this.#handle, ...(reason !== undefined && { reason }) });
  }

  /** Closes the agent with it, and reads what it still says, so that nothing holds it back. */
  async close(): Promise<void> {
    const closed = this.#agent.close();
    for (let next = await this.#events.next(); next.done !== true;) next = await this.#events.next();
    await closed;
  }
}

/** A command that did not become a prompt has no turn. */
function isWholeAnswer(data: unknown): boolean {
  return v.is(CommandReply, data) && data.result.type !== "submit_prompt";
}
