import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixture, marked, scratch } from "../../../test/support/processes.js";
import { startTree, type Tree } from "./process.js";

async function tree(env: Record<string, string>, ...words: string[]): Promise<Tree> {
  const started = await startTree([process.execPath, fixture("tree.mjs"), ...words], { env, stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => started.child.stdout?.once("data", resolve));
  return started;
}

describe("ending a tree", () => {
  test("lets it tidy up after TERM", async () => {
    const { env, alive } = marked();
    const note = join(scratch(), "note");
    const owned = await tree(env, `tidy=${note}`);
    await owned.end(10_000);
    expect(alive()).toEqual([]);
    expect(existsSync(note)).toBe(true);
    expect(await owned.exited).toEqual({ code: 0, signal: null });
  });

  test("kills what ignores TERM, its children too, and resolves when nothing is left", async () => {
    const { env, alive } = marked();
    const owned = await tree(env, "stubborn", "child", "stubborn", "child", "stubborn");
    await owned.end(50);
    expect(alive()).toEqual([]);
    expect(await owned.exited).toEqual({ code: null, signal: "SIGKILL" });
  });

  test("finds a process that left the group", async () => {
    const { env, alive } = marked();
    const owned = await tree(env, "stray", "stubborn", "stray", "stubborn");
    await owned.end(50);
    expect(alive()).toEqual([]);
  });

  test("gives a process that left the group the same grace", async () => {
    const { env, alive } = marked();
    const note = join(scratch(), "note");
    const owned = await tree(env, "stray", `tidy=${note}`);
    await owned.end(10_000);
    expect(alive()).toEqual([]);
    expect(existsSync(note)).toBe(true);
  });

  test("with a shorter grace later hurries it", async () => {
    const { env, alive } = marked();
    const owned = await tree(env, "stubborn");
    const patient = owned.end(3_600_000);
    await owned.end(50);
    await patient;
    expect(alive()).toEqual([]);
  });

  test("with a longer grace later does not delay it", async () => {
    const { env, alive } = marked();
    const owned = await tree(env, "stubborn");
    const soon = owned.end(50);
    await owned.end(3_600_000);
    await soon;
    expect(alive()).toEqual([]);
  });

  test("that is over does nothing, twice", async () => {
    const { env } = marked();
    const owned = await tree(env, "leave=3");
    expect(await owned.exited).toEqual({ code: 3, signal: null });
    await owned.end(10_000);
    await owned.end(0);
  });

  test("does not touch another tree", async () => {
    const [one, other] = [marked(), marked()];
    const ended = await tree(one.env, "child");
    const living = await tree(other.env, "child");
    await ended.end(10_000);
    expect(one.alive()).toEqual([]);
    if (process.platform === "linux") expect(other.alive()).toHaveLength(2);
    await living.end(0);
  });
});

describe("a command that cannot be started", () => {
  const start = (argv: string[], cwd?: string): Promise<Tree> =>
    startTree(argv, { env: {}, stdio: "ignore", ...(cwd !== undefined && { cwd }) });
  const fault = (message: string): object => ({ fault: { code: "launch", message, retryable: false } });

  test("says what was not found", async () => {
    await expect(start(["/nowhere/agent"])).rejects.toMatchObject(fault("Could not start /nowhere/agent: '/nowhere/agent' was not found"));
  });

  test("says that the folder is missing", async () => {
    const folder = join(scratch(), "missing");
    await expect(start([process.execPath], folder)).rejects.toMatchObject(
      fault(`Could not start ${process.execPath}: the folder '${folder}' does not exist`),
    );
  });

  test("says that the folder is none", async () => {
    const file = join(scratch(), "file");
    writeFileSync(file, "");
    await expect(start([process.execPath], file)).rejects.toMatchObject(
      fault(`Could not start ${process.execPath}: '${file}' is not a folder`),
    );
  });

  test.skipIf(process.platform === "win32")("says that it may not be executed", async () => {
    const file = join(scratch(), "agent");
    writeFileSync(file, "#!/bin/sh\n");
    chmodSync(file, 0o644);
    await expect(start([file])).rejects.toMatchObject(fault(`Could not start ${file}: '${file}' may not be executed`));
  });

  test("says that a folder is no command", async () => {
    const folder = join(scratch(), "agent");
    mkdirSync(folder);
    await expect(start([folder])).rejects.toMatchObject({ fault: { code: "launch" } });
  });

  test("says that nothing was given", async () => {
    await expect(start([])).rejects.toMatchObject(fault("Could not start an empty command: there is nothing to run"));
    await expect(start(["node", "a\0b"])).rejects.toMatchObject({ fault: { code: "launch" } });
  });
});
