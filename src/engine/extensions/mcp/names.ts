/** The model's names for servers' tools: `mcp__server__tool`, in characters and a length that every provider takes. */
import { digest } from "../../../os/digest.js";

const PREFIX = "mcp__";
const LONGEST = 64;
/** So much of a name may be the server's, that its tools can still be told apart. */
const LONGEST_SERVER = 32;
const HASH = 8;

/** The names of a session's tools. A tool keeps the name that it was given. */
export class ToolNames {
  readonly #servers = new Names(PREFIX.length + LONGEST_SERVER);
  readonly #tools = new Names(LONGEST);

  /** Its tools' names begin with this. To be asked in the order of the configuration, so that it does not matter who connects first. */
  server(name: string): string {
    return this.#servers.of(name, PREFIX + plain(name));
  }

  tool(server: string, name: string): string {
    return this.#tools.of(JSON.stringify([server, name]), `${this.server(server)}__${plain(name)}`);
  }
}

/** The name of the tool in a rule: however long, and also where another tool has it. */
export function wholeName(server: string, tool: string): string {
  return `${PREFIX}${plain(server)}__${plain(tool)}`;
}

/** Each thing has one of its own: the wanted one, or that with a hash where it is too long or taken. */
class Names {
  readonly #given = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #longest: number;

  constructor(longest: number) {
    this.#longest = longest;
  }

  of(thing: string, wanted: string): string {
    const known = this.#given.get(thing);
    if (known !== undefined) return known;
    const name = wanted.length <= this.#longest && !this.#taken.has(wanted) ? wanted : this.#hashed(thing, wanted);
    this.#taken.add(name);
    this.#given.set(thing, name);
    return name;
  }

  /** Another tool may have the hashed name: then the next number is tried. */
  #hashed(thing: string, wanted: string): string {
    for (let salt = 0; ; salt++) {
      const hash = digest(`${salt}:${thing}`, HASH);
      const name = `${wanted.slice(0, this.#longest - HASH - 1)}_${hash}`;
      if (!this.#taken.has(name)) return name;
    }
  }
}

function plain(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, "_");
}
