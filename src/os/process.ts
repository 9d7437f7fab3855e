/**
 * Child processes that we own as trees: each gets a process group of its own and a tag in its environment.
 * Ending one means TERM to the group, a grace, then KILL to the group and to whatever left the group but still wears the tag.
 * Should we die without a chance to clean up, the reaper (reaper.ts) does it.
 */
import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { ParleyError, systemCode, messageOf } from "../core/errors.js";
import { watch } from "./reaper.js";

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
export const TREE_TAG = "PARLEY_TREE";

/** Starts `argv` without a shell. Rejects with a `launch` fault that says what is wrong. */
export async function startTree(argv: readonly string[], options: TreeOptions): Promise<Tree> {
  const [file, ...args] = argv;
  if (file === undefined || file === "") throw launchError("an empty command", "there is nothing to run");
  const tag = randomBytes(9).toString("base64url");
  const child = spawnChecked(file, args, options, tag);
  const exited = new Promise<Exit>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => reject(launchError(file, reason(error, file, options.cwd))));
  });
  child.on("error", ignore);
  const pid = child.pid;
  if (pid === undefined) throw launchError(file, "it has no process id");
  const release = watch(pid, tag);
  void exited.then(() => (groupAlive(pid) ? undefined : release()));
  let ending: Promise<void> | undefined;
  let hurry: () => void = ignore;
  const end = async (graceMs: number): Promise<void> => {
    if (ending) {
      if (graceMs === 0) hurry();
      return ending;
    }
    const cut = new Promise<void>((resolve) => {
      hurry = resolve;
    });
    ending = endTree(pid, tag, graceMs, cut).finally(release);
    return ending;
  };
  return { child, pid, exited, end };
}

function spawnChecked(file: string, args: string[], options: TreeOptions, tag: string): ChildProcess {
  try {
    return spawn(file, args, {
      cwd: options.cwd,
      env: { ...options.env, [TREE_TAG]: tag },
      stdio: options.stdio,
      detached: process.platform !== "win32",
      windowsHide: true,
    });
  } catch (error) {
    throw launchError(file, reason(error, file, options.cwd));
  }
}

async function endTree(pid: number, tag: string, graceMs: number, cut: Promise<void>): Promise<void> {
  const term = signalGroup(pid, "SIGTERM");
  const left = await taggedProcesses(tag);
  for (const stray of left) signal(stray, "SIGTERM");
  if (!term && left.length === 0) return;
  await goneWithin(pid, tag, graceMs, cut);
  signalGroup(pid, "SIGKILL");
  for (const stray of await taggedProcesses(tag)) signal(stray, "SIGKILL");
}

/** Looks every few milliseconds, because a process that is not our child cannot be awaited. */
async function goneWithin(pid: number, tag: string, graceMs: number, cut: Promise<void>): Promise<void> {
  const until = performance.now() + graceMs;
  let wait = 5;
  let stop = false;
  void cut.then(() => {
    stop = true;
  });
  while (!stop && performance.now() < until) {
    if (!groupAlive(pid) && (await taggedProcesses(tag)).length === 0) return;
    await Promise.race([cut, new Promise((resolve) => setTimeout(resolve, wait))]);
    wait = Math.min(wait * 2, 50);
  }
}

function groupAlive(pid: number): boolean {
  return signalGroup(pid, 0);
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
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environ = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
      return environ.includes(mark) ? Number(pid) : 0;
    }),
  );
  return found.filter((pid) => pid !== 0);
}

function launchError(what: string, why: string): ParleyError {
  return new ParleyError({ code: "launch", message: `Could not start ${what}: ${why}`, retryable: false });
}

function reason(error: unknown, file: string, cwd: string | undefined): string {
  switch (systemCode(error)) {
    case "ENOENT":
      return `'${file}' was not found${cwd === undefined ? "" : `, or the folder '${cwd}' does not exist`}`;
    case "EACCES":
      return `'${file}' may not be executed`;
    case "E2BIG":
      return "its arguments and environment are longer than the system allows";
    default:
      return messageOf(error);
  }
}

function ignore(): void {
  // A later error of a started child shows as its exit.
}
