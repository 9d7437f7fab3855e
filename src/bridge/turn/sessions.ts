/**
 * What a bridge remembers of its conversations: the session id that the agent gave each of them, and who has a turn in it right now.
 * PARLEY_HOME/bridge, a file a conversation; its name is a hash of the profile and the session's name, so neither can lead anywhere.
 */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { messageOf, ParleyError } from "../../core/errors.js";
import { digest } from "../../os/digest.js";
import { makeFolder } from "../../os/folders.js";
import { takeLock } from "../../os/lock.js";
import { writeWhole } from "../../os/whole-file.js";

const Entry = v.object({ profile: v.string(), name: v.string(), sessionId: v.string() });

const SHORTEST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 200;

/** Who asks, and whom to tell what goes wrong beside the point. */
export interface Asking {
  signal: AbortSignal;
  warn(text: string): void;
}

/** One conversation, while nobody else has a turn in it. */
export interface Conversation {
  /** "" when there is none. */
  sessionId(): Promise<string>;
  keep(sessionId: string): Promise<void>;
  forget(): Promise<void>;
}

export class Sessions {
  readonly #folder: string;
  readonly #profile: string;
  /** The last of those that wait or run in this process, by name. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(home: string, profile: string) {
    this.#folder = join(home, "bridge");
    this.#profile = profile;
  }

  /**
   * Turns of one conversation come one after the other, in the order in which they were asked for; those of other processes in between.
   * Rejects when the signal aborts before it is its turn.
   */
  alone<T>(name: string, asking: Asking, work: (conversation: Conversation) => Promise<T>): Promise<T> {
    if (asking.signal.aborted) return Promise.reject(new Error("aborted"));
    const begun = new AbortController();
    const mine = (this.#last.get(name) ?? Promise.resolve()).then(async () => {
      const release = await this.#lock(name, asking);
      begun.abort();
      try {
        return await work(this.#conversation(name, asking));
      } finally {
        await release();
      }
    });
    const settled = mine.then(ignore, ignore);
    this.#last.set(name, settled);
    void settled.then(() => {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    });
    const given = new Promise<never>((_, reject) => {
      asking.signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true, signal: begun.signal });
    });
    return Promise.race([mine, given]);
  }

  /** Whoever has a turn in it right now. "" when there is none. */
  async sessionId(name: string): Promise<string> {
    return (await read(`${this.#path(name)}.json`)) ?? "";
  }

  #conversation(name: string, { warn }: Asking): Conversation {
    const file = `${this.#path(name)}.json`;
    return {
      sessionId: () => this.sessionId(name),
      keep: async (sessionId) => {
        if ((await read(file)) === sessionId) return;
        const text = JSON.stringify({ profile: this.#profile, name, sessionId });
        await tried("the agent's session cannot be remembered", warn, () => writeWhole(file, text));
      },
      forget: () => tried("the agent's session cannot be forgotten", warn, () => rm(file, { force: true })),
    };
  }

  /** Rejects when `signal` aborts meanwhile. */
  async #lock(name: string, { signal, warn }: Asking): Promise<() => Promise<void>> {
    for (let wait = SHORTEST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      signal.throwIfAborted();
      try {
        makeFolder(this.#folder, 0o700);
        return await takeLock(`${this.#path(name)}.lock`, `The conversation '${name}'`);
      } catch (error) {
        if (!(error instanceof ParleyError)) {
          warn(`another turn of the conversation '${name}' could run at the same time, because it cannot be locked: ${messageOf(error)}`);
          return async () => {};
        }
        if (wait === SHORTEST_WAIT_MS) warn(`${error.message}; this turn waits`);
      }
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  #path(name: string): string {
    return join(this.#folder, digest(`${this.#profile}\0${name}`, 40));
  }
}

/** A home that cannot be written costs the memory, not the turn. */
async function tried(what: string, warn: (text: string) => void, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    warn(`${what}: ${messageOf(error)}`);
  }
}

/** What cannot be read is not remembered. */
async function read(file: string): Promise<string | undefined> {
  try {
    return v.parse(Entry, JSON.parse(await readFile(file, "utf8"))).sessionId;
  } catch {
    return undefined;
  }
}

function ignore(): void {
  // Told to whoever asked.
}
