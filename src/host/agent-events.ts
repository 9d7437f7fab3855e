/** The events of an agent, shared by its sessions: each takes its own, and reads on for the others where theirs come first. */
import type { Agent } from "../core/agent.js";
import type { Event, EventOf } from "../core/event.js";

/** Events that wait for a session which nobody reads. Beyond it the others wait for that session, too: nothing is dropped. */
const MOST_WAITING = 10_000;

interface Reader {
  /** True when the reader holds so much that it must be read first. */
  take(event: Event): void;
  readonly waiting: number;
}

const shared = new WeakMap<Agent, AgentEvents>();

export class AgentEvents {
  closed: EventOf<"closed"> | undefined;
  readonly #events: AsyncIterator<Event>;
  readonly #readers = new Map<string, Reader>();
  /** The read that is under way; all callers wait for the same read. */
  #reading: Promise<boolean> | undefined;
  /** Wakes readers that wait for a full one. */
  #emptied: (() => void)[] = [];

  static of(agent: Agent): AgentEvents {
    const known = shared.get(agent) ?? new AgentEvents(agent);
    shared.set(agent, known);
    return known;
  }

  private constructor(agent: Agent) {
    this.#events = agent.events[Symbol.asyncIterator]();
  }

  get sessions(): number {
    return this.#readers.size;
  }

  join(session: string, reader: Reader): void {
    this.#readers.set(session, reader);
  }

  leave(session: string): void {
    this.#readers.delete(session);
    this.wake();
  }

  /** Reads one event and gives it to its session; false at the end. `own` may always read on: it is the one that is being read. */
  async read(own: Reader): Promise<boolean> {
    while ([...this.#readers.values()].some((reader) => reader !== own && reader.waiting >= MOST_WAITING))
      await new Promise<void>((resolve) => this.#emptied.push(resolve));
    this.#reading ??= this.#readOne().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  /** Call it when a reader has taken what waited. */
  wake(): void {
    for (const wake of this.#emptied.splice(0)) wake();
  }

  async #readOne(): Promise<boolean> {
    const next = await this.#events.next();
    if (next.done === true) return false;
    const event = next.value;
    if (event.type === "closed") this.closed = event;
    const reader = event.session === undefined ? undefined : this.#readers.get(event.session);
    if (reader !== undefined) reader.take(event);
    else if (event.session === undefined) for (const each of this.#readers.values()) each.take(event);
    return true;
  }
}
