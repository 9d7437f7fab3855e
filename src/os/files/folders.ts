/** Makes folders with their parents, and syncs them, so that files created in them survive a power cut. */
import { mkdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { systemCode } from "../../core/errors.js";
import { Gate } from "../gate.js";

/**
 * Parents are made one by one: Node's own recursion never returns where the system answers ENOENT for ever (below /proc).
 * An existing path, folder or not, stays unchanged.
 */
export function makeFolder(folder: string, mode = 0o777): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (systemCode(error) === "EEXIST") return;
    if (systemCode(error) !== "ENOENT" || dirname(folder) === folder) throw error;
    makeFolder(dirname(folder), mode);
    makeOne(folder, mode);
  }
}

/** Another process may make the same folder at the same time. */
function makeOne(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
}

/** Each sync holds a descriptor while it waits for the disk, so their number is bounded. */
const syncing = new Gate(4);

/** Some systems cannot sync folders or do not need to; their error is ignored. */
export function syncFolder(folder: string): Promise<void> {
  return syncing.run(() => sync(folder));
}

async function sync(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!CANNOT_SYNC.has(systemCode(error) ?? "")) throw error;
  }
}

const CANNOT_SYNC: ReadonlySet<string> = new Set(["EACCES", "EBADF", "EINVAL", "EISDIR", "ENOTSUP", "EPERM"]);
