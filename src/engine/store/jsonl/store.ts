/**
 * Sessions as folders under PARLEY_HOME/sessions: `log.jsonl` is the truth, `snapshot.json` saves reading it, `files` has copies
 * of changed files, and `lock` names the owner.
 */
import { existsSync, statSync } from "node:fs";
import { readdir, rename, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { ParleyError, systemCode } from "../../../core/errors.js";
import type { Event } from "../../../core/event.js";
import { mintId } from "../../../core/ids.js";
import { descriptors, noneLeft } from "../../../os/processes/descriptors.js";
import { makeFolder, syncFolder } from "../../../os/files/folders.js";
import { Gate } from "../../../os/gate.js";
import { takeLock, watchLock } from "../../../os/files/lock.js";
import { LogFile } from "../../../os/files/log-file.js";
import { copiesIn, shareCopies } from "./copies.js";
import { copyLog } from "./copy-log.js";
import { writeEntry } from "../entry.js";
import { folderName, idOf } from "./folder-name.js";
import { readHead } from "./heads.js";
import { readMarks, writeMarks } from "./marks.js";
import { prune } from "./prune.js";
import { holdsRewind, lostItsEnd, readEntries } from "./read-log.js";
import { readTurns } from "../logged-turns.js";
import { rebuild } from "../rebuild.js";
import { readSnapshot, snapshotOf, writeSnapshot, type Snapshot } from "./snapshot.js";
import type { SessionLog, SessionMarks, SessionStore, SessionSummary } from "../store.js";

const LOG = "log.jsonl";
/** The shortest unreadable line: a marker for a log that failed. */
const DAMAGED = "-";
/** No id encodes to a name with a dot. */
const REMOVED = ".removed-";
/** The length of log behind a snapshot that makes a new one worthwhile; for a longer session as much as the snapshot's length. */
const WORTH_A_SNAPSHOT = 256 * 1024;
/** The number of logs that are looked at together. */
const AT_ONCE = 32;
/** The number of log lines read before yielding. */
const READ_AT_ONCE = 256;
/** The files that an open session holds: its log and its lock. */
const DESCRIPTORS = 2;

/** The number of simultaneous openings in this process: an opening holds more files than an open session. */
const opening = new Gate(8);

type Release = () => Promise<void>;

/** Whether there is a session of that id, in use or not. */
export function isStored(home: string, id: string): boolean {
  try {
    return !isEmpty(join(home, "sessions", folderName(id)));
  } catch {
    return false;
  }
}

/** The default megabytes of file copies that a session keeps. */
const UNDO_MIB = 256;

interface StoreOptions {
  /** The most sessions to keep. */
  keep: number;
  /** The megabytes of file copies that each session keeps for undo; 0 keeps none. */
  undoMiB?: number | undefined;
  redact<T>(value: T): T;
}

/** Keeps sessions as append-only files below a home folder. */
export function jsonlStore(home: string, options: StoreOptions): SessionStore {
  const { undoMiB = UNDO_MIB } = options;
  const root = join(home, "sessions");
  const folderOf = (id: string): string => join(root, folderName(id));
  const logOf = (id: string): string => join(folderOf(id), LOG);
  let marking: Promise<unknown> = Promise.resolve();
  return {
    create: (session) => admitted(() => create(session)),
    open: (id) => admitted(() => reopen(id)),
    fork: (from, as, before) => admitted(() => fork(from, as, before)),
    list,
    latest,
    events,
    remove,
    mark,
  };

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
      // Another process may have used the id between the first look and the lock.
      if (file.size > 0) throw exists(id);
      const log = sessionLog(folder, file, release, undefined, Promise.all([syncFolder(folder), syncFolder(root)]));
      log.append({ kind: "opened", at: Date.now(), ...session });
      log.flush();
      pruneSoon();
      return log;
    } catch (error) {
      await file?.close().catch(() => {});
      if (isEmpty(folder)) await discard(folder).catch(() => {});
      await release();
      throw error;
    }
  }

  /** `original` is named if the log cannot be read: a refused copy is removed. */
  async function reopen(id: string, original = id): ReturnType<SessionStore["open"]> {
    const folder = folderOf(id);
    if (isEmpty(folder)) throw notFound(id);
    const { file, release } = await openWriter(folder, id).catch((error: unknown) => {
      if (isEmpty(folder)) throw notFound(id);
      throw error;
    });
    try {
      const snapshot = await readSnapshot(folder, file);
      const session = rebuild(snapshot?.session, readEntries(logOf(id), snapshot?.offset ?? 0));
      if (session === undefined) throw unreadable(original);
      // The session's name is that of its folder, even if the folder was copied or renamed by hand.
      const { name = session.name } = await readMarks(folder);
      return { session: { ...session, id, name }, log: sessionLog(folder, file, release, snapshot) };
    } catch (error) {
      await file.close().catch(() => {});
      await release();
      throw error;
    }
  }

  async function fork(...[from, as, before]: Parameters<SessionStore["fork"]>): ReturnType<SessionStore["open"]> {
    const [source, folder] = [folderOf(from), folderOf(as.id)];
    if (isEmpty(source)) throw notFound(from);
    if (!isEmpty(folder)) throw exists(as.id);
    makeFolder(folder, 0o700);
    const release = await takeLock(join(folder, "lock"), `Session '${as.id}'`);
    try {
      // Another process may have used the id between the first look and the lock.
      if (!isEmpty(folder)) throw exists(as.id);
      const place = before === undefined ? Infinity : placeBefore(from, before);
      await shareCopies(source, folder);
      const { name } = await readMarks(source);
      await copyLog(join(source, LOG), join(folder, LOG), { id: as.id, name: as.name ?? name }, place);
    } catch (error) {
      if (isEmpty(folder)) await discard(folder).catch(() => {});
      throw error;
    } finally {
      await release();
    }
    try {
      await Promise.all([syncFolder(folder), syncFolder(root)]);
      return await reopen(as.id, from);
    } catch (error) {
      await remove(as.id).catch(() => {});
      throw error;
    } finally {
      pruneSoon();
    }
  }

  async function openWriter(folder: string, id: string): Promise<{ file: LogFile; release: Release }> {
    const release = await takeLock(join(folder, "lock"), `Session '${id}'`);
    try {
      return { file: LogFile.open(join(folder, LOG), lostItsEnd), release };
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
        lines.push(writeEntry(options.redact(entry)));
      },
      flush,
      giveUp() {
        const lost = writeEntry({ kind: "lost", at: Date.now() });
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
        // Synced first: a snapshot must not hold entries that a power cut removes from the log.
        await file.sync();
        // Without a snapshot the next opening takes longer; nothing is lost.
        await writeSnapshot(folder, text).catch(() => {});
      },
      close: () => (closing ??= close()),
      entries: () => readEntries(join(folder, LOG), 0),
      copies: undoMiB === 0 ? undefined : copiesIn(folder, undoMiB),
    };

    /** Lines are written together: a write costs more than its bytes. */
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
      const heads = ids.slice(at, at + AT_ONCE).map(async (id) => {
        const [head, marks] = await Promise.all([readHead(logOf(id)), readMarks(folderOf(id))]);
        return { id, head, marks };
      });
      for (const { id, head, marks } of await Promise.all(heads)) {
        if (head === undefined) continue;
        found.push({ id, ...head, name: marks.name ?? head.name, ...(marks.archived === true && { archived: true }) });
      }
    }
    return found.sort((a, b) => b.usedAt - a.usedAt);
  }

  async function latest(cwd: string): Promise<string | undefined> {
    return (await list()).find((session) => session.cwd === cwd && session.archived !== true)?.id;
  }

  async function* events(id: string, onDamaged?: (lines: readonly number[]) => void): AsyncGenerator<Event, void> {
    if (isEmpty(folderOf(id))) throw notFound(id);
    const damaged: number[] = [];
    const { undone } = holdsRewind(logOf(id)) ? readTurns(readEntries(logOf(id), 0)) : { undone: [] };
    let place = 0;
    for (const entry of readEntries(logOf(id), 0)) {
      const at = place++;
      // Other sessions of the process get their turn while a long log is read.
      if (place % READ_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
      if (entry.kind === "unreadable") damaged.push(entry.line);
      if (entry.kind !== "event" || isSilent(entry.event)) continue;
      const isUndone = entry.event.turn !== undefined && undone.some(({ from, to }) => from <= at && at < to);
      if (!isUndone) yield replayed(entry.event);
    }
    if (damaged.length > 0) onDamaged?.(damaged);
  }

  function placeBefore(id: string, { turn, next = false }: { turn: string; next?: boolean | undefined }): number {
    const { turns } = readTurns(readEntries(logOf(id), 0));
    const at = turns.findLastIndex((each) => each.id === turn);
    if (at === -1) throw fault(`There is no turn '${turn}' in session '${id}'`);
    return turns[next ? at + 1 : at]?.place ?? Infinity;
  }

  async function remove(id: string): Promise<void> {
    const folder = folderOf(id);
    if (!existsSync(logOf(id))) throw notFound(id);
    await removeFolder(folder, `Session '${id}'`);
  }

  /** One after the other: each adds to the marks that are there. */
  function mark(id: string, marks: SessionMarks): Promise<void> {
    const marked = marking.then(async () => {
      if (isEmpty(folderOf(id))) throw notFound(id);
      await writeMarks(folderOf(id), options.redact(marks));
    });
    marking = marked.catch(() => {});
    return marked;
  }

  async function removeFolder(folder: string, what: string): Promise<void> {
    const release = await takeLock(join(folder, "lock"), what);
    try {
      await discard(folder);
    } finally {
      await release();
    }
  }

  /** The folder is renamed first, so that nobody opens half a session. */
  async function discard(folder: string): Promise<void> {
    const away = join(root, `${REMOVED}${mintId()}`);
    await rename(folder, away);
    await rm(away, { recursive: true, force: true });
  }

  /** Sessions in use stay. */
  function pruneSoon(): void {
    prune({
      root,
      log: LOG,
      keep: options.keep,
      removed: REMOVED,
      removeSession: remove,
      removeEmpty: (name) => removeFolder(join(root, name), name),
      removeRest: (name) => rm(join(root, name), { recursive: true, force: true }),
    });
  }

  async function stored(): Promise<string[]> {
    const names = await readdir(root).catch(() => []);
    return names.flatMap((name) => idOf(name) ?? []);
  }
}

