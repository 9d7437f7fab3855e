/**
 * Schedules turns: one at a time in a conversation, and a limited number in all. Waiting conversations take turns, one message each, so
 * that a busy one starves no other.
 */
import type { Received } from "./entry.js";

export interface ConversationLimits {
  turns: number;
  /** The most messages that wait behind the running one of a conversation. */
  queue: number;
  /** The most conversations with work. */
  conversations: number;
}

/** The reason why a turn was cut short. */
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
  /** Conversations with work, in the order in which they are served. */
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

  /** Turns begin from now on; until then all messages wait. */
  begin(): void {
    this.#open = true;
    this.#serve();
  }

  /** The reason why there is no room for one more message; undefined when there is room. */
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

  /** Removes and returns the waiting messages. */
  clear(key: string): Received[] {
    const conversation = this.#busy.get(key);
    if (conversation === undefined) return [];
    if (conversation.running === undefined) this.#busy.delete(key);
    return conversation.waiting.splice(0);
  }

  /** Starts no more turns and ends running ones; settles when they have ended. */
  async close(): Promise<void> {
    this.#open = false;
    for (const key of this.#busy.keys()) this.stop(key, "shutdown");
    while (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Resolves when there is no work. */
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
      // The conversation moves to the end of the row, or leaves it.
      this.#busy.delete(key);
      if (conversation.waiting.length > 0) this.#busy.set(key, conversation);
      this.#serve();
      for (const resolve of this.#idle.splice(0)) resolve();
    });
  }
}

/** The names of platforms and sessions contain no slash, so that each conversation has its own key. */
export function keyOf({ platform, chat, session }: { platform: string; chat: string; session: string }): string {
  return `${platform}/${chat}/${session}`;
}
