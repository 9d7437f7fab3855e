/** Which processes of a test still live: each wears a mark in its environment, wherever in the system it moved. */
import { randomBytes } from "node:crypto";
import { closeSync, mkdtempSync, openSync, readdirSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";

const NAME = "PARLEY_TEST_MARK";

/** A long bound, because a machine may be busy. */
const PATIENCE_MS = 50_000;

/** More than any environment or command line here takes. */
const BUFFER = Buffer.alloc(1024 * 1024);

export interface Marked {
  env: Record<string, string>;
  /** Ids of living processes that wear the mark. Only Linux can tell; elsewhere none. */
  alive(): number[];
  /** Resolves when none lives; fails when some live on. */
  gone(): Promise<void>;
}

/** A new mark; when the test ends, nothing that wears it may be left. */
export function marked(): Marked {
  const mark = randomBytes(9).toString("hex");
  const alive = (): number[] => processesWith(`${NAME}=${mark}`);
  onTestFinished(() => {
    const left = alive();
    for (const pid of left) process.kill(pid, "SIGKILL");
    expect(left, "processes that outlived their test").toEqual([]);
  });
  return {
    env: { PATH: process.env["PATH"] ?? "", [NAME]: mark },
    alive,
    gone: () =>
      until(
        () => alive().length === 0,
        () => `processes ${alive().join(", ")} to be gone`,
      ),
  };
}

/** Asks again and again, until the answer is yes or the patience is at its end. */
export async function until(done: () => boolean, what: string | (() => string) = String(done)): Promise<void> {
  const last = performance.now() + PATIENCE_MS;
  for (let asked = performance.now(); !done(); asked = performance.now()) {
    if (asked > last) expect.fail(`waited in vain for ${typeof what === "string" ? what : what()}`);
    // A look at all processes takes a while itself; whoever is waited for needs the processor more.
    await new Promise((resolve) => setTimeout(resolve, Math.max(10, 4 * (performance.now() - asked))));
  }
}

/** A folder that is removed after the test. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function fixture(name: string): string {
  return join(import.meta.dirname, "../fixtures", name);
}

/** Processes that were there before any test here: they wear no mark of ours, and need no look. */
let before = new Set(process.platform === "linux" ? readdirSync("/proc") : []);

/** Processes of tests here whose environment or command line holds this text. */
export function processesWith(text: string): number[] {
  if (process.platform !== "linux") return [];
  const all = readdirSync("/proc");
  // The id of a process that is gone may be given again.
  before = new Set(all.filter((name) => before.has(name)));
  return all
    .filter((name) => /^\d+$/.test(name) && !before.has(name))
    .filter((pid) => [`/proc/${pid}/environ`, `/proc/${pid}/cmdline`].some((file) => holds(file, text)))
    .map(Number);
}

/** Read by hand into one buffer, because tests look at every process of the machine again and again. */
function holds(file: string, text: string): boolean {
  let open: number | undefined;
  try {
    open = openSync(file, "r");
    let end = 0;
    for (let more = -1; more !== 0 && end < BUFFER.length; end += more) more = readSync(open, BUFFER, end, BUFFER.length - end, null);
    return BUFFER.subarray(0, end).includes(text);
  } catch {
    return false;
  } finally {
    if (open !== undefined) closeSync(open);
  }
}
