/** Folders: made with their parents, and synced, so that files created in them survive a power cut. */
import { mkdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { systemCode } from "../../core/errors.js";
import { Gate } from "../gate.js";

/**
 * With its parents, one by one: Node's own recursion never returns where the system says ENOENT for ever (below /proc).
 * An existing path, folder or not, stays as it is.
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

/** Another process may be making the same folder. */
function makeOne(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
}

/** Each holds a descriptor while it waits for the disk. */
const syncing = new Gate(4);

/** Some systems cannot, or need not; there it does nothing. */
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