/** Opens a few sessions at once, and none if too many files are open: a session that cannot be stored is refused. */
async function admitted<T>(open: () => Promise<T>): Promise<T> {
  return opening.run(async () => {
    const claimed = descriptors.claim(DESCRIPTORS);
    try {
      return await open();
    } catch (error) {
      throw systemCode(error) === "EMFILE" ? noneLeft() : error;
    } finally {
      claimed();
    }
  });
}

function succeeds(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

/** Whether the log is missing or empty. */
function isEmpty(folder: string): boolean {
  return (statSync(join(folder, LOG), { throwIfNoEntry: false })?.size ?? 0) === 0;
}

/** Whether the event is a prompt without text. The log has it to tell the prompt from steering; it is not sent to hosts. */
function isSilent(event: Event): boolean {
  return event.type === "user.message" && event.parts.length === 0;
}

/** Deltas are not logged, so a streamed block is whole in the log. */
function replayed(event: Event): Event {
  if (event.type !== "text.done" && event.type !== "thinking.done") return event;
  const { streamed: _, ...whole } = event;
  return whole;
}

function unreadable(id: string): ParleyError {
  return fault(
    `The log of session '${id}' cannot be read: its first line is damaged, or a later version wrote it; 'parley sessions show ${id}' shows the rest, 'parley sessions rm ${id}' removes it`,
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
