/**
 * Child processes that we own as trees: each gets a process group of its own and a mark that its children inherit (tree-mark.ts).
 * Ending one means TERM to the group, a grace period, then KILL to the group and to all processes outside it that have the mark.
 * If our own process dies without a cleanup, the reaper (reaper.ts) ends them.
 */
import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { statSync } from "node:fs";
import { ParleyError, systemCode, messageOf } from "../../core/errors.js";
import { watch, type Watched } from "./reaper.js";
import { findWearers, groupRuns, mintMark, wears, withMark, type Marked } from "./tree-mark.js";

/** How a child ended; `code` is null when a signal ended it. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface TreeOptions {
  cwd?: string;
  env: Record<string, string | undefined>;
  stdio: StdioOptions;
  /** The program starts no other process, so the search for stray processes is skipped. */
  isAlone?: boolean | undefined;
}

export interface Tree {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Settles when the first process of the tree has ended and its pipes are closed. */
  readonly exited: Promise<Exit>;
  /** Whether processes of the tree still ran when the first process had ended; those outside the group are found within seconds. */
  readonly leftover: Promise<boolean>;
  /** TERM now, KILL after `graceMs`; resolves when no process of the tree is left. May be called again: the shorter grace wins. */
  end(graceMs: number): Promise<void>;
}

/** The longest wait for killed processes to disappear: one that hangs in the kernel takes no signal. */
const KILL_MS = 2000;

/** Starts `argv` without a shell. Rejects with a `launch` fault that names the problem. */
export async function startTree(argv: readonly string[], options: TreeOptions): Promise<Tree> {
  const [file] = argv;
  if (file === undefined || file === "") throw launchError("an empty command", "there is nothing to run");
  const mark = mintMark();
  const marked = await withMark(mark, argv, options);
  const watched = watch(mark);
  const child = spawnChecked(file, marked, options, watched);
  const exited = new Promise<Exit>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => {
      watched.release();
      reject(launchError(file, reason(error, file, options.cwd), error));
    });
  });
  child.on("error", ignore);
  const pid = child.pid;
  if (pid === undefined) throw launchError(file, "it has no process id");
  const owned: Owned = { child, pid, mark };
  const leftover = new Promise<boolean>((resolve) => {
    child.once("exit", () => releaseLater({ owned, watched, tell: resolve }));
  });
  const grace = { until: Infinity };
  let ending: Promise<void> | undefined;
  const end = (graceMs: number): Promise<void> => {
    grace.until = Math.min(grace.until, performance.now() + graceMs);
    ending ??= endTree(owned, grace).finally(() => watched.release());
    return ending;
  };
  return { child, pid, exited, leftover, end };
}

/** A tree whose first process has ended and which the reaper still watches. */
interface Ended {
  owned: Owned;
  watched: Watched;
  /** Whether processes of the tree still run. */
  tell(isLeft: boolean): void;
  /** A process outside the group: while it runs, no search for others is needed. */
  stray?: number | undefined;
}

const ended = new Set<Ended>();
const RELEASE_AFTER_MS = 2000;

/**
 * Finding processes that left the group of an ended tree takes a look at every process, so one search serves all trees that ended in the
 * last seconds. Until then the reaper knows the trees by their marks; the number of a group that is gone is forgotten at once, as the
 * system may reuse it soon.
 */
function releaseLater(tree: Ended): void {
  if (signalGroup(tree.owned.pid, 0)) tree.tell(true);
  else tree.watched.started(0);
  if (ended.size === 0) setTimeout(() => void releaseEnded(), RELEASE_AFTER_MS).unref();
  ended.add(tree);
}

async function releaseEnded(): Promise<void> {
  const trees = [...ended];
  ended.clear();
  const unseen = new Set(trees.filter((tree) => !isSeen(tree)));
  const wearers = unseen.size === 0 ? undefined : await findWearers();
  for (const tree of trees) {
    if (unseen.has(tree)) tree.stray = wearers?.get(tree.owned.mark)?.[0];
    const isLeft = !unseen.has(tree) || tree.stray !== undefined;
    tree.tell(isLeft);
    if (isLeft) releaseLater(tree);
    else tree.watched.release();
  }
}

/** Whether processes of the tree are known to run without a search. */
function isSeen({ owned: { pid, mark }, stray }: Ended): boolean {
  return signalGroup(pid, 0) || (stray !== undefined && wears(stray, mark));
}

interface Owned {
  child: ChildProcess;
  pid: number;
  mark: string;
}

/** `file`: the program's name for the error message. */
function spawnChecked(file: string, { argv, env }: Marked, options: TreeOptions, watched: Watched): ChildProcess {
  const [program = file, ...args] = argv;
  try {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env,
      stdio: options.stdio,
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    if (child.pid !== undefined) watched.started(child.pid);
    return child;
  } catch (error) {
    watched.release();
    throw launchError(file, reason(error, file, options.cwd), error);
  }
}

/** A second call may shorten the grace meanwhile. */
async function endTree(owned: Owned, grace: { until: number }): Promise<void> {
  if (!(await lives(owned))) return;
  await signalAll(owned, "SIGTERM");
  await poll(owned, grace, () => {});
  // Repeated, because a process may fork between the search and the kill.
  await poll(owned, { until: performance.now() + KILL_MS }, () => signalAll(owned, "SIGKILL"));
}

/** Polls every few milliseconds, because a process that is not our child cannot be awaited. */
async function poll(owned: Owned, time: { until: number }, each: () => void | Promise<void>): Promise<void> {
  let wait = 5;
  while (performance.now() < time.until && (await lives(owned))) {
    await each();
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(wait * 2, 50);
  }
}

async function signalAll({ pid, mark }: Owned, name: NodeJS.Signals): Promise<void> {
  signalGroup(pid, name);
  for (const stray of (await findWearers()).get(mark) ?? []) if (stray !== pid) signal(stray, name);
}

/** Whether any process of the tree still runs: the first one, its group, or one that left the group. */
async function lives({ child, pid, mark }: Owned): Promise<boolean> {
  if (child.exitCode === null && child.signalCode === null) return true;
  if (signalGroup(pid, 0) && (await groupRuns(pid))) return true;
  return (await findWearers()).has(mark);
}

function signalGroup(pid: number, name: NodeJS.Signals | 0): boolean {
  return process.platform === "win32" ? signal(pid, name) : signal(-pid, name);
}

/** Returns false if no process is left to signal. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}

/** The cause is the system's error. */
function launchError(what: string, why: string, cause?: unknown): ParleyError {
  return new ParleyError({ code: "launch", message: `Could not start ${what}: ${why}`, retryable: false }, { cause });
}

function reason(error: unknown, file: string, cwd: string | undefined): string {
  const folder = cwd === undefined ? undefined : folderProblem(cwd);
  if (folder !== undefined) return folder;
  switch (systemCode(error)) {
    case "ENOENT":
      return `'${file}' was not found`;
    case "EACCES":
      return `'${file}' may not be executed`;
    case "E2BIG":
      return "its arguments and environment are longer than the system allows";
    default:
      return messageOf(error);
  }
}

/** The system reports a missing working folder as if the command were missing. */
function folderProblem(cwd: string): string | undefined {
  try {
    return statSync(cwd).isDirectory() ? undefined : `'${cwd}' is not a folder`;
  } catch (error) {
    return systemCode(error) === "ENOENT"
      ? `the folder '${cwd}' does not exist`
      : `the folder '${cwd}' cannot be used: ${messageOf(error)}`;
  }
}

function ignore(): void {
  // A later error of a started child shows up as its exit.
}
