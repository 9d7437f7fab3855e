/** Sessions as folders under PARLEY_HOME/sessions: `log.jsonl`, which is the truth, `snapshot.json`, which saves reading it, and `lock`. */
import { existsSync, statSync } from "node:fs";
import { readdir, rename, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, ParleyError } from "../../core/errors.js";
import type { Event } from "../../core/event.js";
import { mintId } from "../../core/ids.js";
import { makeFolder, syncFolder } from "../../os/folders.js";
import { copyLog } from "./copy-log.js";
import { parseEntry, type Entry, type ReadEntry } from "./entry.js";
import { folderName, idOf } from "./folder-name.js";
import { readHead } from "./heads.js";
import { takeLock, watchLock } from "../../os/lock.js";
import { LogFile, readLines } from "../../os/log-file.js";
import { rebuild } from "./rebuild.js";
import { readSnapshot, snapshotOf, writeSnapshot, type Snapshot } from "./snapshot.js";
import type { SessionLog, SessionStore, SessionSummary, StoredSession } from "./store.js";

const LOG = "log.jsonl";
/** The shortest line that cannot be read. */
const DAMAGED = "-";
/** No id encodes to a name with a dot. */
const REMOVED = ".removed-";
/** Log that may lie behind a snapshot; with a longer session, as much as the snapshot is long. */
const WORTH_A_SNAPSHOT = 256 * 1024;
/** Logs that are looked at together. */
const AT_ONCE = 32;
/** A folder without a log may be one that somebody is just filling. */
const ABANDONED_MS = 60 * 60 * 1000;

type Release = () => Promise<void>;

/** Whether there is a session of that id, whoever has it. */
export function isStored(home: string, id: string): boolean {
  try {
    return !isEmpty(join(home, "sessions", folderName(id)));
  } catch {
    return false;
  }
}

