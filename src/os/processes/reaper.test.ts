import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { beforeAll, describe, expect, test } from "vitest";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { afterAll } from "vitest";
import { fixture, marked, until } from "../../../test/support/processes.js";

/** Our own code as a module that a process outside of this test can load. */
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-reaper-"));
  const bundle = await rolldown({
    input: { process: join(import.meta.dirname, "process.ts") },
    platform: "node",
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
  });
  await bundle.write({ dir: folder, format: "esm", entryFileNames: "[name].mjs" });
  await bundle.close();
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function owner(env: Record<string, string>, ...tree: string[]): Promise<ChildProcess> {
  const args = [fixture("owner.mjs"), join(folder, "process.mjs"), fixture("tree.mjs"), ...tree];
  const child = spawn(process.execPath, args, { env, stdio: ["pipe", "pipe", "ignore"] });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  return child;
}

/** The processes that it started itself, the reaper among them. */
function childrenOf({ pid }: ChildProcess): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

describe.skipIf(process.platform !== "linux")("when we die, nothing of ours lives on:", () => {
  test("killed, with a child that ignores TERM and a stray grandchild", async () => {
    const { env, gone, alive } = marked();
    const ours = await owner(env, "stubborn", "stray", "stubborn");
    const started = childrenOf(ours);
    expect(alive()).toHaveLength(3);
    expect(started).toHaveLength(2);
    ours.kill("SIGKILL");
    await gone();
    await until(() => !started.some(lives), "the reaper to leave");
  });

  test("killed right after the start, before anybody knows the child", async () => {
    const { env, gone } = marked();
    const ours = spawn(process.execPath, [fixture("hasty.mjs"), join(folder, "process.mjs"), fixture("tree.mjs")], {
      env,
      stdio: "ignore",
    });
    await new Promise((resolve) => ours.once("exit", resolve));
    await gone();
  });

  test.each(["crash", "exit"])("by %s", async (how) => {
    const { env, gone } = marked();
    const ours = await owner(env, "stubborn", "child");
    ours.stdin?.end(how);
    await gone();
  });

  test("and the reaper leaves with us when it has nothing to do", async () => {
    const { env, alive } = marked();
    const ours = await owner(env, "child");
    const started = childrenOf(ours);
    ours.stdin?.end("end");
    await until(() => !started.some(lives), "the reaper to leave");
    expect(alive()).toEqual([]);
  });

  test("though the group of the first process is gone, what strayed from it is remembered", async () => {
    const { env, gone, alive } = marked();
    const ours = await owner(env, "leave=0", "stray", "stubborn");
    await until(() => alive().length === 2, "the first process to leave");
    ours.kill("SIGKILL");
    await gone();
  });
});
