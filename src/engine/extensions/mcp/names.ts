/** What the model calls a server's tool: `mcp__server__tool`, in characters and a length that every provider takes. */
import { createHash } from "node:crypto";

const LONGEST = 64;
const HASH = 8;
/** So much of a name may be the server's, that its tools can still be told apart. */
const LONGEST_SERVER = 32;

/** Gives each thing a name of its own: as said, or with a hash where that is too long or taken. The same thing keeps its name. */
export class Names {
  readonly #given = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #prefix: string;
  readonly #longest: number;

  constructor(prefix: string, longest: number) {
    this.#prefix = prefix;
    this.#longest = longest;
  }

  of(thing: string): string {
    const known = this.#given.get(thing);
    if (known !== undefined) return known;
    const name = this.#free(thing);
    this.#taken.add(name);
    this.#given.set(thing, name);
    return name;
  }

  #free(thing: string): string {
    const plain = this.#prefix + thing.replace(/[^A-Za-z0-9_]/g, "_");
    if (plain.length <= this.#longest && !this.#taken.has(plain)) return plain;
    // A server may have chosen a name that looks like the hash of another: then the next one.
    for (let salt = 0; ; salt++) {
      const hash = createHash("sha256").update(`${salt}:${thing}`).digest("hex").slice(0, HASH);
      const name = `${plain.slice(0, this.#longest - HASH - 1)}_${hash}`;
      if (!this.#taken.has(name)) return name;
    }
  }
}

/** In the order of the configuration, so that a name does not depend on who connects first. */
export function serverNames(): Names {
  return new Names("mcp__", "mcp__".length + LONGEST_SERVER);
}

/** Of one server, whose own name is `mcp__server`. */
export function toolNames(server: string): Names {
  return new Names(`${server}__`, LONGEST);
}
