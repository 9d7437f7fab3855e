/** Sessions as folders under PARLEY_HOME/sessions: `log.jsonl`, which is the truth, `snapshot.json`, which saves reading it, and `lock`. */
import { mkdirSync, openSync, closeSync, fsyncSync, existsSync } from "node:fs";
import { open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { SessionConfig } from "../../core/config.js";
import { plainText } from "../../core/content.js";
import { ParleyError, systemCode } from "../../core/errors.js";
import type { Event } from "../../core/event.js";
import { Entry, StoredMessage } from "./entry.js";
import { takeLock } from "./lock.js";
import { LogFile, readLines } from "./log-file.js";
import { rebuild } from "./rebuild.js";
import type { SessionLog, SessionStore, SessionSummary, StoredSession } from "./store.js";

const LONGEST_ID = 128;
/** Bytes of a log's beginning that tell what the session is. */
const HEAD = 16 * 1024;
const FIRST_PROMPT_CHARS = 80;

export function jsonlStore(home: string, options: { keep: number; redact<T>(value: T): T }): SessionStore {
  const root = join(home, "sessions");
  return { create, open: reopen, list, latest, events, remove };

  async function create(session: Parameters<SessionStore["create"]>[0]): Promise<SessionLog> {
    const folder = folderOf(root, session.id);
    makeFolder(root);
    if (existsSync(join(folder, "log.jsonl"))) throw fault(`Session ID '${session.id}' already exists`);
    makeFolder(folder);
    const release = await takeLock(join(folder, "lock"), `Session '${session.id}'`);
    const log = openLog(folder, release);
    log.append({ kind: "opened", at: Date.now(), ...session });
    syncFolder(folder);
    syncFolder(root);
    void prune(session.id);
    return log;
  }

  async function reopen(id: string): Promise<{ session: StoredSession; log: SessionLog }> {
    const folder = folderOf(root, id);
    if (!existsSync(join(folder, "log.jsonl"))) throw fault(`Session '${id}' not found`);
    const release = await takeLock(join(folder, "lock"), `Session '${id}'`);
    try {
      const log = openLog(folder, release);
      const session = await load(folder);
      if (session === undefined) throw fault(`The log of session '${id}' cannot be read; 'parley sessions rm ${id}' removes it`);
      return { session, log };
    } catch (error) {
      await release();
      throw error;
    }
  }

  function openLog(folder: string, release: () => Promise<void>): SessionLog {
    const file = LogFile.open(join(folder, "log.jsonl"));
    return {
      append: (entry) => file.append(JSON.stringify(options.redact(entry))),
      sync: () => file.sync(),
      async snapshot(session) {
        const offset = file.size;
        await file.sync();
        await writeAtomically(join(folder, "snapshot.json"), JSON.stringify({ offset, ...options.redact(session) }));
      },
      async close() {
        await file.close();
        await release();
      },
    };
  }

  async function list(): Promise<SessionSummary[]> {
    const names = await readdir(root).catch(() => []);
    const all = await Promise.all(names.map((name) => summary(join(root, name))));
    return all.flatMap((found) => found ?? []).sort((a, b) => b.usedAt - a.usedAt);
  }

  async function latest(cwd: string): Promise<string | undefined> {
    return (await list()).find((session) => session.cwd === cwd)?.id;
  }

  async function events(id: string): Promise<Event[]> {
    const file = join(folderOf(root, id), "log.jsonl");
    if (!existsSync(file)) throw fault(`Session '${id}' not found`);
    return readEntries(file, 0).flatMap((entry) => (entry.kind === "event" ? [entry.event] : []));
  }

  async function remove(id: string): Promise<void> {
    const folder = folderOf(root, id);
    if (!existsSync(join(folder, "log.jsonl"))) throw fault(`Session '${id}' not found`);
    await takeLock(join(folder, "lock"), `Session '${id}'`);
    await rm(folder, { recursive: true, force: true });
  }

  /** The oldest go when there are too many; one that is in use stays. */
  async function prune(newest: string): Promise<void> {
    const old = (await list()).slice(options.keep).filter(({ id }) => id !== newest);
    for (const { id } of old) await remove(id).catch(() => {});
  }
}

/** Ids are the host's: anything may stand in them, so they are not file names yet. */
function folderOf(root: string, id: string): string {
  if (id === "" || Buffer.byteLength(id) > LONGEST_ID) throw fault(`A session id has 1 to ${LONGEST_ID} bytes, not ${Buffer.byteLength(id)}`);
  return join(root, encodeURIComponent(id.toWellFormed()).replaceAll(".", "%2E"));
}

const Snapshot = v.object({
  offset: v.number(),
  id: v.string(),
  cwd: v.string(),
  name: v.optional(v.string()),
  config: SessionConfig,
  messages: v.array(StoredMessage),
  seq: v.number(),
  prompted: v.boolean(),
});

async function load(folder: string): Promise<StoredSession | undefined> {
  const snapshot = await readSnapshot(folder);
  const base = snapshot === undefined ? undefined : { ...snapshot, name: snapshot.name };
  return rebuild(base, readEntries(join(folder, "log.jsonl"), snapshot?.offset ?? 0));
}

/** One that does not fit its log (it was cut, or the snapshot is torn) is not used. */
async function readSnapshot(folder: string): Promise<v.InferOutput<typeof Snapshot> | undefined> {
  try {
    const snapshot = v.parse(Snapshot, JSON.parse(await readFile(join(folder, "snapshot.json"), "utf8")));
    const { size } = await stat(join(folder, "log.jsonl"));
    return snapshot.offset <= size ? snapshot : undefined;
  } catch {
    return undefined;
  }
}

function readEntries(file: string, from: number): Entry[] {
  return readLines(file, from).flatMap(parseEntry);
}

/** A line that cannot be read is passed over: one bad sector must not cost the whole session. */
function parseEntry(line: string): Entry[] {
  try {
    const result = v.safeParse(Entry, JSON.parse(line));
    return result.success ? [result.output] : [];
  } catch {
    return [];
  }
}

async function summary(folder: string): Promise<SessionSummary | undefined> {
  const file = join(folder, "log.jsonl");
  try {
    const handle = await open(file, "r");
    try {
      const { mtimeMs } = await handle.stat();
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD), 0, HEAD, 0);
      return describe(buffer.subarray(0, bytesRead).toString().split("\n"), mtimeMs);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

function describe(lines: readonly string[], usedAt: number): SessionSummary | undefined {
  const entries = lines.flatMap(parseEntry);
  const opened = entries.find((entry) => entry.kind === "opened");
  if (opened === undefined) return undefined;
  const first = entries.find((entry) => entry.kind === "event" && entry.event.type === "user.message");
  const prompt = first?.kind === "event" && first.event.type === "user.message" ? plainText(first.event.parts) : undefined;
  const { id, cwd, name, at } = opened;
  return { id, cwd, name, createdAt: at, usedAt, firstPrompt: prompt?.replace(/\s+/g, " ").slice(0, FIRST_PROMPT_CHARS) };
}

async function writeAtomically(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
}

/** With its parents, one by one: Node's own recursion never returns where the system says ENOENT for ever (below /proc). */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) === "EEXIST") return;
    if (systemCode(error) !== "ENOENT" || dirname(folder) === folder) throw error;
    makeFolder(dirname(folder));
    mkdirSync(folder, { mode: 0o700 });
  }
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function fault(message: string): ParleyError {
  return new ParleyError({ code: "session", message, retryable: false });
}
