/** The workspace on this machine: how paths resolve through links, how a file is replaced in one step, how a command is run and drained. */
import { constants, type BigIntStats, type Stats } from "node:fs";
import { access, chmod, chown, lstat, open, readlink, realpath, rename, rm, stat, writeFile, type FileHandle } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, parse, resolve, sep } from "node:path";
import { StringDecoder } from "node:string_decoder";
import type { Readable } from "node:stream";
import { ParleyError, systemCode, systemReason } from "../core/errors.js";
import { mintId } from "../core/ids.js";
import { makeFolder } from "../os/folders.js";
import type { Exit, Tree } from "../os/process.js";
import type { ExecRequest, FileInfo, Running, Workspace } from "./workspace.js";

interface LocalOptions {
  env: Record<string, string>;
  /** Further roots, relative to the first. */
  directories?: readonly string[] | undefined;
}

export async function localWorkspace(root: string, options: LocalOptions): Promise<Workspace> {
  const real = await realpath(root).catch((error: unknown) => {
    throw fileError("open the workspace", root, error);
  });
  if (!(await stat(real)).isDirectory()) throw toolError(`Failed to open the workspace ${root}: it is not a folder`);
  const directories = await Promise.all((options.directories ?? []).map((folder) => furtherRoot(real, folder)));
  return {
    root: real,
    directories,
    async resolve(path) {
      const found = await resolvePath(real, path);
      return { path: found, named: resolve(real, expanded(path)), inside: [real, ...directories].some((folder) => isBelow(folder, found)) };
    },
    info: fileInfo,
    read: readWhole,
    write: async (path, data) => replaceFile(await resolvePath(real, path), data),
    exec: (request) => execute(request, request.cwd ?? real, options.env),
  };
}

// Paths

/** Beyond it no system opens anything, and rules would be matched against it for minutes. */
const MAX_PATH = process.platform === "win32" ? 32_767 : 4096;

/** As many links as Linux follows. */
const MAX_LINKS = 40;

/**
 * Walks the path as the system would: a link is followed before the `..` behind it counts, and a link to nothing leads to where its
 * target would be. What does not exist is appended.
 */
async function resolvePath(root: string, path: string): Promise<string> {
  if (path.length > MAX_PATH) throw toolError(`A path of ${path.length} characters is longer than any system takes.`);
  if (path.includes("\0")) throw toolError(`The path ${JSON.stringify(path)} contains a NUL byte; no file can have that name.`);
  const whole = expanded(path);
  let links = 0;
  let current = parse(whole).root || root;
  const rest = segments(whole);
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === "..") {
      current = dirname(current);
      continue;
    }
    const next = join(current, name);
    const target = await linkTarget(next);
    if (target === null) {
      current = next;
      continue;
    }
    if (++links > MAX_LINKS) throw toolError(`The path '${path}' runs through too many symbolic links.`);
    current = parse(target).root || current;
    rest.unshift(...segments(target));
  }
  return current;
}

function expanded(path: string): string {
  return path === "~" || path.startsWith("~/") ? homedir() + path.slice(1) : path;
}

function isBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

async function furtherRoot(root: string, folder: string): Promise<string> {
  const path = await resolvePath(root, folder);
  const stats = await stat(path).catch(() => null);
  if (stats?.isDirectory() === true) return path;
  const why = stats === null ? "does not exist" : "is not a folder";
  throw new ParleyError({
    code: "config",
    message: `The directory ${path} ${why}; name existing folders in 'directories'`,
    retryable: false,
    param: "directories",
  });
}

function segments(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep === "\\" ? /[\\/]/ : "/")
    .filter((name) => name !== "" && name !== ".");
}

/** Null when it is no link, or nothing that we can see. */
async function linkTarget(path: string): Promise<string | null> {
  const stats = await lstat(path).catch(() => null);
  return stats?.isSymbolicLink() ? readlink(path).catch(() => null) : null;
}

// Files

async function fileInfo(path: string): Promise<FileInfo | null> {
  const stats = await stat(path, { bigint: true }).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw fileError("look at", path, error);
  });
  if (stats === null) return null;
  return { kind: kindOf(stats), size: Number(stats.size), stamp: `${stats.mtimeNs}:${stats.size}:${stats.ino}` };
}

function kindOf(stats: BigIntStats): FileInfo["kind"] {
  if (stats.isFile()) return "file";
  return stats.isDirectory() ? "folder" : "other";
}

