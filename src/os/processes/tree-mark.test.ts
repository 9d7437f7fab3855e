import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { marked, scratch, until } from "../../../test/support/processes.js";
import { startTree, type Tree } from "./process.js";
import { findWearers, mintMark, withMark } from "./tree-mark.js";

const isLinux = process.platform === "linux";

async function outputOf(argv: string[], env: Record<string, string> = marked().env): Promise<string> {
  const { child, exited } = await startTree(argv, { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text: Buffer) => (said += text.toString()));
  await exited;
  return said;
}

/** Returns the processes that a tree leaves behind when it leaves at once, by the words that they print. */
async function left(argv: string[]): Promise<{ tree: Tree; pid: number }> {
  const tree = await startTree(argv, { env: marked().env, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  tree.child.stdout?.on("data", (text: Buffer) => (said += text.toString()));
  await until(() => said.includes("\n"), "the process to say who it is");
  return { tree, pid: Number(said) };
}

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

describe.runIf(isLinux)("the mark", () => {
  test.each([
    ["a shell's", ["sh", "-c", "grep locks /proc/self/limits"]],
    ["bash's", ["bash", "-c", "grep locks /proc/self/limits"]],
    ["any program's", ["grep", "locks", "/proc/self/limits"]],
  ])("is worn by %s children, too", async (_, argv) => {
    expect(await outputOf(argv)).toMatch(/^Max file locks +\d{15} +unlimited /);
  });

  test("changes neither the environment of a program nor what it is called with", async () => {
    const env = { PATH: process.env["PATH"] ?? "", A: "b c" };
    const all = await outputOf(["env"], env);
    expect(
      all
        .split("\n")
        .filter((line) => !line.startsWith("PARLEY_TREE="))
        .toSorted(),
    ).toEqual(["", "A=b c", `PATH=${env.PATH}`]);
    expect(await outputOf(["printf", "%s|", "-x", "--", "a b", ""])).toBe("-x|--|a b||");
  });

  test("leaves a shell's messages as they are", async () => {
    expect(await outputOf(["bash", "-c", "echo $LINENO $# $0 $1; no-such-thing", "name", "one"])).toMatch(
      /^1 1 name one\nname: line 1: no-such-thing: command not found\n$/,
    );
  });

  test("is not set for a program that starts no other", async () => {
    expect(await withMark(mintMark(), ["env"], { env: {}, isAlone: true })).toMatchObject({ argv: ["env"] });
  });

  test("leaves it to the system to refuse a program that cannot be started", async () => {
    const file = join(scratch(), "agent");
    writeFileSync(file, "#!/bin/sh\n");
    chmodSync(file, 0o644);
    const script = join(scratch(), "script");
    writeFileSync(script, "#! /no/such/interpreter -x\n");
    chmodSync(script, 0o755);
    for (const argv of [[file], [script], ["no-such-program"], [scratch()]])
      expect((await withMark(mintMark(), argv, { env: {} })).argv).toEqual(argv);
  });
});

describe.runIf(isLinux)("what left a tree is found", () => {
  const daemon = `env -i setsid sh -c 'echo $$; exec sleep 300 2>/dev/null'`;

  test.each([
    ["a new session and an empty environment", ["sh", "-c", `${daemon} &`]],
    [
      "two forks, a new session, an empty environment and closed files",
      ["sh", "-c", `(${daemon.replace("exec sleep", "exec <&- >&- sleep")} &) &`],
    ],
    [
      "another name and another title",
      [
        process.execPath,
        "-e",
        `require("node:child_process").spawn(process.execPath, ["-e", "process.title = 'innocent'; console.log(process.pid); setInterval(() => {}, 1000)"],
          { detached: true, env: {}, stdio: ["ignore", "inherit", "ignore"] }).unref()`,
      ],
    ],
  ])("though it has %s", async (_, argv) => {
    const { tree, pid } = await left(argv);
    expect(await tree.leftover).toBe(true);
    expect([...(await findWearers()).values()].flat()).toContain(pid);
    await tree.end(0);
    expect(isRunning(pid)).toBe(false);
  });

  test("and what has ended is no leftover", async () => {
    const tree = await startTree(["sh", "-c", "setsid true & wait"], { env: marked().env, stdio: "ignore" });
    expect(await tree.leftover).toBe(false);
  });
});
