/**
 * The mark of all processes of a tree, wherever they move: a number in an environment variable and, on Linux, in the soft
 * limit of file locks, which the kernel keeps for each process and does not use. Every child inherits both. A new session, an empty
 * environment or a new process title does not change the limit; only a program that sets that very limit does.
 */
import { spawn } from "node:child_process";
import { accessSync, closeSync, constants, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";

const TREE_TAG = "PARLEY_TREE";
const DIGITS = 15;
const IN_ENVIRON = new RegExp(`${TREE_TAG}=(\\d{${DIGITS}})`);
const IN_LIMITS = new RegExp(`^Max file locks +(\\d{${DIGITS}}) `, "m");
const LIMITER = "prlimit";
/** The number of processes to look at before yielding to the event loop. */
const AT_ONCE = 50;

export interface Marked {
  argv: readonly string[];
  env: Record<string, string | undefined>;
}

export interface MarkOptions {
  cwd?: string | undefined;
  env: Record<string, string | undefined>;
  /** The program starts no other process, so a mark in its environment is enough. */
  isAlone?: boolean | undefined;
}

export function mintMark(): string {
  return String(Math.floor((1 + 9 * Math.random()) * 10 ** (DIGITS - 1)));
}

/**
 * The command line and environment that mark a tree from its first moment. A shell sets the limit itself, which costs
 * nothing; other programs are started by `prlimit`, which becomes the program. If neither works, only the environment has the mark.
 */
export async function withMark(mark: string, argv: readonly string[], { cwd, env, isAlone }: MarkOptions): Promise<Marked> {
  const marked = { ...env, [TREE_TAG]: mark };
  if (process.platform !== "linux" || isAlone === true) return { argv, env: marked };
  const [file = "", option, script, ...rest] = argv;
  if (option === "-c" && script !== undefined && SHELLS.has(basename(file))) {
    return { argv: [file, option, `${limiting(file, mark)}${script}`, ...rest], env: marked };
  }
  const limiter = isProgram(file, { cwd, env: marked }) ? await findLimiter() : undefined;
  return { argv: limiter === undefined ? argv : [limiter, `--locks=${mark}:`, "--", ...argv], env: marked };
}

const SHELLS = new Set(["bash", "sh", "dash", "ash"]);

/** Put on the first line of the script, so that the shell's line numbers stay. Shells other than bash call the limit `-w`. */
function limiting(shell: string, mark: string): string {
  const set = `ulimit -Sx ${mark} 2>/dev/null`;
  return basename(shell) === "bash" ? `${set}; ` : `${set} || ulimit -Sw ${mark} 2>/dev/null; `;
}

/** Finds a program as the system does. A missing program is started unmarked, so that the system reports the error. */
function isProgram(file: string, { cwd = process.cwd(), env }: MarkOptions): boolean {
  const places = file.includes("/") ? [""] : folders(env["PATH"] ?? "/bin:/usr/bin");
  const found = places.map((folder) => resolve(cwd, folder, file)).find((path) => isExecutable(path));
  if (found === undefined) return false;
  const interpreter = interpreterOf(found);
  return interpreter === undefined || isExecutable(resolve(cwd, interpreter));
}

/** The interpreter in the first line of a script. */
function interpreterOf(path: string): string | undefined {
  const start = Buffer.alloc(256);
  try {
    const file = openSync(path, "r");
    try {
      readSync(file, start);
    } finally {
      closeSync(file);
    }
  } catch {
    // A program may be executable and not readable.
  }
  return /^#![ \t]*([^\s\0]+)/.exec(start.toString("latin1"))?.[1];
}

function folders(path: string): string[] {
  return path.split(":");
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

let limiter: Promise<string | undefined> | undefined;

/** The program that sets a limit and starts another, if it is installed and permitted. */
function findLimiter(): Promise<string | undefined> {
  limiter ??= proven(
    // The system's own first: a folder of the PATH may be one that commands can write to.
    ["/usr/bin", "/bin", ...folders(process.env["PATH"] ?? "")].map((folder) => join(folder, LIMITER)).find((path) => isExecutable(path)),
  );
  return limiter;
}

/** Some sandboxes refuse to set the limit; then the program could not start at all. */
function proven(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return Promise.resolve(undefined);
  return new Promise((settle) => {
    const trial = spawn(path, ["--locks=1:", "--", path, "--version"], { stdio: "ignore", env: {} });
    trial.once("error", () => settle(undefined));
    trial.once("exit", (code) => settle(code === 0 ? path : undefined));
  });
}

/** The running processes that have a mark, by mark. */
export type Wearers = ReadonlyMap<string, readonly number[]>;

let next: Promise<Wearers> | undefined;
let last: Promise<unknown> = Promise.resolve();

/** A search over all processes that begins after the call; waiting calls share one. Linux only: elsewhere no process has a mark. */
export function findWearers(): Promise<Wearers> {
  next ??= last.then(() => {
    next = undefined;
    const look = lookAtAll();
    last = look;
    return look;
  });
  return next;
}

async function lookAtAll(): Promise<Wearers> {
  const wearers = new Map<string, number[]>();
  await eachProcess((pid) => {
    const mark = markOf(pid);
    if (mark !== undefined) wearers.set(mark, [...(wearers.get(mark) ?? []), pid]);
  });
  return wearers;
}

export function wears(pid: number, mark: string): boolean {
  return markOf(pid) === mark;
}

function markOf(pid: number): string | undefined {
  const mark = (IN_LIMITS.exec(factsOf(pid, "limits")) ?? IN_ENVIRON.exec(factsOf(pid, "environ")))?.[1];
  return mark === undefined || isDead(factsOf(pid, "stat")) ? undefined : mark;
}

/** Signals reach a group of zombies, too, whose parent may never reap them; only living processes count. */
export async function groupRuns(group: number): Promise<boolean> {
  if (process.platform !== "linux") return true;
  let runs = false;
  await eachProcess((pid) => {
    const stat = factsOf(pid, "stat");
    runs ||= GROUP.exec(stat)?.[1] === String(group) && !isDead(stat);
  });
  return runs;
}

/** The state comes after the name, which may hold any character; then the parent and the group. */
const GROUP = /^.*\) \S \d+ (\d+) /s;
const DEAD = /^.*\) [ZX] /s;

function isDead(stat: string): boolean {
  return stat === "" || DEAD.test(stat);
}

async function eachProcess(look: (pid: number) => void): Promise<void> {
  for (const [index, pid] of processIds().entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await new Promise((resume) => setImmediate(resume));
    look(pid);
  }
}

function processIds(): number[] {
  if (process.platform !== "linux") return [];
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** Empty for a process that has ended or belongs to another user. */
function factsOf(pid: number, file: "limits" | "environ" | "stat"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}
