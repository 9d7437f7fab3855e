/**
 * File descriptors of this process: how many it may have, and how many are open. Node raises the soft limit to the hard one when it
 * starts, so that only the hard one counts. Linux tells both numbers in files; elsewhere nothing is refused ahead of the system.
 */
import { readdirSync, readFileSync } from "node:fs";
import { ParleyError } from "../../core/errors.js";

export interface DescriptorCount {
  open: number;
  limit: number;
}

/** Claims from one count to the next: a count looks at every descriptor. */
const CLAIMS_PER_COUNT = 16;
/** The first claims of a process are not worth a count. */
const UNCOUNTED_CLAIMS = 8;
/** A part of the limit stays for commands, connections and files of the sessions that are open. */
const RESERVED_PART = 1 / 8;
const LEAST_RESERVED = 32;
const MOST_RESERVED = 512;

export class Descriptors {
  readonly #count: () => DescriptorCount | undefined;
  #claims = 0;
  /** Claimed, and perhaps not opened yet: no count sees them. */
  #pending = 0;
  /** The last count, with the claimed descriptors. */
  #known: DescriptorCount | undefined;

  constructor(count: () => DescriptorCount | undefined = countDescriptors) {
    this.#count = count;
  }

  /**
   * Before so many are opened to stay. Throws a `limit` fault when they would be taken from what is reserved. Returns what is called when
   * they are open, or will not be.
   */
  claim(wanted: number): () => void {
    this.#claims++;
    if (this.#claims > UNCOUNTED_CLAIMS) this.#makeSure(wanted);
    this.#pending += wanted;
    return () => {
      this.#pending -= wanted;
    };
  }

  #makeSure(wanted: number): void {
    if (this.#known === undefined || this.#claims % CLAIMS_PER_COUNT === 0 || !hasRoom(this.#known, wanted)) this.#known = this.#recount();
    if (this.#known === undefined) return;
    if (!hasRoom(this.#known, wanted)) throw noneLeft(this.#known);
    this.#known.open += wanted;
  }

  #recount(): DescriptorCount | undefined {
    const count = this.#count();
    return count && { ...count, open: count.open + this.#pending };
  }
}

/** Of this process: all that it opens counts against the same limit. */
export const descriptors = new Descriptors();

/** The same fault where the system itself refused to open one more. */
export function noneLeft(count: DescriptorCount | undefined = countDescriptors()): ParleyError {
  const has = count === undefined ? "" : ` (${count.open} of ${count.limit})`;
  return new ParleyError({
    code: "limit",
    message: `Too many files are open${has} for another session; close sessions, or start this program with a higher limit ('ulimit -n 65536')`,
    retryable: true,
    param: "ulimit -n",
  });
}

function hasRoom({ open, limit }: DescriptorCount, wanted: number): boolean {
  const reserved = Math.min(MOST_RESERVED, Math.max(LEAST_RESERVED, Math.floor(limit * RESERVED_PART)));
  return limit - open - wanted >= reserved;
}

function countDescriptors(): DescriptorCount | undefined {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1];
    return soft === undefined ? undefined : { open: readdirSync("/proc/self/fd").length - 1, limit: Number(soft) };
  } catch {
    return undefined;
  }
}
