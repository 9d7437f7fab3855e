/** The conversation as the model gets it; whoever keeps it is told of each message, and of a new beginning. */
import type { Message } from "../models/model.js";
import { afterReset, type LastTurn } from "./unfinished.js";

export interface HistoryKeeper {
  message(message: Message): void;
  reset(messages: readonly Message[]): void;
}

export class History {
  readonly messages: Message[];
  /** Tokens that the first so many of them came to. */
  measured: { tokens: number; messages: number } | undefined;
  /** The size at which making room was last tried in vain. */
  stuckAt = 0;
  /** Messages that were pushed, whether they are still there or not. */
  pushed = 0;
  /** What the last turn that said anything left behind. */
  lastTurn: LastTurn;
  readonly #keeper: HistoryKeeper;

  constructor(messages: Message[] = [], keeper: HistoryKeeper = { message() {}, reset() {} }, lastTurn?: LastTurn) {
    this.messages = messages;
    this.lastTurn = lastTurn;
    this.#keeper = keeper;
  }

  push(message: Message): void {
    this.messages.push(message);
    this.pushed++;
    this.#keeper.message(message);
  }

  /** The model gets these from now on, in place of all that was. */
  reset(messages: readonly Message[]): void {
    this.messages.splice(0, this.messages.length, ...messages);
    this.measured = undefined;
    this.lastTurn = afterReset(this.lastTurn);
    this.#keeper.reset(messages);
  }
}
