/**
 * Pruning: when there are more sessions than are kept, the oldest go. It is asked for with each new session and done seldom: a look reads
 * the names of one folder, and only when they are more than a tenth too many are the times of the logs read, without opening them.
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
  /** Beginning of the names of folders that a removal left behind when it was cut off. */
  removed: string;
  /** Each of these rejects for a session that is in use. */
  removeSession(id: string): Promise<void>;
  removeEmpty(name: string): Promise<void>;
  removeRest(name: string): Promise<void>;
}

/** Sessions that are removed at once, and the pause before the next ones. */
const MOST_REMOVED = 64;
const PAUSE_MS = 1000;
/** Logs whose times are asked for together. */
const AT_ONCE = 32;
/** Another process may just be filling a folder without a log. */
const ABANDONED_MS = 60 * 60 * 1000;

interface Look {
  /** A look was asked for while another was under way. */
  again: boolean;
  /** Up to so many names the last look has found nothing that it could remove. */
  settled: number;
  running: boolean;
}

/** Looks by root: the stores of a server's connections may share one root. */
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
    // Folders are opened one at a time: a folder that is no session of ours is not removed.
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
    // A process that is about to end does not wait for pruning: the next process goes on.
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
