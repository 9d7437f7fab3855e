/**
 * The watcher: a small shell that holds the end of a pipe. When we die, whatever killed us, it reads the end of that pipe and ends the
 * trees that we had open; and it ends us when our event loop stands still. Started with the first child, or the first prompt of a command
 * that guards its loop; it costs one idle shell.
 */
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import type { EventLoopUtilization } from "node:perf_hooks";
import { WATCHER_SCRIPT } from "./watcher-script.js";

/** Bash first, because it can wait for input with a time limit; with a socket as its input it would read the user's start files. */
const SHELLS = [["/bin/bash", "--norc", "--noprofile"], ["/bin/sh"]] as const;
/** How often we say that our event loop turns, and how long we may be silent: while it works, and while it has next to nothing to do. */
const BUSY = { everyMs: 1000, patienceSeconds: 3 };
const IDLE = { everyMs: 10_000, patienceSeconds: 25 };
/** Work of the loop between two signs of life. */
const LITTLE_MS = 5;
/** Before a watcher that was killed is started anew. */
const RESTART_MS = 1000;

let watcher: ChildProcess | undefined;
/** The process ids of the open trees, by mark; 0 while only the mark is known. */
const open = new Map<string, number>();
let stuckSeconds = 0;
let beating: NodeJS.Timeout | undefined;
let pace = IDLE;
let used: EventLoopUtilization | undefined;

export interface Watched {
  /** The first process of the tree; its group is watched too from now on. */
  started(pid: number): void;
  /** Takes the tree out again. */
  release(): void;
}

/**
 * Puts a tree under the watcher's eye, before there is one: a kill of ours right after the start must not leave an orphan. Without a
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

/** From the next watcher on, our event loop may stand still for so long; then we are ended. Under a debugger it may stand for ever. */
export function limitStandstill(seconds: number): void {
  const isDebugged = [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].some((options) => options.includes("--inspect"));
  stuckSeconds = isDebugged ? 0 : seconds;
}

/** There is work to come: the watcher looks at the event loop from now on, and closely. */
export function guardLoop(): void {
  if (stuckSeconds === 0) return;
  if (watcher === undefined) startWatcher();
  else if (pace === IDLE) beat(BUSY);
}

function startWatcher(): void {
  if (watcher !== undefined || process.platform === "win32") return;
  const [shell, ...options] = SHELLS.find(([path]) => existsSync(path)) ?? [];
  if (shell === undefined) return;
  // Loaded here, because a start without a child does without.
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn(shell, [...options, "-c", WATCHER_SCRIPT, "parley-watcher", String(process.pid), String(stuckSeconds)], {
    // Its words about us belong where ours would be.
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

/** A killed watcher gets a successor. */
function forget(child: ChildProcess): void {
  if (watcher !== child) return;
  watcher = undefined;
  clearTimeout(beating);
  if (open.size > 0 || stuckSeconds > 0) setTimeout(startWatcher, RESTART_MS).unref();
}

function tell(line: string): void {
  watcher?.stdin?.write(`${line}\n`);
}

/** A watcher that is stopped does not read; signs of life are not kept for it. */
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
