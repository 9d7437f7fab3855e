/**
 * Describes a stored session by the beginning of its log alone; the name comes from its folder. Checksums are not checked:
 * damage is reported when the session is opened.
 */
import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { plainText } from "../../../core/content.js";
import { systemCode } from "../../../core/errors.js";
import { headOf } from "../../workspace/output.js";
import { Gate } from "../../../os/gate.js";
import { entryIn } from "../entry.js";
import type { SessionSummary } from "../store.js";

/** Bytes to read, one after another: the first is usually enough. Long settings or a long first prompt need more. */
const HEADS = [16 * 1024, 256 * 1024, 4 * 1024 * 1024, 64 * 1024 * 1024];
const FIRST_PROMPT_CHARS = 80;

type Head = Omit<SessionSummary, "id">;

/** Logs that this process reads at the same time, for all lists together. */
const reading = new Gate(16);

/** Undefined if there is no log, or one that does not begin like a session. */
export function readHead(log: string): Promise<Head | undefined> {
  return reading.run(() => readOne(log));
}

async function readOne(log: string): Promise<Head | undefined> {
  try {
    // Opened without blocking, in case a pipe is in place of the log.
    const handle = await open(log, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      return await readFrom(handle);
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = systemCode(error);
    // A bad file does not break the list. Too many open files is an error, as the list would be empty.
    if (code === undefined || code === "EMFILE" || code === "ENFILE") throw error;
    return undefined;
  }
}

async function readFrom(handle: FileHandle): Promise<Head | undefined> {
  const stats = await handle.stat();
  if (!stats.isFile()) return undefined;
  const { size, mtimeMs } = stats;
  let found: Head | undefined;
  for (const bytes of HEADS) {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(bytes, size)), 0, Math.min(bytes, size), 0);
    found = describe(buffer.toString("utf8", 0, bytesRead).split("\n").slice(0, -1), mtimeMs);
    if (found?.firstPrompt !== undefined || bytesRead >= size) return found;
  }
  return found;
}

function describe(lines: readonly string[], usedAt: number): Head | undefined {
  let session: Head | undefined;
  let isOpened = false;
  for (const line of lines) {
    const entry = entryIn(line);
    if (entry === undefined) continue;
    if (entry.kind === "opened" && !isOpened) {
      const { cwd, name, at } = entry;
      session = { cwd, name, createdAt: at, usedAt, firstPrompt: undefined };
      isOpened = true;
    }
    // The first line is damaged: the session is listed, and its opening reports the damage.
    session ??= { cwd: "", name: undefined, createdAt: usedAt, usedAt, firstPrompt: undefined };
    if (entry.kind !== "event" || entry.event.type !== "user.message" || entry.event.parts.length === 0) continue;
    const prompt = headOf(plainText(entry.event.parts).replace(/\s+/g, " "), FIRST_PROMPT_CHARS);
    return { ...session, firstPrompt: prompt };
  }
  return session;
}
