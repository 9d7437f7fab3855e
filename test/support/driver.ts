/** A host of ours that drives a real program: opens, prompts, answers, and holds all that it hears against the grammar. */
import { expect, onTestFinished } from "vitest";
import type { Agent } from "../../src/core/agent.js";
import type { SessionConfig } from "../../src/core/config.js";
import type { Event, EventOf, EventType } from "../../src/core/event.js";
import type { Op, OpOf } from "../../src/core/op.js";
import type { Dialect } from "../../src/dialects/index.js";
import { connect, type ConnectOptions } from "../../src/link/connect.js";
import { spawnTransport, type ProcessTransport } from "../../src/transports/process.js";
import { environment, scratch } from "../process/harness.js";
import { Listener } from "./wires.js";

export class Driver {
  readonly agent: Agent;
  /** Each process that was started, in order. */
  readonly started: ProcessTransport[] = [];
  readonly #listener: Listener;

  constructor(dialect: Dialect, command: readonly string[], options: ConnectOptions = {}, env = environment()) {
    const folder = scratch();
    this.agent = connect(
      dialect,
      async ({ argv, cwd = folder }) => {
        const transport = await spawnTransport({ argv: [...command, ...argv], env, cwd }, { framing: dialect.framing });
        this.started.push(transport);
        return transport;
      },
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

  open(config: SessionConfig = {}, more: Partial<OpOf<"session.open">> = {}): void {
    this.send({ type: "session.open", id: "open", session: "s", open: "new", config, ...more });
  }

  prompt(turn: string, text: string, more: Partial<OpOf<"turn.prompt">> = {}): void {
    this.send({ type: "turn.prompt", id: `op-${turn}`, session: "s", turn, parts: [{ type: "text", text }], ...more });
  }

  answer(call: string, decision: "allow" | "deny", more: Partial<OpOf<"approval.answer">["answers"][number]> = {}): void {
    this.send({ type: "approval.answer", session: "s", answers: [{ call, decision, ...more }] });
  }

  get heard(): readonly Event[] {
    return this.#listener.heard.all;
  }

  of<T extends EventType>(type: T): EventOf<T>[] {
    return this.heard.filter((event): event is EventOf<T> => event.type === type);
  }

  /** Heard already, or yet to come. */
  async next<T extends EventType>(type: T, matches: (event: EventOf<T>) => boolean = () => true): Promise<EventOf<T>> {
    for (;;) {
      const found = this.of(type).find(matches);
      if (found !== undefined) return found;
      if (this.#listener.heard.ended) throw new Error(`${type} never came: ${JSON.stringify(this.heard)}`);
      await this.#listener.heard.more();
    }
  }

  ended(turn: string): Promise<EventOf<"turn.ended">> {
    return this.next("turn.ended", (event) => event.turn === turn);
  }

  /** Says it and waits for the end of its turn. */
  say(turn: string, text: string, more: Partial<OpOf<"turn.prompt">> = {}): Promise<EventOf<"turn.ended">> {
    this.prompt(turn, text, more);
    return this.ended(turn);
  }

  /** The answer to an op. */
  reply(parent: string): Promise<EventOf<"reply">> {
    return this.next("reply", (event) => event.parent === parent && event.status !== "loading");
  }

  /** What was said in a turn, its blocks apart; without what sub-agents said. */
  text(turn: string): string {
    return this.of("text.done")
      .filter((event) => event.turn === turn && event.under === undefined)
      .map((event) => event.text)
      .join("|");
  }
}
