/** The examples of the repository as a corpus to change: the conversations of each dialect's vectors, and files by kind. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { Event } from "../../../src/core/event.js";
import { Op } from "../../../src/core/op.js";
import type { Launch } from "../../../src/core/wire.js";
import type { Dialect } from "../../../src/dialects/dialect.js";

const ROOT = join(import.meta.dirname, "../../..");

/** The texts of the files below a folder whose names match, in the order of their names. */
export function filesBelow(folder: string, name: RegExp): string[] {
  const place = join(ROOT, folder);
  if (!existsSync(place)) return [];
  const names = readdirSync(place, { recursive: true }).map(String);
  return names
    .filter((each) => name.test(each))
    .toSorted()
    .map((each) => readFileSync(join(place, each), "utf8"));
}

/** One thing that happens to a side. */
export type Move = { rec: unknown } | { write: Op | Event } | { launch: Launch };

export interface Conversation {
  side: "agent" | "host";
  moves: Move[];
}

const Line = v.object({
  side: v.optional(v.picklist(["agent", "host"])),
  dir: v.optional(v.picklist(["op", "event"])),
  launch: v.optional(v.object({ argv: v.array(v.string()), env: v.record(v.string(), v.string()), cwd: v.optional(v.string()) })),
  wire: v.optional(v.unknown()),
  means: v.optional(v.unknown()),
});
type Line = v.InferOutput<typeof Line>;

/** A file of plain vectors is two conversations: with the agent's side by its ops, and with the host's side by its events. */
export function conversationsOf({ id }: Dialect): Conversation[] {
  const [folder = "", revision] = id.split("@");
  const vectors = join("src/dialects", folder, revision === undefined ? "vectors" : `vectors@${revision}`);
  const files = filesBelow(vectors, /\.jsonl$/).map((text) =>
    text
      .split("\n")
      .filter(Boolean)
      .map((line) => v.parse(Line, JSON.parse(line))),
  );
  const both = (["agent", "host"] as const).flatMap((side) =>
    files.map((lines): Conversation => ({ side, moves: lines.flatMap((line) => movesOf(line, side)) })),
  );
  return both.filter(({ moves }) => moves.length > 0).map(opened);
}

/** A host opens a session first. */
function opened({ side, moves }: Conversation): Conversation {
  const [first] = moves;
  if (side === "agent" || (first !== undefined && "write" in first && first.write.type === "session.open")) return { side, moves };
  const session = moves.flatMap((move) => ("rec" in move && v.is(Named, move.rec) ? [move.rec.session] : []))[0] ?? "s";
  return { side, moves: [{ write: { type: "session.open", id: "open", session, open: "new" } }, ...moves] };
}

const Named = v.looseObject({ session: v.string() });

function movesOf(line: Line, side: Conversation["side"]): Move[] {
  if (line.side !== undefined && line.side !== side) return [];
  if (line.launch !== undefined) return [{ launch: line.launch }];
  const reads = (side === "agent") === (line.dir === "op");
  if (reads) return [line.wire].flat().flatMap((rec) => (rec === undefined ? [] : [{ rec }]));
  return [line.means].flat().flatMap((write) => (v.is(v.union([Op, Event]), write) ? [{ write }] : []));
}
