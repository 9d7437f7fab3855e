/** A host of ours that drives a program of the aionrs family; every stream is held against the grammar. */
import { expect, onTestFinished } from "vitest";
import type { Agent } from "../../src/core/agent.js";
import type { SessionConfig } from "../../src/core/config.js";
import type { Event, EventOf, EventType } from "../../src/core/event.js";
import type { Op } from "../../src/core/op.js";
import type { Dialect } from "../../src/dialects/dialect.js";
import { connect, type ConnectOptions } from "../../src/link/connect.js";
import { spawnTransport } from "../../src/transports/process.js";
import { environment } from "../process/harness.js";
import { Listener } from "../support/wires.js";

export class Driver {
  readonly agent: Agent;
  readonly #listener: Listener;

  constructor(dialect: Dialect, command: string[], options: ConnectOptions = {}) {
    this.agent = connect(
      dialect,
      ({ argv, cwd }) =>
        spawnTransport({ argv: [...command, ...argv], env: environment(), ...(cwd !== undefined && { cwd }) }, { framing: "json" }),
      options,
    );
    this.#listener = new Listener(this.agent);
    onTestFinished(async () => {
      await this.agent.close();
      await this.#listener.done;
      expect(this.#listener.violations).toEqual([]);
      expect(this.#listener.types.at(-1)).toBe("closed");
    });
  }

  send(op: Op): void {
    void this.agent.send(op);
  }

  open(config: SessionConfig = {}, more: Partial<Extract<Op, { type: "session.open" }>> = {}): void {
    this.send({ type: "session.open", id: "open", session: "s", open: "new", config, ...more });
  }

  prompt(turn: string, text: string): void {
    this.send({ type: "turn.prompt", id: `op-${turn}`, session: "s", turn, parts: [{ type: "text", text }] });
  }

  answer(call: string, decision: "allow" | "deny", reason?: string): void {
    this.send({ type: "approval.answer", session: "s", answers: [{ call, decision, ...(reason !== undefined && { reason }) }] });
  }

  of<T extends EventType>(type: T): EventOf<T>[] {
    return this.#listener.heard.all.filter((event): event is EventOf<T> => event.type === type);
  }

  async next<T extends EventType>(type: T, matches: (event: EventOf<T>) => boolean = () => true): Promise<EventOf<T>> {
    for (;;) {
      const found = this.of(type).find(matches);
      if (found !== undefined) return found;
      if (this.#listener.heard.ended) throw new Error(`${type} never came: ${JSON.stringify(this.#listener.heard.all)}`);
      await this.#listener.heard.more();
    }
  }

  /** The end of a turn; there is exactly one. */
  async ended(turn: string): Promise<EventOf<"turn.ended">> {
    const end = await this.next("turn.ended", (event) => event.turn === turn);
    expect([this.of("turn.started"), this.of("turn.ended")].map((all) => all.filter((event) => event.turn === turn).length)).toEqual([
      1, 1,
    ]);
    return end;
  }

  get all(): readonly Event[] {
    return this.#listener.heard.all;
  }

  text(turn: string): string {
    return this.of("text.done")
      .filter((event) => event.turn === turn)
      .map((event) => event.text)
      .join("|");
  }
}
