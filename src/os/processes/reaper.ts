/**
 * The watcher: a small shell that reads the end of a pipe. If our process dies, by whatever cause, the pipe ends, and the watcher ends all
 * open trees; it also ends our process if its event loop stands still. It starts with the first child, or with the first prompt of a command
 * that guards its loop, and costs one idle shell.
 */
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import type { EventLoopUtilization } from "node:perf_hooks";
import { WATCHER_SCRIPT } from "./watcher-script.js";

/** Bash comes first, because it can read with a time limit. Its input is a pipe: on a socket bash would read the user's start files. */
const SHELLS = [["/bin/bash", "--norc", "--noprofile"], ["/bin/sh"]] as const;
/** The intervals at which our event loop reports, and the longest silence allowed: at work, and nearly idle. */
const BUSY = { everyMs: 1000, patienceSeconds: 3 };
const IDLE = { everyMs: 10_000, patienceSeconds: 25 };
/** A loop that worked no longer than this between two reports is idle. */
const LITTLE_MS = 5;
/** The delay before a killed watcher is replaced. */
const RESTART_MS = 1000;

let watcher: ChildProcess | undefined;
/** The process ids of open trees, by mark; 0 until the process id is known. */
const open = new Map<string, number>();
let stuckSeconds = 0;
let beating: NodeJS.Timeout | undefined;
let pace = IDLE;
let used: EventLoopUtilization | undefined;

export interface Watched {
  /** Adds the first process of the tree, so that its group is watched, too. */
  started(pid: number): void;
  /** Removes the tree. */
  release(): void;
}

/**
 * Registers a tree before it starts: a crash of ours right after the start must not leave an orphan. Without a
 * shell there is no watcher.
 */
export function watch(mark: string): Watched {
  startWatcher();
  setTree(mark, 0);
  return {
    started(pid) {
      if (open.has(mark)) setTree(mark, pid);
    },
    release() {
      const pid = open.get(mark);
      if (open.delete(mark)) tell(`- ${pid} ${mark}`);
    },
  };
}

function setTree(mark: string, pid: number): void {
  const before = open.get(mark);
  open.set(mark, pid);
  tell(`+ ${pid} ${mark}${before === undefined ? "" : `\n- ${before} ${mark}`}`);
}

/** Sets how long our event loop may stand still, from the next watcher on; then our process is ended. Under a debugger there is no limit. */
export function limitStandstill(seconds: number): void {
  const isDebugged = [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].some((options) => options.includes("--inspect"));
  stuckSeconds = isDebugged ? 0 : seconds;
}

/** Work is about to begin: the watcher watches the event loop closely from now on. */
export function guardLoop(): void {
  if (stuckSeconds === 0) return;
  if (watcher === undefined) startWatcher();
  else if (pace === IDLE) beat(BUSY);
}

function startWatcher(): void {
  if (watcher !== undefined || process.platform === "win32") return;
  const [shell, ...options] = SHELLS.find(([path]) => existsSync(path)) ?? [];
  if (shell === undefined) return;
  // Imported here, because a start without a child does not need it.
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn(shell, [...options, "-c", WATCHER_SCRIPT, "parley-watcher", String(process.pid), String(stuckSeconds)], {
    // The watcher's messages about our process go to our stderr.
    stdio: ["pipe", "ignore", stuckSeconds === 0 ? "ignore" : "inherit"],
    detached: true,
    env: { PATH: "/usr/bin:/bin" },
  });
  watcher = child;
  child.once("error", () => forget(child));
  child.once("exit", () => forget(child));
  child.stdin?.on("error", () => {});
  child.unref();
  if (child.stdin !== null && "unref" in child.stdin && typeof child.stdin.unref === "function") child.stdin.unref();
  for (const [mark, pid] of open) tell(`+ ${pid} ${mark}`);
  if (stuckSeconds > 0) beat(BUSY);
}

/** A killed watcher is replaced. */
function forget(child: ChildProcess): void {
  if (watcher !== child) return;
  watcher = undefined;
  clearTimeout(beating);
  if (open.size > 0 || stuckSeconds > 0) setTimeout(startWatcher, RESTART_MS).unref();
}

function tell(line: string): void {
  watcher?.stdin?.write(`${line}\n`);
}

/** A stopped watcher does not read, so reports for it are dropped. */
function beat(next: typeof BUSY): void {
  pace = next;
  if (watcher?.stdin?.writableLength === 0) tell(`b ${pace.patienceSeconds}`);
  clearTimeout(beating);
  beating = setTimeout(() => {
    const now = performance.eventLoopUtilization();
    const { active } = performance.eventLoopUtilization(now, used);
    used = now;
    beat(active > LITTLE_MS ? BUSY : IDLE);
  }, pace.everyMs).unref();
}
