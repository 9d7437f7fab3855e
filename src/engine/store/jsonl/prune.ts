/**
 * Pruning: removes the oldest sessions beyond the number to keep. Each new session asks for it, but it works seldom: a check reads
 * the names of one folder; only if they are more than a tenth too many, it reads the times of the logs, without opening them.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { idOf } from "./folder-name.js";
import { readHead } from "./heads.js";

export interface Prunable {
  /** The folder of sessions, and the name of a session's log in its own folder. */
  root: string;
  log: string;
  keep: number;
  /** The beginning of the names of folders that an interrupted removal left behind. */
  removed: string;
  /** Rejects for a session in use. */
  removeSession(id: string): Promise<void>;
  removeEmpty(name: string): Promise<void>;
  removeRest(name: string): Promise<void>;
}

/** The number of sessions removed at once, and the pause before the next ones. */
const MOST_REMOVED = 64;
const PAUSE_MS = 1000;
/** The number of logs whose times are read together. */
const AT_ONCE = 32;
/** The least age of a folder without a log: another process may be filling a younger one. */
const ABANDONED_MS = 60 * 60 * 1000;

interface Look {
  /** A check was asked for during another one. */
  again: boolean;
  /** The number of names up to which the last check found nothing to remove. */
  settled: number;
  running: boolean;
}

/** Checks by root: several stores of a server may share one root. */
const looks = new Map<string, Look>();

/** In the background, one at a time for each root. */
export function prune(sessions: Prunable): void {
  if (sessions.keep === Infinity) return;
  const look = looks.get(sessions.root) ?? { again: false, settled: 0, running: false };
  looks.set(sessions.root, look);
  look.again = true;
  if (!look.running) void run(sessions, look);
}

async function run(sessions: Prunable, look: Look): Promise<void> {
  look.running = true;
  while (look.again) {
    look.again = false;
    await lookOnce(sessions, look).catch(() => {});
  }
  look.running = false;
}

async function lookOnce(sessions: Prunable, look: Look): Promise<void> {
  const names = await readdir(sessions.root);
  for (const name of names) if (name.startsWith(sessions.removed)) await sessions.removeRest(name).catch(() => {});
  const slack = Math.floor(sessions.keep / 10);
  if (names.length <= Math.max(sessions.keep + slack, look.settled)) return;
  const { stored, empty } = await times(sessions, names);
  for (const name of empty) await sessions.removeEmpty(name).catch(() => {});
  const old = stored.slice(sessions.keep).toReversed();
  let removed = 0;
  for (const { id, name } of old) {
    if (removed === MOST_REMOVED) break;
    // Folders are opened one at a time: a folder that is no session is not removed.
    if ((await readHead(join(sessions.root, name, sessions.log))) === undefined) continue;
    const isGone = await sessions.removeSession(id).then(
      () => true,
      () => false,
    );
    if (isGone) removed++;
  }
  if (removed < MOST_REMOVED) {
    look.settled = names.length - removed + slack;
  } else {
    look.settled = 0;
    // A process that is about to exit does not wait for pruning: the next process continues it.
    setTimeout(() => prune(sessions), PAUSE_MS).unref();
  }
}

/** Newest first. */
async function times({ root, log }: Prunable, names: readonly string[]) {
  const stored: { id: string; name: string; usedAt: number }[] = [];
  const empty: string[] = [];
  const look = async (name: string): Promise<void> => {
    const stats = await stat(join(root, name, log)).catch(() => undefined);
    const id = idOf(name);
    if (stats !== undefined && stats.size > 0) {
      if (id !== undefined && stats.isFile()) stored.push({ id, name, usedAt: stats.mtimeMs });
    } else if (await isAbandoned(join(root, name))) {
      empty.push(name);
    }
  };
  for (let at = 0; at < names.length; at += AT_ONCE) await Promise.all(names.slice(at, at + AT_ONCE).map(look));
  return { stored: stored.sort((one, other) => other.usedAt - one.usedAt), empty };
}

async function isAbandoned(folder: string): Promise<boolean> {
  const stats = await stat(folder).catch(() => undefined);
  return stats?.isDirectory() === true && Date.now() - stats.mtimeMs > ABANDONED_MS;
}
