/** The conversation as the model gets it; whoever keeps it is told of each message. */
import type { Message } from "./models/model.js";

export class History {
  readonly messages: Message[];
  readonly #keep: (message: Message) => void;

  constructor(messages: Message[] = [], keep: (message: Message) => void = () => {}) {
    this.messages = messages;
    this.#keep = keep;
  }

  push(message: Message): void {
    this.messages.push(message);
    this.#keep(message);
  }
}
