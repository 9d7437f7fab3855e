/**
 * Files of the workspace on this machine, read whole and replaced in one step. Their paths were judged and have no links, so none is
 * followed.
 */
import { constants, type BigIntStats, type Stats } from "node:fs";
import { access, lstat, rename, rm, unlink, type FileHandle } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { ParleyError, systemCode, systemReason } from "../../core/errors.js";
import { mintId } from "../../core/ids.js";
import { holdFolder, swapped, type HeldFolder } from "./held-folder.js";
import type { FileInfo } from "./workspace.js";

export async function fileInfo(path: string): Promise<FileInfo | null> {
  try {
    const stats = await inFolder(path, (folder, name) => lstat(folder.at(name), { bigint: true }));
    if (stats.isSymbolicLink()) throw swapped(path);
    return {
      kind: kindOf(stats),
      size: Number(stats.size),
      stamp: `${stats.mtimeNs}:${stats.size}:${stats.ino}`,
      mode: Number(stats.mode) & 0o7777,
    };
  } catch (error) {
    if (isMissing(error)) return null;
    throw fileError("look at", path, error);
  }
}

function kindOf(stats: BigIntStats | Stats): FileInfo["kind"] {
  if (stats.isFile()) return "file";
  return stats.isDirectory() ? "folder" : "other";
}

/** Looks before it opens, and does not wait for the writer of a pipe that replaced the file. */
export async function readWhole(path: string, maxBytes: number, seen?: FileInfo): Promise<Uint8Array> {
  const info = seen ?? (await fileInfo(path));
  if (info === null) throw toolError(`Failed to read file ${path}: no such file`);
  refuseKind(info.kind, path);
  if (info.size > maxBytes) throw tooLarge(path, `${info.size} bytes`, maxBytes);
  try {
    const file = await inFolder(path, (folder, name) => folder.open(name, constants.O_RDONLY | constants.O_NONBLOCK));
    try {
      refuseKind(kindOf(await file.stat()), path);
      const bytes = await contentOf(file, info.size, maxBytes);
      if (bytes.length > maxBytes) throw tooLarge(path, "more", maxBytes);
      return bytes;
    } finally {
      // The close is not awaited.
      file.close().catch(() => undefined);
    }
  } catch (error) {
    throw fileError("read file", path, systemCode(error) === "ELOOP" ? swapped(path) : error);
  }
}

function refuseKind(kind: FileInfo["kind"], path: string): void {
  if (kind === "folder") throw toolError(`Failed to read file ${path}: it is a folder`);
  if (kind === "other") throw toolError(`Failed to read file ${path}: it is not a regular file`);
}

async function inFolder<T>(path: string, use: (folder: HeldFolder, name: string) => Promise<T>): Promise<T> {
  const folder = await holdFolder(dirname(path));
  try {
    const used = await use(folder, basename(path));
    await folder.check();
    return used;
  } finally {
    await folder.close();
  }
}

/** Reads to the end, or one byte beyond `maxBytes`. The size is not trusted: system files and growing files hold more. */
async function contentOf(file: FileHandle, expected: number, maxBytes: number): Promise<Uint8Array> {
  let bytes = Buffer.allocUnsafe(expected === 0 ? Math.min(LEAST_BYTES, maxBytes + 1) : expected + 1);
  for (let size = 0; ;) {
    const { bytesRead } = await file.read(bytes, size);
    size += bytesRead;
    // It had room for more than it should give, and gave just that: that was its end.
    const isWhole = bytesRead === 0 || size === expected;
    if (isWhole || size > maxBytes) return bytes.subarray(0, size);
    if (size === bytes.length) bytes = Buffer.concat([bytes], Math.min(Math.max(2 * size, LEAST_BYTES), maxBytes + 1));
  }
}

/** For files of the system, which have no size; some give all that they have at once or never. */
const LEAST_BYTES = 64 * 1024;

export async function replaceFile(path: string, data: Uint8Array | string, mode?: number): Promise<void> {
  try {
    const folder = await holdFolder(dirname(path), true);
    try {
      await replaceIn(folder, basename(path), { data, mode }, path);
    } finally {
      await folder.close();
    }
  } catch (error) {
    throw fileError("write file", path, error);
  }
}

interface NewContent {
  data: Uint8Array | string;
  mode: number | undefined;
}

async function replaceIn(folder: HeldFolder, name: string, content: NewContent, path: string): Promise<void> {
  const kept = await toKeep(folder.at(name), path);
  const draft = `.parley-${mintId()}.tmp`;
  try {
    await writeDraft(folder, draft, content, kept);
    await folder.check();
    await rename(folder.at(draft), folder.at(name));
    await folder.check();
  } catch (error) {
    await rm(folder.at(draft), { force: true }).catch(() => undefined);
    throw error;
  }
}

/** A user who may not read the file may not read it on the way; the mode comes last, because a new owner takes bits of it away. */
async function writeDraft(folder: HeldFolder, draft: string, content: NewContent, kept: Stats | null): Promise<void> {
  const { data, mode = kept?.mode } = content;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  const file = await folder.open(draft, flags, mode === undefined ? 0o666 : mode & 0o600);
  try {
    await file.writeFile(data);
    if (mode === undefined) return;
    if (kept !== null && (kept.uid !== process.getuid?.() || kept.gid !== process.getgid?.()))
      await file.chown(kept.uid, kept.gid).catch(() => undefined);
    await file.chmod(mode & 0o7777);
  } finally {
    await file.close();
  }
}

/** Null for a new file. A rename needs no right on the old file, so a file that must not be replaced is refused here. */
async function toKeep(place: string, path: string): Promise<Stats | null> {
  const stats = await lstat(place).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
  if (stats === null) return null;
  if (stats.isSymbolicLink()) throw swapped(path);
  if (!stats.isFile()) throw new Error(stats.isDirectory() ? "it is a folder" : "it is not a regular file");
  await access(place, constants.W_OK);
  return stats;
}

export async function removeFile(path: string): Promise<void> {
  try {
    await inFolder(path, async (folder, name) => {
      refuseFolder(await lstat(folder.at(name)));
      await unlink(folder.at(name));
    });
  } catch (error) {
    throw fileError("delete file", path, error);
  }
}

export async function renameFile(from: string, to: string): Promise<void> {
  try {
    await inFolder(from, async (folder, name) => {
      refuseFolder(await lstat(folder.at(name)));
      const target = await holdFolder(dirname(to), true);
      try {
        const place = target.at(basename(to));
        const isFree = await lstat(place).then(
          () => false,
          (error: unknown) => isMissing(error),
        );
        if (!isFree) throw new Error(`something has the name ${to}`);
        await rename(folder.at(name), place);
        await target.check();
      } finally {
        await target.close();
      }
    });
  } catch (error) {
    throw fileError("move file", from, error);
  }
}

function refuseFolder(stats: Stats): void {
  if (!stats.isFile()) throw new Error("it is not a regular file");
}

// Errors

export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "");
}

function tooLarge(path: string, size: string, maxBytes: number): ParleyError {
  return toolError(`Failed to read file ${path}: it has ${size}, and ${maxBytes} bytes are the limit. Read a part with Bash.`);
}

function fileError(doing: string, path: string, error: unknown): ParleyError {
  if (error instanceof ParleyError) return error;
  return toolError(`Failed to ${doing} ${path}: ${systemReason(error)}`, error);
}

export function toolError(message: string, cause?: unknown): ParleyError {
  return new ParleyError({ code: "tool", message, retryable: false }, { cause });
}
