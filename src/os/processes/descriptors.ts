/**
 * File descriptors of this process: how many it may have, and how many are open. Node raises the soft limit to the hard one when it
 * starts, so only the hard one counts. Linux shows both numbers in files; on other systems no claim is refused in advance.
 */
import { readdirSync, readFileSync } from "node:fs";
import { ParleyError } from "../../core/errors.js";

export interface DescriptorCount {
  open: number;
  limit: number;
}

/** The number of claims between two counts: a count looks at every descriptor. */
const CLAIMS_PER_COUNT = 16;
/** The first claims of a process need no count. */
const UNCOUNTED_CLAIMS = 8;
/** This part of the limit is kept for commands, connections and files of open sessions. */
const RESERVED_PART = 1 / 8;
const LEAST_RESERVED = 32;
const MOST_RESERVED = 512;

export class Descriptors {
  readonly #count: () => DescriptorCount | undefined;
  #claims = 0;
  /** Descriptors claimed since the last count. */
  #pending = 0;
  /** The result of the last count, with the claimed descriptors. */
  #known: DescriptorCount | undefined;

  constructor(count: () => DescriptorCount | undefined = countDescriptors) {
    this.#count = count;
  }

  /**
   * Claims descriptors before opening that many for long. Throws a `limit` fault if they would come out of the reserve. Returns a function
   * to call when they are open, or will not be opened.
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

/** The number of open descriptors of this process. */
export const descriptors = new Descriptors();

/** The same fault, for a refusal by the system itself. */
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

const CLOSED_ON_EXEC = 0o2000000;

/**
 * The descriptors behind the standard ones that every child gets: this process was started with them. Descriptors that
 * Node opens are not among them. Linux shows the flags of each; elsewhere none is found.
 */
export function inheritedDescriptors(): number[] {
  try {
    return readdirSync("/proc/self/fdinfo")
      .map(Number)
      .filter((fd) => fd > 2 && isInherited(fd));
  } catch {
    return [];
  }
}

function isInherited(fd: number): boolean {
  try {
    const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0;
  } catch {
    return false;
  }
}
