/**
 * The state that the journal's lines add up to: unanswered messages, undelivered messages, the sessions of each chat, the keys of known
 * messages.
 */
import type { Chat, Entry, Received, Told } from "./entry.js";

/** The most remembered keys of messages for each platform, and the most chats with sessions; the oldest are removed. */
const SEEN = 2000;
const CHATS = 10_000;

export interface OpenMessage {
  received: Received;
  started: boolean;
}

export interface Unsent {
  told: Told;
  /** The message may have arrived before a crash. */
  attempted: boolean;
}

export class Ledger {
  readonly messages = new Map<string, OpenMessage>();
  readonly unsent = new Map<string, Unsent>();
  readonly #chats = new Map<string, Chat>();
  readonly #seen = new Map<string, Map<string, string>>();

  apply(entry: Entry): void {
    switch (entry.kind) {
      case "received":
        this.messages.set(entry.id, { received: entry, started: false });
        if (entry.key !== undefined) this.#see(entry.platform, entry.key, entry.id);
        return;
      case "started":
        return this.#update(this.messages, entry.id, { started: true });
      case "answered":
        this.messages.delete(entry.id);
        return;
      case "told":
        this.unsent.set(entry.id, { told: entry, attempted: false });
        return;
      case "attempted":
        return this.#update(this.unsent, entry.id, { attempted: true });
      case "delivered":
        this.unsent.delete(entry.id);
        return;
      case "seen":
        return this.#see(entry.platform, entry.key, entry.id);
      case "chat":
        return keep(this.#chats, placeOf(entry.platform, entry.chat), entry, CHATS);
      default:
        entry satisfies never;
    }
  }

  /** The same state in the fewest lines. */
  *entries(): Generator<Entry> {
    yield* this.#chats.values();
    for (const { received, started } of this.messages.values()) {
      yield received;
      if (started) yield { kind: "started", id: received.id };
    }
    for (const [platform, keys] of this.#seen) for (const [key, id] of keys) yield { kind: "seen", platform, key, id };
    for (const { told, attempted } of this.unsent.values()) {
      yield told;
      if (attempted) yield { kind: "attempted", id: told.id };
    }
  }

  chat(platform: string, chat: string): Chat | undefined {
    return this.#chats.get(placeOf(platform, chat));
  }

  /** Our id of a message that came before ("" when it needed none); undefined for a new one. */
  seen(platform: string, key: string): string | undefined {
    return this.#seen.get(platform)?.get(key);
  }

  #see(platform: string, key: string, id: string): void {
    const keys = this.#seen.get(platform) ?? new Map<string, string>();
    this.#seen.set(platform, keys);
    keep(keys, key, id, SEEN);
  }

  #update<T>(map: Map<string, T>, id: string, change: Partial<T>): void {
    const known = map.get(id);
    if (known !== undefined) map.set(id, { ...known, ...change });
  }
}

/** The name of a platform contains no slash. */
export function placeOf(platform: string, chat: string): string {
  return `${platform}/${chat}`;
}

/** Moves the key to the newest place. */
function keep<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}
