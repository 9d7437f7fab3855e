/**
 * One writer for each session: a lock file that names its owner. A lock whose owner is gone is stale; exactly one process succeeds it.
 *
 * A stale lock is never moved away, because that could move the lock of a faster process. Instead the first process that creates
 * `lock.after.<token of the dead owner>` is the successor; if it dies, too, the next process succeeds *it*, and so on. Only the living
 * end of that chain replaces the lock, after checking that the lock is still the one at which the chain begins.
 */
import { link, open, readdir, readFile, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { readFileSync, readlinkSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import { ParleyError, systemCode } from "../../core/errors.js";
import { mintId } from "../../core/ids.js";

/** `space` is the namespace of process ids (a container has its own); `born` tells a process from a later one with the same id. */
const Owner = v.object({
  pid: v.number(),
  host: v.string(),
  space: v.string(),
  born: v.string(),
  at: v.number(),
  token: v.pipe(v.string(), v.regex(/^\w+$/)),
});
type Owner = v.InferOutput<typeof Owner>;

/** A lock file as it was read. An unreadable one (after a power cut) has no owner. */
interface Found {
  token: string;
  owner: Owner | undefined;
  touchedAt: number;
}

const ATTEMPTS = 20;
/** The interval at which an owner renews its lock, and the age at which a lock from another machine counts as stale. */
const BEAT_MS = 10_000;
const SILENT_MS = 60_000;
/** The longest wait for short work, and the interval of the checks. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 20;

/** Returns a function that releases the lock. Throws a `session` fault that names the holder. */
export async function takeLock(file: string, what: string): Promise<() => Promise<void>> {
  const mine: Owner = { pid: process.pid, host: hostname(), space: space(), born: birthOf(process.pid), at: Date.now(), token: mintId() };
  const text = JSON.stringify(mine);
  // The file is written whole before it gets its name, so no process reads half a lock.
  const draft = `${file}.${mine.token}`;
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.writeFile(text);
    const { mtimeMs: now } = await handle.stat();
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (await take(file, draft, what, now)) return holding(file, mine.token, handle, text);
    }
    throw new ParleyError({ code: "session", message: `${what} is being opened by several processes at once; try again`, retryable: true });
  } catch (error) {
    await handle.close();
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** For short work: waits for a living holder, and throws as `takeLock` does if that takes too long. */
export async function withLock<T>(file: string, what: string, work: () => Promise<T>): Promise<T> {
  const release = await takeLockSoon(file, what);
  try {
    return await work();
  } finally {
    await release();
  }
}

async function takeLockSoon(file: string, what: string): Promise<() => Promise<void>> {
  for (const until = Date.now() + PATIENCE_MS; ;) {
    try {
      return await takeLock(file, what);
    } catch (error) {
      const isHeld = error instanceof ParleyError && error.fault.retryable;
      if (!isHeld || Date.now() > until) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/**
 * Returns a check whether the lock is still there. A living owner may lose it: to a process that cannot look at it and took
 * a suspended machine or a clock change for its death, or to somebody who removes the whole folder. One check is valid for the
 * millisecond in which it was made.
 */
export function watchLock(file: string): () => boolean {
  const { ino } = statSync(file);
  let [seen, at] = [true, 0];
  return () => {
    const now = Date.now();
    if (now !== at) seen = statSync(file, { throwIfNoEntry: false })?.ino === ino;
    at = now;
    return seen;
  };
}

/** Returns false if another process was faster; the caller has to look again. */
async function take(file: string, draft: string, what: string, now: number): Promise<boolean> {
  if (await linked(draft, file)) return true;
  const first = await find(file);
  if (first === undefined) return false;
  let claim = "";
  for (let found = first; claim === "";) {
    if (found.owner !== undefined && isAlive(found.owner, now - found.touchedAt)) {
      // A claim on a lock that has been succeeded meanwhile is void.
      if ((await find(file))?.token !== first.token) return false;
      throw held(what, found.owner);
    }
    const next = `${file}.after.${found.token}`;
    if (await linked(draft, next)) {
      claim = next;
    } else {
      const successor = await find(next);
      if (successor === undefined) return false;
      found = successor;
    }
  }
  if ((await find(file))?.token !== first.token) {
    await rm(claim, { force: true });
    return false;
  }
  await rename(draft, file);
  await forgetClaims(file).catch(() => {});
  return true;
}

async function linked(draft: string, name: string): Promise<boolean> {
  try {
    await link(draft, name);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** The lock is ours, so each remaining claim is on an earlier lock and can be removed. */
async function forgetClaims(file: string): Promise<void> {
  const names = await readdir(dirname(file));
  const claims = names.filter((name) => name.startsWith(`${basename(file)}.after.`));
  await Promise.all(claims.map((name) => rm(join(dirname(file), name), { force: true })));
}

async function find(file: string): Promise<Found | undefined> {
  try {
    const { ino, mtimeMs } = await stat(file);
    const owner = parseOwner(await readFile(file, "utf8"));
    return { token: owner?.token ?? `unreadable_${ino}_${Math.floor(mtimeMs)}`, owner, touchedAt: mtimeMs };
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function parseOwner(text: string): Owner | undefined {
  try {
    return v.parse(Owner, JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Writing the same content renews the file's time by the clock of its machine. The open handle cannot renew another process's lock. */
function holding(file: string, token: string, handle: FileHandle, text: string): () => Promise<void> {
  let beaten: Promise<unknown> = Promise.resolve();
  const beat = setInterval(() => {
    beaten = handle.write(text, 0).catch(() => {});
  }, BEAT_MS).unref();
  return async () => {
    clearInterval(beat);
    await beaten;
    await handle.close();
    if ((await find(file))?.token === token) await rm(file, { force: true });
  };
}

/** A process that we cannot look at counts as alive while it renews its lock. */
function isAlive(owner: Owner, silentMs: number): boolean {
  if (owner.host !== hostname() || owner.space !== space()) return silentMs < SILENT_MS;
  const born = birthOf(owner.pid);
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if (systemCode(error) !== "EPERM") return false;
  }
  return born === "" || born === owner.born;
}

/** The start time of a process, as a process id may be used again; "" if it cannot be read. */
function birthOf(pid: number): string {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state, ...fields] = status.slice(status.lastIndexOf(")") + 2).split(" ");
    // A zombie: killed, and not yet reaped by its parent.
    return state === "Z" || state === "X" ? "dead" : `${bootId()} ${fields[18] ?? ""}`;
  } catch {
    return "";
  }
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    return "";
  }
}

function space(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

function held(what: string, { pid, host, at }: Owner): ParleyError {
  const where = host === hostname() ? `process ${pid}` : `process ${pid} on ${host}`;
  return new ParleyError({
    code: "session",
    message: `${what} is in use by ${where} since ${new Date(at).toISOString()}`,
    retryable: true,
  });
}
