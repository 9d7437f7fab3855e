/**
 * The bridge's messages: each is cut to the platform's size, written to the journal, then passed to delivery. There is no other way to send
 * one.
 */
import { mintId } from "../../core/ids.js";
import type { Platform } from "../platforms/platform.js";
import type { Entry, Received, Told } from "./entry.js";
import type { Journal } from "./journal.js";
import type { Outbox } from "./outbox.js";
import { split } from "./split.js";

export interface Where {
  platform: string;
  chat: string;
}

export class MessageWriter {
  readonly #journal: Journal;
  readonly #outbox: Outbox;
  readonly #platforms: ReadonlyMap<string, Platform>;

  constructor(journal: Journal, outbox: Outbox, platforms: ReadonlyMap<string, Platform>) {
    this.#journal = journal;
    this.#outbox = outbox;
    this.#platforms = platforms;
  }

  /** Never throws: a failed journal ends the bridge, and the next start takes up the open messages. */
  say(where: Where, type: Told["type"], text: string, to?: Received): void {
    try {
      this.write(...this.words(where, type, text, to));
    } catch {
      return;
    }
  }

  /** The journal lines of the message, for a `write` together with other lines. */
  words({ platform, chat }: Where, type: Told["type"], text: string, to?: Received): Told[] {
    const limit = this.#platforms.get(platform)?.limits.text ?? Infinity;
    return split(text.toWellFormed(), limit).map((piece) => told({ platform, chat }, type, piece, to));
  }

  /** Sends the final answer to a message, and marks the message as answered in the same write. */
  answer(message: Received, ...last: readonly Told[]): void {
    const wantsEnds = this.#platforms.get(message.platform)?.limits.wantsEnds === true;
    const end = wantsEnds ? [told(message, "end", "", message)] : [];
    this.write(...last, ...end, { kind: "answered", id: message.id });
  }

  write(...entries: readonly Entry[]): void {
    this.#journal.write(...entries);
    for (const entry of entries) if (entry.kind === "told") this.#outbox.post(entry);
  }
}

function told({ platform, chat }: Where, type: Told["type"], text: string, to: Received | undefined): Told {
  const answers = to !== undefined && { to: to.id, ...(to.key !== undefined && { key: to.key }) };
  return { kind: "told", id: mintId(), at: Date.now(), platform, chat, type, text, ...answers };
}
