/** The two ends of a wire for tests: a peer that speaks records, an agent that does what a script says, a host that listens. */
import { expect } from "vitest";
import type { Agent } from "../../src/core/agent.js";
import type { Event, EventOf, EventType } from "../../src/core/event.js";
import { Grammar } from "../../src/core/grammar.js";
import { Queue, roughSize } from "../../src/core/queue.js";
import type { Op, OpOf, OpType } from "../../src/core/op.js";
import type { Transport } from "../../src/core/wire.js";

/** What came so far, and a way to wait for more. */
class Heard<T extends { type: string }> {
  readonly all: T[] = [];
  ended = false;
  #watchers: (() => void)[] = [];

  add(item: T): void {
    this.all.push(item);
    this.wake();
  }

  end(): void {
    this.ended = true;
    this.wake();
  }

  wake(): void {
    for (const watcher of this.#watchers.splice(0)) watcher();
  }

  /** The nth item of a type, once it is there. */
  async of<K extends T["type"]>(type: K, nth = 1): Promise<Extract<T, { type: K }>> {
    for (;;) {
      const found = this.all.filter((item): item is Extract<T, { type: K }> => item.type === type)[nth - 1];
      if (found !== undefined) return found;
      if (this.ended) expect.fail(`${type} never came; there were only: ${this.types.join(", ")}`);
      await this.more();
    }
  }

  more(): Promise<void> {
    return new Promise((resolve) => this.#watchers.push(resolve));
  }

  get types(): string[] {
    return this.all.map((item) => item.type);
  }
}

/** The far end of a transport, on the native wire. `T` is what it hears. */
export class Peer<T extends { type: string }> {
  readonly heard = new Heard<T>();
  readonly #transport: Transport;

  constructor(transport: Transport, listens = true) {
    this.#transport = transport;
    if (listens) void this.listen();
  }

  say(...records: object[]): void {
    void this.#transport.write(records);
  }

  leave(how: "eof" | "term" = "eof"): void {
    this.#transport.close(how);
  }

  async listen(): Promise<void> {
    for await (const frame of this.#transport.frames) {
      // The native wire is the vocabulary itself; what it carries is checked by the vectors.
      if ("rec" in frame) this.heard.add(frame.rec as T);
    }
    this.heard.end();
  }

  of<K extends T["type"]>(type: K, nth?: number): Promise<Extract<T, { type: K }>> {
    return this.heard.of(type, nth);
  }
}

/** Reads an agent's events to the end, and holds them against the grammar. */
export class Listener {
  readonly heard = new Heard<Event>();
  readonly violations: string[] = [];
  readonly done: Promise<void>;

  constructor(agent: Agent) {
    this.done = this.#listen(agent);
  }

  of<K extends EventType>(type: K, nth?: number): Promise<EventOf<K>> {
    return this.heard.of(type, nth);
  }

  get types(): string[] {
    return this.heard.types;
  }

  async #listen(agent: Agent): Promise<void> {
    const grammar = new Grammar();
    for await (const event of agent.events) {
      this.violations.push(...grammar.event(event));
      this.heard.add(event);
    }
    this.violations.push(...grammar.end());
    this.heard.end();
  }
}

/** An agent that answers each op as its script says; it leaves when it is told to, unless the script says otherwise. */
export class ScriptedAgent implements Agent {
  readonly taken = new Heard<Op>();
  readonly #events = new Queue<Event>(64 * 1024, roughSize);
  readonly #script: Script;

  constructor(script: Script = {}) {
    this.#script = script;
  }

  get events(): AsyncIterable<Event> {
    return this.#events;
  }

  async send(op: Op): Promise<void> {
    this.taken.add(op);
    const answer = this.#script[op.type];
    if (answer !== undefined) await answer(op as never, this);
    else if (op.type === "shutdown") await this.close();
  }

  tell(...events: Event[]): Promise<void> | undefined {
    let full: Promise<void> | undefined;
    for (const event of events) full = (event.type === "reply" ? this.#events.pushControl(event) : this.#events.push(event)) ?? full;
    return full;
  }

  async close(): Promise<void> {
    if (this.#events.ended) return;
    void this.tell({ type: "closed", code: 0 });
    this.#events.end();
  }

  of<K extends OpType>(type: K, nth?: number): Promise<OpOf<K>> {
    return this.taken.of(type, nth);
  }
}

export type Script = { [K in OpType]?: (op: OpOf<K>, agent: ScriptedAgent) => void | Promise<void> };

/** Lets everything happen that can happen without time passing. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
