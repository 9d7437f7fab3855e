/** The conversation that the model gets. Its recorder is called with each message and each reset. */
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
  /** The vendor's token count of the first `messages` messages. */
  measured: { tokens: number; messages: number } | undefined;
  /** The size at which the last attempt to make room failed. */
  stuckAt = 0;
  /** Counts every pushed message, also removed ones. */
  pushed = 0;
  /** The end of the last turn that added messages. */
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

  /** Restores an earlier conversation, which the log already has. */
  goBack({ messages, lastTurn }: Pick<EarlierConversation, "messages" | "lastTurn">): void {
    this.#replace(messages);
    this.lastTurn = lastTurn;
  }

  /** Replaces the whole conversation. */
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

/** Whether a message is the user's own: a summary is not, nor is a note of the engine. */
export function isOfUser(message: Message): message is UserMessage {
  return message.role === "user" && message.kind === undefined;
}

/** The model's todo list. It is part of the conversation: it survives a resume, and is lost with a reset. */
export function todosIn(messages: readonly Message[]): readonly TodoItem[] {
  for (let at = messages.length - 1; at >= 0; at--) {
    const list = partsOf(messages[at]).findLast((part) => part.type === "todo");
    if (list !== undefined) return list.items;
  }
  return [];
}

/** Calls of TodoWrite have lists; a summary repeats the last one. */
function partsOf(message: Message | undefined): Part[] {
  if (message?.role === "tool") return message.results.flatMap(({ parts, failed }) => (failed ? [] : parts));
  return message?.role === "user" ? message.parts : [];
}
