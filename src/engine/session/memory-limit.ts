/** The limit of the process's memory: above it a new turn waits, and is refused if memory does not fall. */
import { ParleyError } from "../../core/errors.js";

const MIB = 2 ** 20;
/** The share of Node's largest heap: the rest is for running turns. */
const HEAP_SHARE = 0.75;
/** Below this use no heap is nearly full. Reading the heap's limit would cost a first turn more than all other checks. */
const SMALL_MIB = 128;
const WAIT_MS = 10_000;
const LOOK_MS = 1000;

export class MemoryLimit {
  readonly #limit: number | "heap" | undefined;
  #mib: number | undefined;

  /** The limit in MiB; undefined: none. */
  constructor(limit: number | "heap" | undefined) {
    this.#limit = limit;
  }

  /** Resolves when a turn may begin, or when the signal aborts; throws a `limit` fault if none may begin in time. */
  async room(signal: AbortSignal): Promise<void> {
    if (this.#limit === undefined || !this.#isOver()) return;
    for (let waited = 0; waited <= WAIT_MS; waited += LOOK_MS) {
      if (waited > 0) await pause(signal);
      if (signal.aborted) return;
      collectGarbage();
      if (!this.#isOver()) return;
    }
    const message = `The process holds ${heldMiB()} MiB of memory, more than the limit of ${this.#most()} MiB, so no turn begins; close sessions or clear their conversations (limits.memoryMiB in config.yaml sets how much)`;
    throw new ParleyError({ code: "limit", message, retryable: true, param: "memoryMiB" });
  }

  #isOver(): boolean {
    const held = heldMiB();
    return (this.#limit !== "heap" || held > SMALL_MIB) && held > this.#most();
  }

  #most(): number {
    this.#mib ??= typeof this.#limit === "number" ? this.#limit : heapMiB();
    return this.#mib;
  }
}

function heldMiB(): number {
  return Math.round(process.memoryUsage.rss() / MIB);
}

function heapMiB(): number {
  return Math.round((process.getBuiltinModule("node:v8").getHeapStatistics().heap_size_limit / MIB) * HEAP_SHARE);
}

/** Garbage counts as used until it is collected, which an idle process may put off for long. */
function collectGarbage(): void {
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  setFlagsFromString("--expose-gc");
  const collect: unknown = process.getBuiltinModule("node:vm").runInNewContext("gc");
  // The flag is reset, because V8 rejects cached code (cli/load.ts) under other flags.
  setFlagsFromString("--no-expose-gc");
  if (typeof collect === "function") collect();
}

async function pause(signal: AbortSignal): Promise<void> {
  const { setTimeout: wait } = await import("node:timers/promises");
  await wait(LOOK_MS, undefined, { signal }).catch(() => {});
}
