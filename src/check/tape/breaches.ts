/** The breaches in a tape: violations of the grammar, and messages that do not match their dialect's schemas. */
import * as v from "valibot";
import { Grammar } from "../../core/grammar.js";
import { loadDialect, type Dialect } from "../../dialects/index.js";
import type { Item, Tape } from "./tape.js";

export interface Breach {
  /** The line of the tape. */
  n: number;
  why: string;
}

export async function breaches(tape: Tape): Promise<Breach[]> {
  const { side, dialect, as, drive } = tape.start;
  const [host, agent] = await Promise.all(
    [as ?? dialect, drive ?? dialect].map(async (id) => (id === undefined ? undefined : loadDialect(id))),
  );
  const grammars = new Map<string, Grammar>();
  const grammarOf = (conn: string): Grammar => {
    const known = grammars.get(conn) ?? new Grammar();
    grammars.set(conn, known);
    return known;
  };
  const found: Breach[] = [];
  for (const item of tape.items) {
    const say = (why: string): number => found.push({ n: item.n, why });
    if (item.kind === "breach") say(item.why);
    else if (item.kind === "op") grammarOf(item.conn).op(item.op);
    else if (item.kind === "event") grammarOf(item.conn).event(item.event).forEach(say);
    else {
      const isHostWire = item.wire === undefined ? side !== "host" : item.wire === "host";
      const why = wireBreach(item, isHostWire ? host : agent, isHostWire);
      if (why !== undefined) say(why);
    }
  }
  const last = tape.items.at(-1)?.n ?? 1;
  for (const grammar of grammars.values()) for (const why of grammar.end()) found.push({ n: last, why });
  return found;
}

/** On a host's wire we receive ops and send events; on an agent's wire it is the reverse. */
function wireBreach(item: Extract<Item, { kind: "wire" }>, dialect: Dialect | undefined, isHostWire: boolean): string | undefined {
  if (item.bad !== undefined) return `${item.bad}: ${(item.line ?? "").slice(0, 200)}`;
  if (item.rec === undefined || dialect === undefined || dialect.framing === "text") return undefined;
  const isOp = (item.dir === "in") === isHostWire;
  const read = v.safeParse(isOp ? dialect.wire.op : dialect.wire.event, item.rec);
  if (read.success) return undefined;
  const [issue] = read.issues;
  return `The ${isOp ? "host" : "agent"} said what ${dialect.id} does not: ${v.getDotPath(issue) ?? "the record"}: ${issue.message}`;
}
