/** The workspace on this machine: how paths resolve through links, how a command is run and drained. Its files are in local-files.ts. */
import { lstat, readlink, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, parse, resolve, sep } from "node:path";
import { StringDecoder } from "node:string_decoder";
import type { Readable } from "node:stream";
import { ParleyError, systemReason } from "../../core/errors.js";
import type { Exit, Tree } from "../../os/processes/process.js";
import { holdFolder } from "./held-folder.js";
import { fileInfo, isMissing, readWhole, removeFile, renameFile, replaceFile, toolError } from "./local-files.js";
import type { ExecRequest, Running, Workspace } from "./workspace.js";

interface LocalOptions {
  env: Record<string, string>;
  /** Further roots, relative to the first. */
  directories?: readonly string[] | undefined;
}

export async function localWorkspace(root: string, options: LocalOptions): Promise<Workspace> {
  const real = await realpath(root).catch((error: unknown) => {
    throw notOpened(root, systemReason(error));
  });
  if (!(await stat(real)).isDirectory()) throw notOpened(root, "it is not a folder");
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
    write: replaceFile,
    remove: removeFile,
    rename: renameFile,
    exec: (request) => execute(request, request.cwd ?? real, options.env),
  };
}

function notOpened(root: string, why: string): ParleyError {
  return new ParleyError({ code: "config", message: `Failed to open the workspace ${root}: ${why}`, retryable: false, param: "cwd" });
}

// Paths

/** Beyond it no system opens anything, and rules would be matched against it for minutes. */
const MAX_PATH = process.platform === "win32" ? 32_767 : 4096;

/** As many links as Linux follows. */
const MAX_LINKS = 40;

/**
 * Walks the path as the system would: a link is followed before the `..` behind it counts, and a link to nothing leads to where its
 * target would be. The part of the path that does not exist is appended.
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

/** Null when it is no link, or cannot be seen. */
async function linkTarget(path: string): Promise<string | null> {
  const stats = await lstat(path).catch(() => null);
  return stats?.isSymbolicLink() ? readlink(path).catch(() => null) : null;
}

// Commands

/** How long pipes may stay open behind an ended shell before its output counts as complete. */
const DRAIN_MS = 100;

async function execute(request: ExecRequest, cwd: string, env: Record<string, string>): Promise<Running> {
  const { startTree } = await import("../../os/processes/process.js");
  const { argv, input, isAlone, interactive } = request;
  const stdin = input === undefined && interactive !== true ? "ignore" : "pipe";
  const tree = await inside(cwd, (folder) =>
    startTree(argv, { cwd: folder, env: { ...env, ...request.env }, stdio: [stdin, "pipe", "pipe"], isAlone }),
  );
  // A program that does not read its input may end all the same.
  tree.child.stdin?.on("error", () => undefined);
  if (interactive !== true) tree.child.stdin?.end(input);
  let open = true;
  const deliver = (channel: "stdout" | "stderr", text: string): void => {
    if (open && text !== "") request.onOutput(channel, text);
  };
  drain(tree.child.stdout, (text) => deliver("stdout", text));
  drain(tree.child.stderr, (text) => deliver("stderr", text));
  const exited = settled(tree).then((exit) => {
    open = request.leftovers === true;
    return exit;
  });
  return {
    pid: tree.pid,
    exited,
    leftover: tree.leftover,
    ...(interactive === true && { write: (text) => writeInput(tree, text) }),
    end: (graceMs) => tree.end(graceMs),
  };
}

/** Input that a command has not read yet. */
const MAX_UNREAD_INPUT = 1024 * 1024;

function writeInput({ child: { stdin } }: Tree, text: string): boolean {
  if (stdin?.writable !== true || stdin.writableLength + text.length > MAX_UNREAD_INPUT) return false;
  stdin.write(text);
  return true;
}

async function inside<T>(cwd: string, start: (folder: string) => Promise<T>): Promise<T> {
  const folder = await holdFolder(cwd).catch((cause: unknown) => {
    const why = isMissing(cause) ? "it does not exist" : systemReason(cause);
    throw new ParleyError({ code: "launch", message: `Could not start in the folder ${cwd}: ${why}`, retryable: false }, { cause });
  });
  try {
    return await start(folder.at("."));
  } finally {
    // Not awaited: the output of a child is heard only if it is listened to at once.
    folder.close().catch(() => undefined);
  }
}

/** Reads to the end in any case: a full pipe would stop the child. */
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