export function jsonlStore(home: string, options: { keep: number; redact<T>(value: T): T }): SessionStore {
  const root = join(home, "sessions");
  const folderOf = (id: string): string => join(root, folderName(id));
  return { create, open: reopen, fork, list, latest, events, remove };

  async function create(session: Parameters<SessionStore["create"]>[0]): Promise<SessionLog> {
    const { id } = session;
    const folder = folderOf(id);
    if (!isEmpty(folder)) throw exists(id);
    makeFolder(folder, 0o700);
    const release = await takeLock(join(folder, "lock"), `Session '${id}'`).catch(async (error: unknown) => {
      await rmdir(folder).catch(() => {});
      throw error;
    });
    let file: LogFile | undefined;
    try {
      file = LogFile.open(join(folder, LOG));
      // Somebody may have had it between the first look and the lock.
      if (file.size > 0) throw exists(id);
      const log = sessionLog(folder, file, release, undefined, Promise.all([syncFolder(folder), syncFolder(root)]));
      log.append({ kind: "opened", at: Date.now(), ...session });
      log.flush();
      void prune(id).catch(() => {});
      return log;
    } catch (error) {
      await file?.close().catch(() => {});
      if (isEmpty(folder)) await discard(folder);
      await release();
      throw error;
    }
  }

  /** A home that cannot be written is still read: the session goes on, and what it does from now on is not kept. */
  async function reopen(id: string): Promise<Awaited<ReturnType<SessionStore["open"]>>> {
    const folder = folderOf(id);
    if (isEmpty(folder)) throw notFound(id);
    const writer = await openWriter(folder, id).catch((error: unknown) => {
      if (error instanceof ParleyError) throw error;
      if (isEmpty(folder)) throw notFound(id);
      return { warning: `What happens in this session from now on is not saved: ${messageOf(error)}` };
    });
    if ("warning" in writer) return { session: readable(id, rebuild(undefined, readEntries(folder, 0))), log: undefined, ...writer };
    const { file, release } = writer;
    try {
      const snapshot = await readSnapshot(folder, file);
      const session = readable(id, rebuild(snapshot?.session, readEntries(folder, snapshot?.offset ?? 0)));
      return { session, log: sessionLog(folder, file, release, snapshot) };
    } catch (error) {
      await file.close().catch(() => {});
      await release();
      throw error;
    }
  }

  async function fork(from: string, as: { id: string; name: string | undefined }): Promise<Awaited<ReturnType<SessionStore["open"]>>> {
    const [source, folder] = [folderOf(from), folderOf(as.id)];
    if (isEmpty(source)) throw notFound(from);
    if (!isEmpty(folder)) throw exists(as.id);
    try {
      makeFolder(folder, 0o700);
      const release = await takeLock(join(folder, "lock"), `Session '${as.id}'`);
      try {
        // Somebody may have had it between the first look and the lock.
        if (!isEmpty(folder)) throw exists(as.id);
        await copyLog(join(source, LOG), join(folder, LOG), as);
      } finally {
        await release();
      }
    } catch (error) {
      if (error instanceof ParleyError) throw error;
      const warning = `This copy of session '${from}' is not saved: ${messageOf(error)}`;
      return { session: readable(from, rebuild(undefined, readEntries(source, 0))), log: undefined, warning };
    }
    await Promise.all([syncFolder(folder), syncFolder(root)]);
    void prune(as.id).catch(() => {});
    return reopen(as.id);
  }

  async function openWriter(folder: string, id: string): Promise<{ file: LogFile; release: Release }> {
    const release = await takeLock(join(folder, "lock"), `Session '${id}'`);
    try {
      return { file: LogFile.open(join(folder, LOG)), release };
    } catch (error) {
      await release();
      throw error;
    }
  }

  function sessionLog(
    folder: string,
    file: LogFile,
    release: Release,
    snapshot: Snapshot | undefined,
    rooted?: Promise<unknown>,
  ): SessionLog {
    let { offset, bytes } = snapshot ?? { offset: 0, bytes: 0 };
    let closing: Promise<void> | undefined;
    let lines: string[] = [];
    const isOurs = watchLock(join(folder, "lock"));
    rooted?.catch(() => {});
    return {
      append(entry) {
        lines.push(JSON.stringify(options.redact(entry)));
      },
      flush,
      giveUp() {
        const lost = JSON.stringify({ kind: "lost", at: Date.now() } satisfies Entry);
        if (!succeeds(() => write(lost))) succeeds(() => write(DAMAGED));
      },
      async sync() {
        flush();
        await Promise.all([rooted, file.sync()]);
      },
      async settle(session) {
        flush();
        if (file.size - offset < Math.max(WORTH_A_SNAPSHOT, bytes)) return;
        const text = snapshotOf(options.redact(session()), file);
        offset = file.size;
        bytes = text.length;
        // It must not know what a power cut takes from the log.
        await file.sync();
        // Without it the next opening takes longer, and that is all.
        await writeSnapshot(folder, text).catch(() => {});
      },
      close: () => (closing ??= close()),
    };

    /** Together: to write costs more than what is written. */
    function flush(): void {
      if (lines.length === 0) return;
      const text = lines.join("\n");
      lines = [];
      write(text);
    }

    function write(text: string): void {
      if (closing === undefined && !isOurs()) throw new Error("another process has it, or it was removed");
      file.append(text);
    }

    async function close(): Promise<void> {
      try {
        flush();
        await file.close();
      } finally {
        await release();
      }
    }
  }

  async function list(): Promise<SessionSummary[]> {
    const ids = await stored();
    const found: SessionSummary[] = [];
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const heads = ids.slice(at, at + AT_ONCE).map(async (id) => ({ id, head: await readHead(join(folderOf(id), LOG)) }));
      for (const { id, head } of await Promise.all(heads)) if (head !== undefined) found.push({ id, ...head });
    }
    return found.sort((a, b) => b.usedAt - a.usedAt);
  }

  async function latest(cwd: string): Promise<string | undefined> {
    return (await list()).find((session) => session.cwd === cwd)?.id;
  }

  async function events(id: string): Promise<Event[]> {
    const folder = folderOf(id);
    if (isEmpty(folder)) throw notFound(id);
    return [...readEntries(folder, 0)].flatMap((entry) =>
      entry.kind === "event" && !isSilent(entry.event) ? [replayed(entry.event)] : [],
    );
  }

  async function remove(id: string): Promise<void> {
    const folder = folderOf(id);
    if (!existsSync(join(folder, LOG))) throw notFound(id);
    await removeFolder(folder, `Session '${id}'`);
  }

  async function removeFolder(folder: string, what: string): Promise<void> {
    const release = await takeLock(join(folder, "lock"), what);
    try {
      await discard(folder);
    } finally {
      await release();
    }
  }

  /** Gone in one step: nobody ever opens half a session. */
  async function discard(folder: string): Promise<void> {
    const away = join(root, `${REMOVED}${mintId()}`);
    await rename(folder, away);
    await rm(away, { recursive: true, force: true });
  }

  /** The oldest go when there are too many; one that is in use stays. What others left half made or half removed goes too. */
  async function prune(newest: string): Promise<void> {
    const old = (await list()).slice(options.keep).filter(({ id }) => id !== newest);
    for (const { id } of old) await remove(id).catch(() => {});
    for (const name of await readdir(root)) {
      if (name.startsWith(REMOVED)) await rm(join(root, name), { recursive: true, force: true }).catch(() => {});
      else if (isAbandoned(join(root, name))) await removeFolder(join(root, name), name).catch(() => {});
    }
  }

  async function stored(): Promise<string[]> {
    const names = await readdir(root).catch(() => []);
    return names.flatMap((name) => idOf(name) ?? []);
  }
}

function succeeds(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

/** An empty line, as an editor leaves it, is no damage. */
function* readEntries(folder: string, from: number): Generator<ReadEntry> {
  for (const line of readLines(join(folder, LOG), from)) if (line.trim() !== "") yield parseEntry(line);
}

/** Nothing was ever said there. */
function isEmpty(folder: string): boolean {
  return (statSync(join(folder, LOG), { throwIfNoEntry: false })?.size ?? 0) === 0;
}

function isAbandoned(folder: string): boolean {
  if (!isEmpty(folder)) return false;
  const stats = statSync(folder, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && Date.now() - stats.mtimeMs > ABANDONED_MS;
}

/** A prompt without words is in the log, so that its turn is told from what is said into it; nobody said anything. */
function isSilent(event: Event): boolean {
  return event.type === "user.message" && event.parts.length === 0;
}

/** Its deltas are not kept, so a block that was streamed then is whole now. */
function replayed(event: Event): Event {
  if (event.type !== "text.done" && event.type !== "thinking.done") return event;
  const { streamed: _, ...whole } = event;
  return whole;
}

/** Called like its folder, also where that was copied or renamed by hand. */
function readable(id: string, session: StoredSession | undefined): StoredSession {
  if (session !== undefined) return { ...session, id };
  throw fault(
    `The log of session '${id}' cannot be read: its first line is damaged, or a later version wrote it; 'parley sessions rm ${id}' removes it`,
  );
}

function exists(id: string): ParleyError {
  return fault(`Session ID '${id}' already exists`);
}

function notFound(id: string): ParleyError {
  return fault(`Session '${id}' not found; 'parley sessions' lists what is stored`);
}

function fault(message: string): ParleyError {
  return new ParleyError({ code: "session", message, retryable: false });
}