/** Looks before it opens, and waits for no writer of what became a pipe since. */
async function readWhole(path: string, maxBytes: number, seen?: FileInfo): Promise<Uint8Array> {
  const info = seen ?? (await fileInfo(path));
  if (info === null) throw toolError(`Failed to read file ${path}: no such file`);
  if (info.kind === "folder") throw toolError(`Failed to read file ${path}: it is a folder`);
  if (info.kind === "other") throw toolError(`Failed to read file ${path}: it is not a regular file`);
  if (info.size > maxBytes) throw tooLarge(path, `${info.size} bytes`, maxBytes);
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const bytes = await contentOf(file, info.size, maxBytes);
      if (bytes.length > maxBytes) throw tooLarge(path, "more", maxBytes);
      return bytes;
    } finally {
      // Nobody waits for it.
      file.close().catch(() => undefined);
    }
  } catch (error) {
    throw fileError("read file", path, error);
  }
}

/** To its end, or one byte further than `maxBytes`. The size is not believed: files of the system and files that grow have more to give. */
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

async function replaceFile(path: string, data: Uint8Array | string): Promise<void> {
  const temporary = join(dirname(path), `.parley-${mintId()}.tmp`);
  try {
    const kept = await toKeep(path);
    makeFolder(dirname(path));
    // Nobody reads it on the way who may not read the file; the mode comes last, because a new owner takes bits of it away.
    await writeFile(temporary, data, { flag: "wx", ...(kept !== null && { mode: kept.mode & 0o600 }) });
    if (kept !== null) {
      if (kept.uid !== process.getuid?.() || kept.gid !== process.getgid?.())
        await chown(temporary, kept.uid, kept.gid).catch(() => undefined);
      await chmod(temporary, kept.mode & 0o7777);
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw fileError("write file", path, error);
  }
}

/** Null for a new file. A rename asks nobody's leave, so what must not be replaced is refused here. */
async function toKeep(path: string): Promise<Stats | null> {
  const stats = await stat(path).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
  if (stats === null) return null;
  if (!stats.isFile()) throw new Error(stats.isDirectory() ? "it is a folder" : "it is not a regular file");
  await access(path, constants.W_OK);
  return stats;
}

// Commands

/** How long pipes may stay open behind an ended shell before its output counts as complete. */
const DRAIN_MS = 100;

async function execute(request: ExecRequest, cwd: string, env: Record<string, string>): Promise<Running> {
  const { startTree } = await import("../os/process.js");
  const { argv, input } = request;
  const stdin = input === undefined ? "ignore" : "pipe";
  const tree = await startTree(argv, { cwd, env: { ...env, ...request.env }, stdio: [stdin, "pipe", "pipe"] });
  // Whoever does not read its input may end all the same.
  tree.child.stdin?.on("error", () => undefined).end(input);
  let open = true;
  const deliver = (channel: "stdout" | "stderr", text: string): void => {
    if (open && text !== "") request.onOutput(channel, text);
  };
  drain(tree.child.stdout, (text) => deliver("stdout", text));
  drain(tree.child.stderr, (text) => deliver("stderr", text));
  const exited = settled(tree).then((exit) => {
    open = request.leftovers === true;
    return { ...exit, leftover: groupAlive(tree.pid) };
  });
  return { pid: tree.pid, exited, end: (graceMs) => tree.end(graceMs) };
}

/** Reads to the end whatever happens: a full pipe would stop the child. */
function drain(stream: Readable | null, onText: (text: string) => void): void {
  const decoder = new StringDecoder("utf8");
  stream?.on("data", (bytes: Buffer) => onText(decoder.write(bytes)));
  stream?.on("end", () => onText(decoder.end()));
  stream?.on("error", () => undefined);
}

/** A process left behind may hold the pipes for ever, so the shell's own end counts, and what is in the pipes by then. */
function settled(tree: Tree): Promise<Exit> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    void tree.exited.then((exit) => {
      clearTimeout(timer);
      resolve(exit);
    });
    tree.child.once("exit", (code, signal) => {
      // The immediate comes after the pipes have been read once more, even when the timer was late.
      timer = setTimeout(() => setImmediate(() => resolve({ code, signal })), DRAIN_MS);
    });
  });
}

function groupAlive(pid: number): boolean {
  if (process.platform === "win32") return false;
  try {
    process.kill(-pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}

// Errors

function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "");
}

function tooLarge(path: string, size: string, maxBytes: number): ParleyError {
  return toolError(`Failed to read file ${path}: it has ${size}, and ${maxBytes} bytes are the limit. Read a part with Bash.`);
}

function fileError(doing: string, path: string, error: unknown): ParleyError {
  if (error instanceof ParleyError) return error;
  return toolError(`Failed to ${doing} ${path}: ${systemReason(error)}`, error);
}

function toolError(message: string, cause?: unknown): ParleyError {
  return new ParleyError({ code: "tool", message, retryable: false }, { cause });
}
