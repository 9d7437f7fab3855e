/** Reads a text file that others may have written: a regular file, of bounded size, that is text and inside its permitted folder. */
import { constants } from "node:fs";
import { open, realpath, type FileHandle } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import { messageOf, systemCode } from "../../core/errors.js";

export interface SourceFile {
  text: string;
  bytes: number;
  /** The path with every link resolved. */
  real: string;
}

export interface ReadLimits {
  maxBytes: number;
  /** A real folder that the file must not leave, by a link either. */
  within?: string | undefined;
}

/** Undefined if there is no such file. Never throws: a problem is one line that begins with the path. */
export async function readSource(path: string, { maxBytes, within }: ReadLimits): Promise<SourceFile | { problem: string } | undefined> {
  let file: FileHandle | undefined;
  try {
    const real = await realpath(path);
    if (within !== undefined && !isInside(within, real)) {
      return { problem: `${path} leads out of ${within}, and the workspace is not trusted; it is left out` };
    }
    // Opened without blocking: the path may be a pipe without a writer.
    file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) return { problem: `${path} is not a regular file; it is left out` };
    if (stats.size > maxBytes) return { problem: `${path} is ${stats.size} bytes long, and at most ${maxBytes} are read; it is left out` };
    const bytes = await firstBytes(file, stats.size);
    const text = bytes.includes(0) ? undefined : decoded(bytes);
    return text === undefined ? { problem: `${path} is not UTF-8 text; it is left out` } : { text, bytes: bytes.length, real };
  } catch (error) {
    if (isMissing(error)) return undefined;
    return { problem: `${path} cannot be read: ${messageOf(error)}` };
  } finally {
    await file?.close();
  }
}

function isInside(folder: string, path: string): boolean {
  const below = relative(folder, path);
  return below === "" || (below !== ".." && !below.startsWith(`..${sep}`) && !isAbsolute(below));
}

export function isMissing(error: unknown): boolean {
  const code = systemCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/** Bytes appended meanwhile are read the next time. */
async function firstBytes(file: FileHandle, size: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(size);
  let length = 0;
  while (length < size) {
    const { bytesRead } = await file.read(buffer, length, size - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
