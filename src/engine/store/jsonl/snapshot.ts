/**
 * `snapshot.json`: the state of a session, with its checksum, and the place in the log that it includes. It saves reading; the log is
 * the truth.
 */
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { SessionConfig } from "../../../core/config.js";
import { isSealed, seal } from "./checksum.js";
import { StoredMessage } from "../entry.js";
import type { LogFile } from "../../../os/files/log-file.js";
import type { KeptSession } from "../store.js";

/** Bytes of log before that place that are part of a snapshot: they tell whether log and snapshot belong together. */
const SEAM = 256;

const Snapshot = v.object({
  offset: v.number(),
  seam: v.string(),
  session: v.object({
    id: v.string(),
    cwd: v.string(),
    name: v.optional(v.string()),
    config: SessionConfig,
    messages: v.array(StoredMessage),
    lastTurn: v.optional(v.picklist(["answered", "cut"])),
    seen: v.optional(v.record(v.string(), v.string())),
    seq: v.number(),
  }),
});

export interface Snapshot {
  session: KeptSession;
  /** The place in the log to read on from. */
  offset: number;
  /** The length of the snapshot. */
  bytes: number;
}

/** A snapshot is not used if it is damaged, has no checksum, or does not fit its log (which was cut, or restored from a copy). */
export async function readSnapshot(folder: string, log: Pick<LogFile, "size" | "before">): Promise<Snapshot | undefined> {
  try {
    const bytes = await readFile(join(folder, "snapshot.json"));
    if (!isSealed(bytes)) return undefined;
    const value: unknown = JSON.parse(bytes.toString());
    if (!v.is(Snapshot, value)) return undefined;
    const { offset, seam, session } = value;
    if (offset > log.size || seam !== seamAt(log, offset)) return undefined;
    return {
      session: { ...session, name: session.name, lastTurn: session.lastTurn, seen: session.seen ?? {} },
      offset,
      bytes: bytes.length,
    };
  } catch {
    return undefined;
  }
}

/** The state of a session at this place of its log. */
export function snapshotOf(session: KeptSession, log: LogFile): string {
  return seal(JSON.stringify({ offset: log.size, seam: seamAt(log, log.size), session }));
}

export async function writeSnapshot(folder: string, text: string): Promise<void> {
  const draft = join(folder, "snapshot.tmp");
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, join(folder, "snapshot.json"));
}

function seamAt(log: Pick<LogFile, "before">, offset: number): string {
  return log.before(offset, SEAM).toString("base64");
}
