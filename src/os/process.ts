/**
 * Child processes that we own as trees: each gets a process group of its own and a tag in its environment.
 * Ending one means TERM to the group, a grace, then KILL to the group and to whatever left the group but still wears the tag.
 * Should we die without a chance to clean up, the reaper (reaper.ts) does it.
 */
import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { statSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { ParleyError, systemCode, messageOf } from "../core/errors.js";
import { mintId } from "../core/ids.js";
import { watch, type Watched } from "./reaper.js";

/** How a child ended; `code` is null when a signal ended it. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface TreeOptions {
  cwd?: string;
  env: Record<string, string | undefined>;
  stdio: StdioOptions;
}

export interface Tree {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Settles when the first process of the tree has ended and its pipes are closed. */
  readonly exited: Promise<Exit>;
  /** TERM now, KILL after `graceMs`; resolves when nothing of the tree is left. Safe to call again: the shorter grace wins. */
  end(graceMs: number): Promise<void>;
}

/** The tag's name; its value is one for each tree. */
const TREE_TAG = "PARLEY_TREE";

/** How long we wait for what was killed to be gone: a process that hangs in the system takes no signal. */
const KILL_MS = 2000;

/** Starts `argv` without a shell. Rejects with a `launch` fault that says what is wrong. */
export async function startTree(argv: readonly string[], options: TreeOptions): Promise<Tree> {
  const [file, ...args] = argv;
  if (file === undefined || file === "") throw launchError("an empty command", "there is nothing to run");
  const tag = mintId();
  const watched = watch(tag);
  const child = spawnChecked(file, args, options, tag, watched);
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
  const owned: Owned = { child, pid, tag };
  void exited.then(() => releaseLater(owned, watched));
  const grace = { until: Infinity };
  let ending: Promise<void> | undefined;
  const end = (graceMs: number): Promise<void> => {
    grace.until = Math.min(grace.until, performance.now() + graceMs);
    ending ??= endTree(owned, grace).finally(() => watched.release());
    return ending;
  };
  return { child, pid, exited, end };
}

/** Ended trees that the reaper still watches, by tag. */
const ended = new Map<string, { owned: Owned; watched: Watched }>();
const RELEASE_AFTER_MS = 2000;

/**
 * What left an ended tree can only be found by looking at every process, so the ended trees of the last seconds are looked for in one
 * go. Until then the reaper knows them by their tags; a group that is gone is forgotten at once, for its number may be another's soon.
 */
function releaseLater(owned: Owned, watched: Watched): void {
  if (!signalGroup(owned.pid, 0)) watched.started(0);
  if (ended.size === 0) setTimeout(() => void releaseEnded(), RELEASE_AFTER_MS).unref();
  ended.set(owned.tag, { owned, watched });
}

async function releaseEnded(): Promise<void> {
  const trees = [...ended];
  ended.clear();
  const worn = new Set((await eachProcess("environ", (environ) => TAG.exec(environ)?.[1])).map(([, tag]) => tag));
  for (const [tag, { owned, watched }] of trees) {
    if (worn.has(tag) || signalGroup(owned.pid, 0)) releaseLater(owned, watched);
    else watched.release();
  }
}

const TAG = new RegExp(`${TREE_TAG}=([\\w-]+)`);

interface Owned {
  child: ChildProcess;
  pid: number;
  tag: string;
}

function spawnChecked(file: string, args: string[], options: TreeOptions, tag: string, watched: Watched): ChildProcess {
  try {
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: { ...options.env, [TREE_TAG]: tag },
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

/** The grace may become shorter meanwhile. */
async function endTree(owned: Owned, grace: { until: number }): Promise<void> {
  if (!(await lives(owned))) return;
  await signalAll(owned, "SIGTERM");
  await poll(owned, grace, () => {});
  // Again and again, because a process may fork between the look and the blow.
  await poll(owned, { until: performance.now() + KILL_MS }, () => signalAll(owned, "SIGKILL"));
}

/** Looks every few milliseconds, because a process that is not our child cannot be awaited. */
async function poll(owned: Owned, time: { until: number }, each: () => void | Promise<void>): Promise<void> {
  let wait = 5;
  while (performance.now() < time.until && (await lives(owned))) {
    await each();
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(wait * 2, 50);
  }
}

async function signalAll({ pid, tag }: Owned, name: NodeJS.Signals): Promise<void> {
  signalGroup(pid, name);
  for (const stray of await taggedProcesses(tag)) if (stray !== pid) signal(stray, name);
}

/** Whether anything of the tree still runs: its first process, its group, or what left the group. */
async function lives({ child, pid, tag }: Owned): Promise<boolean> {
  if (child.exitCode === null && child.signalCode === null) return true;
  if (signalGroup(pid, 0) && (await groupRuns(pid))) return true;
  return (await taggedProcesses(tag)).length > 0;
}

/** A group of nothing but zombies takes signals and is dead all the same; nobody may ever come to bury it. */
async function groupRuns(pid: number): Promise<boolean> {
  if (process.platform !== "linux") return true;
  const states = await eachProcess("stat", (stat) => /^.*\) (\S) \d+ (\d+) /s.exec(stat));
  return states.some(([, state]) => state?.[2] === String(pid) && !/[ZX]/.test(state[1] ?? ""));
}

function signalGroup(pid: number, name: NodeJS.Signals | 0): boolean {
  return process.platform === "win32" ? signal(pid, name) : signal(-pid, name);
}

/** False when there is nobody left to receive it. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}

/** Processes that wear the tag, wherever they moved. Linux only; elsewhere the group is all we know. */
async function taggedProcesses(tag: string): Promise<number[]> {
  if (process.platform !== "linux") return [];
  const mark = `${TREE_TAG}=${tag}`;
  const worn = await eachProcess("environ", (environ) => environ.includes(mark));
  return worn.filter(([, wears]) => wears).map(([pid]) => pid);
}

/** Reads one file of every process that there is. */
async function eachProcess<T>(file: "environ" | "stat", look: (text: string) => T): Promise<[number, T][]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  return Promise.all(pids.map(async (pid) => [Number(pid), look(await readFile(`/proc/${pid}/${file}`, "latin1").catch(() => ""))]));
}

/** What the system said is the cause. */
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

/** The system reports a missing folder as if the command were missing. */
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
  // A later error of a started child shows as its exit.
}
