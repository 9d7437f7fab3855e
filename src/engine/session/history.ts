/** The conversation as the model gets it. Its keeper is told of each message, and of a new beginning. */
import type { Part, TodoItem } from "../../core/content.js";
import type { Message, UserMessage } from "../models/model.js";
import type { EarlierConversation } from "../store/entry.js";
import { Briefing } from "./briefing.js";
import { afterReset, type LastTurn } from "./unfinished.js";

export interface HistoryKeeper {
  message(message: Message): void;
  reset(messages: readonly Message[]): void;
}

export class History {
  readonly messages: Message[];
  readonly briefing = new Briefing();
  /** The tokens that the first `messages` of them came to, as the vendor counted. */
  measured: { tokens: number; messages: number } | undefined;
  /** The size at which making room was last tried in vain. */
  stuckAt = 0;
  /** Counts every pushed message, also those that a reset has removed. */
  pushed = 0;
  /** How the last turn that said anything ended. */
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

  /** The conversation is what it was at an earlier point, as its keeper knows already. */
  goBack({ messages, lastTurn }: Pick<EarlierConversation, "messages" | "lastTurn">): void {
    this.#replace(messages);
    this.lastTurn = lastTurn;
  }

  /** Replaces the whole conversation: the model gets these messages from now on. */
  reset(messages: readonly Message[]): void {
    this.#replace(messages);
    this.lastTurn = afterReset(this.lastTurn);
    this.#keeper.reset(messages);
  }

  #replace(messages: readonly Message[]): void {
    this.messages.splice(0, this.messages.length, ...messages);
    this.measured = undefined;
    this.briefing.restart();
  }
}

/** Whether a message holds the user's own words: a summary does not, nor does a note of the engine. */
export function isOfUser(message: Message): message is UserMessage {
  return message.role === "user" && message.kind === undefined;
}

/** Finds the model's todo list, which is a part of the conversation: it survives a resume, and goes when the conversation is cleared. */
export function todosIn(messages: readonly Message[]): readonly TodoItem[] {
  for (let at = messages.length - 1; at >= 0; at--) {
    const list = partsOf(messages[at]).findLast((part) => part.type === "todo");
    if (list !== undefined) return list.items;
  }
  return [];
}

/** Calls write lists; a summary carries the last one on. */
function partsOf(message: Message | undefined): Part[] {
  if (message?.role === "tool") return message.results.flatMap(({ parts, failed }) => (failed ? [] : parts));
  return message?.role === "user" ? message.parts : [];
}
