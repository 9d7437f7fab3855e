/** The sessions of a chat, and the current one, which gets its messages. */
import type { Chat } from "./entry.js";
import type { Journal } from "./journal.js";
import type { Where } from "./message-writer.js";

const DEFAULT_SESSION = "default";
export const MOST_SESSIONS = 100;

export function isSessionName(name: string): boolean {
  return /^[\w-][\w.-]{0,63}$/.test(name);
}

export class Chats {
  readonly #journal: Journal;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  of({ platform, chat }: Where): Pick<Chat, "current" | "names"> {
    return this.#journal.ledger.chat(platform, chat) ?? { current: DEFAULT_SESSION, names: [DEFAULT_SESSION] };
  }

  hasRoomFor(where: Where, name: string): boolean {
    const { names } = this.of(where);
    return names.includes(name) || names.length < MOST_SESSIONS;
  }

  /** The journal line that makes a session known, and current if `go`; undefined when nothing changes. */
  line(where: Where, name: string, go: boolean): Chat[] {
    const { current, names } = this.of(where);
    if (names.includes(name) && (!go || current === name)) return [];
    const { platform, chat } = where;
    return [{ kind: "chat", platform, chat, current: go ? name : current, names: names.includes(name) ? names : [...names, name] }];
  }
}
