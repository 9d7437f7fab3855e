/**
 * Who runs when: one turn at a time in a conversation, so many in all. Conversations that wait are served in turn, one message each, so
 * that a busy one starves nobody.
 */
import type { Received } from "./entry.js";

export interface ConversationLimits {
  turns: number;
  /** Messages that may wait behind the running one of a conversation. */
  queue: number;
  /** Conversations that have something to do. */
  conversations: number;
}

/** Why a turn was cut short. */
export type Cut = "stop" | "shutdown";

interface Running {
  controller: AbortController;
  cut: Cut | undefined;
}

interface Conversation {
  waiting: Received[];
  running: Running | undefined;
}

export interface RunningTurn {
  signal: AbortSignal;
  cut(): Cut | undefined;
}

export class Conversations {
  readonly #limits: ConversationLimits;
  readonly #run: (message: Received, turn: RunningTurn) => Promise<void>;
  /** Those with something to do, in the order in which they are served. */
  readonly #busy = new Map<string, Conversation>();
  #running = 0;
  /** Whether turns may begin. */
  #open = false;
  #idle: (() => void)[] = [];

  /** `run` never rejects. */
  constructor(limits: ConversationLimits, run: (message: Received, turn: RunningTurn) => Promise<void>) {
    this.#limits = limits;
    this.#run = run;
  }

  /** Turns begin from now on; until then everything waits. */
  begin(): void {
    this.#open = true;
    this.#serve();
  }

  /** Why there is no room for one more message; undefined when there is. */
  crowded(key: string): "queue" | "conversations" | undefined {
    const conversation = this.#busy.get(key);
    if (conversation === undefined) return this.#busy.size >= this.#limits.conversations ? "conversations" : undefined;
    return conversation.waiting.length >= this.#limits.queue ? "queue" : undefined;
  }

  add(message: Received): void {
    const key = keyOf(message);
    const conversation = this.#busy.get(key) ?? { waiting: [], running: undefined };
    this.#busy.set(key, conversation);
    conversation.waiting.push(message);
    this.#serve();
  }

  state(key: string): { running: boolean; waiting: number } {
    const conversation = this.#busy.get(key);
    return { running: conversation?.running !== undefined, waiting: conversation?.waiting.length ?? 0 };
  }

  /** Ends the running turn; false when none runs. */
  stop(key: string, cut: Cut): boolean {
    const running = this.#busy.get(key)?.running;
    if (running === undefined) return false;
    running.cut ??= cut;
    running.controller.abort();
    return true;
  }

  /** Takes out what waits. */
  clear(key: string): Received[] {
    const conversation = this.#busy.get(key);
    if (conversation === undefined) return [];
    if (conversation.running === undefined) this.#busy.delete(key);
    return conversation.waiting.splice(0);
  }

  /** Starts no more turns and ends those that run; settles when they have ended. */
  async close(): Promise<void> {
    this.#open = false;
    for (const key of this.#busy.keys()) this.stop(key, "shutdown");
    while (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** When there is nothing to do. */
  async finished(): Promise<void> {
    while (this.#busy.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #serve(): void {
    if (!this.#open) return;
    for (const [key, conversation] of this.#busy) {
      if (this.#running >= this.#limits.turns) return;
      if (conversation.running === undefined) this.#begin(key, conversation);
    }
  }

  #begin(key: string, conversation: Conversation): void {
    const message = conversation.waiting.shift();
    if (message === undefined) return;
    const running: Running = { controller: new AbortController(), cut: undefined };
    conversation.running = running;
    this.#running++;
    void this.#run(message, { signal: running.controller.signal, cut: () => running.cut }).then(() => {
      conversation.running = undefined;
      this.#running--;
      // To the end of the row, or out of it.
      this.#busy.delete(key);
      if (conversation.waiting.length > 0) this.#busy.set(key, conversation);
      this.#serve();
      for (const resolve of this.#idle.splice(0)) resolve();
    });
  }
}

/** Neither a platform's name nor a session's has a slash, so that no two conversations have the same. */
export function keyOf({ platform, chat, session }: { platform: string; chat: string; session: string }): string {
  return `${platform}/${chat}/${session}`;
}
