/** Which processes of a test still live: each wears a mark in its environment, wherever in the system it moved. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";

const NAME = "PARLEY_TEST_MARK";

/** A long bound, because a machine may be busy. */
const PATIENCE_MS = 50_000;

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

/** Processes, without this one, whose environment or command line holds this text. */
export function processesWith(text: string): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => [`/proc/${pid}/environ`, `/proc/${pid}/cmdline`].some((file) => read(file).includes(text)))
    .map(Number);
}

function read(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
