/**
 * A bridge's memory of its conversations: the agent's session id of each, and a lock for the process that runs a turn in it. Each
 * conversation is a file in PARLEY_HOME/bridge; its name is a hash of the profile and the session's name, so neither can lead to another
 * path.
 */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { messageOf, ParleyError } from "../../core/errors.js";
import { digest } from "../../os/digest.js";
import { makeFolder } from "../../os/files/folders.js";
import { takeLock } from "../../os/files/lock.js";
import { writeWhole } from "../../os/files/whole-file.js";

const Entry = v.object({ profile: v.string(), name: v.string(), sessionId: v.string() });

const SHORTEST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 200;

/** The caller, and the receiver of warnings. */
export interface Asking {
  signal: AbortSignal;
  warn(text: string): void;
}

/** One conversation, locked for its holder. */
export interface Conversation {
  /** The session id; "" when there is none. */
  sessionId(): Promise<string>;
  keep(sessionId: string): Promise<void>;
  forget(): Promise<void>;
}

export class Sessions {
  readonly #folder: string;
  readonly #profile: string;
  /** The last waiting or running turn of this process, by name. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(home: string, profile: string) {
    this.#folder = join(home, "bridge");
    this.#profile = profile;
  }

  /**
   * Turns of one conversation run one after the other, in the order of their calls; turns of other processes run in between. Rejects when
   * the signal aborts before the turn begins.
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

  /** The session id in the file, whoever holds its lock; "" when there is none. */
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

  /** Rejects when `signal` aborts. */
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

/** A home that is not writable costs the memory, not the turn. */
async function tried(what: string, warn: (text: string) => void, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    warn(`${what}: ${messageOf(error)}`);
  }
}

/** An unreadable file counts as absent. */
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
