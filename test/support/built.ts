/**
 * Around all tests. Before: tests from the outside need the built command, which is built when a source is newer than the build. After: no
 * process of any test may be left.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where there is room for it, folders of tests are in memory: they are made and removed by the thousand. */
const IN_MEMORY = "/dev/shm";
const ROOM = 4 * 1024 ** 3;

/** How long a process that is on its way out may take. */
const PATIENCE_MS = 20_000;

export default function setUp(): () => Promise<void> {
  build();
  // Every folder of every test is below this one, so a process that a test started has its name in the environment or the command line.
  const folder = mkdtempSync(join(fastFolder(), "parley-"));
  process.env["TMPDIR"] = folder;
  return async () => {
    const left = await leftBehind(folder);
    rmSync(folder, { recursive: true, force: true });
    if (left.length === 0) return;
    // The runner only shows the error of a teardown.
    process.exitCode = 1;
    throw new Error(`These processes outlived the tests:\n${left.join("\n")}`);
  };
}

function build(): void {
  const built = "dist/parley.js";
  const newest = Math.max(...readdirSync("src", { recursive: true }).map((file) => statSync(join("src", String(file))).mtimeMs));
  if (!existsSync(built) || statSync(built).mtimeMs < newest) execFileSync(process.execPath, ["scripts/build.mjs"], { stdio: "inherit" });
}

/** Tests run programs from their folders. */
function fastFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    if (bavail * bsize < ROOM) return tmpdir();
    const trial = mkdtempSync(join(IN_MEMORY, "parley-"));
    try {
      const program = join(trial, "runs");
      writeFileSync(program, "#!/bin/sh\nexit 0\n", { mode: 0o755 });
      execFileSync(program);
      return IN_MEMORY;
    } finally {
      rmSync(trial, { recursive: true });
    }
  } catch {
    return tmpdir();
  }
}

async function leftBehind(folder: string): Promise<string[]> {
  const last = performance.now() + PATIENCE_MS;
  for (;;) {
    const left = process.platform === "linux" ? readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isOf(folder, name)) : [];
    if (left.length === 0 || performance.now() > last) return left.map((pid) => `${pid}: ${textOf(pid, "cmdline").replaceAll("\0", " ")}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The test runner's own workers are not meant. */
function isOf(folder: string, pid: string): boolean {
  const command = textOf(pid, "cmdline");
  return Number(pid) !== process.pid && !command.includes("/vitest/") && (command + textOf(pid, "environ")).includes(folder);
}

/** Empty for a process that is gone or belongs to somebody else. */
function textOf(pid: string, file: "cmdline" | "environ"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}
