/**
 * Ids of calls, one for each in a session. A vendor may use an id again (or give none), and sub-agents share their parent's approvals:
 * without new ids the answer to one call could reach another.
 */
import { mintId } from "../../core/ids.js";
import type { Message } from "../models/model.js";

export class CallIds {
  readonly #used = new Set<string>();

  /** `messages` is the conversation so far. */
  constructor(messages: readonly Message[] = []) {
    this.know(messages);
  }

  /** Notes the ids of messages that join the conversation. */
  know(messages: readonly Message[]): void {
    for (const message of messages) {
      if (message.role !== "assistant") continue;
      for (const block of message.blocks) if (block.type === "call") this.#used.add(block.call.id);
    }
  }

  /** The vendor's own id at its first use, a new id from then on. */
  own(id: string): string {
    const own = id === "" || this.#used.has(id) ? mintId() : id;
    this.#used.add(own);
    return own;
  }
}
