/** One writer a session: a lock file that names its owner. A lock whose owner is gone is stale and is taken over. */
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import * as v from "valibot";
import { ParleyError, systemCode } from "../../core/errors.js";
import { mintId } from "../../core/ids.js";

const Owner = v.object({ pid: v.number(), host: v.string(), born: v.string(), at: v.number(), token: v.string() });
type Owner = v.InferOutput<typeof Owner>;

/** Returns what releases it. Throws a `session` fault that tells who holds it. */
export async function takeLock(file: string, what: string): Promise<() => Promise<void>> {
  const mine: Owner = { pid: process.pid, host: hostname(), born: birthOf(process.pid), at: Date.now(), token: mintId() };
  for (let attempt = 0; attempt < 3; attempt++) {
    if (await create(file, mine)) return () => release(file, mine);
    const owner = await readOwner(file);
    if (owner !== undefined && isAlive(owner)) throw held(what, owner);
    await discard(file, owner);
  }
  throw new ParleyError({ code: "session", message: `${what} is being opened by several processes at once; try again`, retryable: true });
}

/** Written whole before it appears under its name: nobody ever reads half a lock. */
async function create(file: string, owner: Owner): Promise<boolean> {
  const draft = `${file}.${owner.token}`;
  await writeFile(draft, JSON.stringify(owner), { mode: 0o600 });
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Moves a stale lock away. Should it be another one by now (somebody was faster), it is put back. */
async function discard(file: string, stale: Owner | undefined): Promise<void> {
  const away = `${file}.${mintId()}`;
  try {
    await rename(file, away);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return;
    throw error;
  }
  const moved = await readOwner(away);
  if (moved !== undefined && moved.token !== stale?.token) await link(away, file).catch(() => {});
  await rm(away, { force: true });
}

async function release(file: string, mine: Owner): Promise<void> {
  const owner = await readOwner(file);
  if (owner?.token === mine.token) await rm(file, { force: true });
}

async function readOwner(file: string): Promise<Owner | undefined> {
  try {
    return v.parse(Owner, JSON.parse(await readFile(file, "utf8")));
  } catch {
    return undefined;
  }
}

/** On another machine nobody can tell, so its lock counts. */
function isAlive(owner: Owner): boolean {
  if (owner.host !== hostname()) return true;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if (systemCode(error) !== "EPERM") return false;
  }
  return owner.born === birthOf(owner.pid);
}

/** When a process began, as the system counts it: the same number may belong to another process by now. */
function birthOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}

function held(what: string, { pid, host, at }: Owner): ParleyError {
  const where = host === hostname() ? `process ${pid}` : `process ${pid} on ${host}`;
  return new ParleyError({ code: "session", message: `${what} is in use by ${where} since ${new Date(at).toISOString()}`, retryable: true });
}
