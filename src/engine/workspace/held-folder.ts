/**
 * A folder that stays the same one while it is used, whatever becomes of its path: a path that was judged has no links, and one that
 * appears on it later is not followed.
 *
 * On Linux the folder is open, and what lies in it is reached by way of its handle (`/proc/self/fd/N/name`). Elsewhere Node has no way to
 * do that: there the folder's identity is compared before and after each use, and where it differs the use fails.
 */
import { constants, type BigIntStats } from "node:fs";
import { lstat, mkdir, open, readlink, realpath, type FileHandle } from "node:fs/promises";
import { dirname, join, parse, sep } from "node:path";
import { ParleyError, systemCode } from "../../core/errors.js";

export interface HeldFolder {
  /** A path that leads to this name in this very folder. */
  at(name: string): string;
  /** Opens no link. */
  open(name: string, flags: number, mode?: number): Promise<FileHandle>;
  /** Rejects when the folder's path leads elsewhere by now, and `at` with it. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** `path` is absolute and without links. `make`: the folder, and those above it, are made where they are missing. */
export async function holdFolder(path: string, make = false): Promise<HeldFolder> {
  return (await holdByHandle(path, make)) ?? holdByName(path, make);
}

// By its handle

/** O_PATH, which Node does not name: a handle to what is there, for which nobody needs leave to read. */
const PATH_ONLY = 0o10_000_000;
const FOLDER = PATH_ONLY | constants.O_DIRECTORY;

/** Undefined where the system has no such paths. */
export async function holdByHandle(path: string, make = false): Promise<HeldFolder | undefined> {
  if (process.platform !== "linux") return undefined;
  const handle = (await openAtOnce(path)) ?? (await openStepwise(path, make));
  return handle && heldBy(handle);
}

function heldBy(handle: FileHandle): HeldFolder {
  const at = (name: string): string => `${pathOf(handle)}/${name}`;
  return {
    at,
    open: (name, flags, mode) => open(at(name), flags | constants.O_NOFOLLOW, mode),
    check: () => Promise.resolve(),
    close: () => handle.close(),
  };
}

function pathOf({ fd }: FileHandle): string {
  return `/proc/self/fd/${fd}`;
}

/** Undefined where it does not lead just there: the steps tell why. */
async function openAtOnce(path: string): Promise<FileHandle | undefined> {
  const handle = await open(path, FOLDER).catch(() => undefined);
  if (handle === undefined || (await placeOf(handle)) === path) return handle;
  await handle.close();
  return undefined;
}

/** Undefined where there is no `/proc`. */
function placeOf(handle: FileHandle): Promise<string | undefined> {
  return readlink(pathOf(handle)).catch(() => undefined);
}

async function openStepwise(path: string, make: boolean): Promise<FileHandle | undefined> {
  let handle = await open("/", FOLDER);
  try {
    if ((await placeOf(handle)) === undefined) throw new NoPlaces();
    for (const name of path.split(sep).filter((step) => step !== "")) {
      const next = await step(handle, name, path, make);
      await handle.close();
      handle = next;
    }
    return handle;
  } catch (error) {
    await handle.close();
    if (error instanceof NoPlaces) return undefined;
    throw error;
  }
}

class NoPlaces extends Error {}

async function step(from: FileHandle, name: string, path: string, make: boolean): Promise<FileHandle> {
  const place = `${pathOf(from)}/${name}`;
  const enter = (): Promise<FileHandle> => open(place, FOLDER | constants.O_NOFOLLOW);
  try {
    return await enter().catch(async (error: unknown) => {
      if (!make || systemCode(error) !== "ENOENT") throw error;
      await mkdir(place).catch(unlessThere);
      return enter();
    });
  } catch (error) {
    const isLink = await lstat(place).then(
      (stats) => stats.isSymbolicLink(),
      () => false,
    );
    throw isLink ? swapped(path) : error;
  }
}

function unlessThere(error: unknown): void {
  if (systemCode(error) !== "EEXIST") throw error;
}

// By its name

/** Tries to open a file that others replace meanwhile. */
const TRIES = 8;

export async function holdByName(path: string, make = false): Promise<HeldFolder> {
  const held = await identityOf(path).catch(async (error: unknown) => {
    if (!make || systemCode(error) !== "ENOENT") throw error;
    await holdByName(dirname(path), true);
    await mkdir(path).catch(unlessThere);
    return identityOf(path);
  });
  const at = (name: string): string => join(path, name);
  const check = async (): Promise<void> => {
    if (!isSame(await identityOf(path), held)) throw swapped(path);
  };
  return { at, open: openThere, check, close: () => Promise.resolve() };

  async function openThere(name: string, flags: number, mode?: number): Promise<FileHandle> {
    for (let tries = 1; ; tries++) {
      const file = await open(at(name), flags | constants.O_NOFOLLOW, mode);
      try {
        const [opened, there] = await Promise.all([file.stat({ bigint: true }), lstat(at(name), { bigint: true })]);
        await check();
        if (isSame(opened, there)) return file;
        if (tries === TRIES) throw swapped(at(name));
      } catch (error) {
        await file.close();
        throw error;
      }
      await file.close();
    }
  }
}

/** Names may be spelled in another case or form than they have on the disk. */
async function identityOf(path: string): Promise<BigIntStats> {
  const [real, stats] = [await realpath(path), await lstat(path, { bigint: true })];
  if (folded(real) !== folded(path) && path !== parse(path).root) throw swapped(path);
  return stats;
}

function folded(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

/** A path that was judged leads through a link now. */
export function swapped(path: string): ParleyError {
  const message = `${path} was swapped for a link, or a folder on the way to it was; links that come up after a path was judged are not followed`;
  return new ParleyError({ code: "tool", message, retryable: false });
}
