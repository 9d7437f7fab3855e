/** The watcher's program by itself, with a process in our place that says nothing. */
import { spawn, type ChildProcess } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { scratch, until } from "../../../test/support/processes.js";
import { WATCHER_SCRIPT } from "./watcher-script.js";

const SHELLS = [["/bin/bash", "--norc", "--noprofile"], ["/bin/sh"]].filter(([shell = ""]) => existsSync(shell));
const hasBash = existsSync("/bin/bash");
if (!hasBash) console.warn("skipped: tests of a watcher that counts seconds need bash, which is not here");

function silent(): ChildProcess {
  const child = spawn("sleep", ["300"], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

function watcher(shell: readonly string[], node: ChildProcess, limit: number, path = "") {
  const [file = "", ...options] = shell;
  const argv = [...options, "-c", WATCHER_SCRIPT, "parley-watcher", String(node.pid), String(limit)];
  const child = spawn(file, argv, { env: { PATH: `${path}:/usr/bin:/bin` } });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr.on("data", (text: Buffer) => (stderr += text.toString()));
  return {
    tell: (line: string) => child.stdin.write(`${line}\n`),
    end: () => child.stdin.end(),
    stderr: () => stderr,
    exited: new Promise((resolve) => child.once("close", (code) => resolve(code))),
  };
}

/** A folder with a `sleep` that takes no time, and how often it was asked for. */
function hastySleep(): { folder: string; sleeps(): number } {
  const folder = scratch();
  const log = join(folder, "log");
  writeFileSync(log, "");
  writeFileSync(join(folder, "sleep"), `#!/bin/sh\necho >>'${log}'\n`);
  chmodSync(join(folder, "sleep"), 0o755);
  return { folder, sleeps: () => readFileSync(log, "utf8").length };
}

describe.skipIf(process.platform === "win32" || !hasBash)("of a process that says nothing", () => {
  const bash = SHELLS[0] ?? [];

  test("the seconds are counted, and then it is ended with a word", async () => {
    const node = silent();
    const { folder } = hastySleep();
    const { tell, stderr, exited } = watcher(bash, node, 5, folder);
    tell("b 1");
    await until(() => node.signalCode === "SIGKILL", "the process to be ended");
    await until(() => stderr() !== "");
    expect(stderr()).toContain("stood still for 5 s (limits.stuckSeconds");
    void exited;
  });

  test("none counts while it is stopped", async () => {
    const node = silent();
    const { folder, sleeps } = hastySleep();
    const { tell } = watcher(bash, node, 5, folder);
    node.kill("SIGSTOP");
    tell("b 1");
    await until(() => sleeps() > 30, "many seconds to pass");
    expect(node.signalCode).toBeNull();
    node.kill("SIGCONT");
    await until(() => node.signalCode === "SIGKILL", "the process to be ended");
  });

  test("none counts before it has said that it is watched", async () => {
    const node = silent();
    const { end, exited } = watcher(bash, node, 1);
    end();
    expect(await exited).toBe(0);
    expect(node.signalCode).toBeNull();
  });

  test("the end of the pipe is not silence", async () => {
    const node = silent();
    const { tell, end, exited, stderr } = watcher(bash, node, 1);
    tell("b 100");
    node.kill("SIGKILL");
    await until(() => node.signalCode !== null);
    end();
    expect([await exited, stderr()]).toEqual([0, ""]);
  });
});

describe.skipIf(process.platform === "win32").each(SHELLS)("under %s", (...shell) => {
  test("the trees that are open at the end of its input are ended, and the others not", async () => {
    const [node, over, open] = [silent(), spawn("sleep", ["300"], { detached: true }), spawn("sleep", ["300"], { detached: true })];
    onTestFinished(() => void over.kill("SIGKILL"));
    onTestFinished(() => void open.kill("SIGKILL"));
    const { tell, end, exited } = watcher(shell, node, 60);
    for (const [tree, mark] of [
      [over, "100000000000001"],
      [open, "100000000000002"],
    ] as const) {
      tell(`+ 0 ${mark}`);
      tell(`+ ${tree.pid} ${mark}`);
      tell(`- 0 ${mark}`);
    }
    tell("b 100");
    tell(`- ${over.pid} 100000000000001`);
    node.kill("SIGKILL");
    await until(() => node.signalCode !== null);
    end();
    expect(await exited).toBe(0);
    await until(() => open.signalCode === "SIGTERM");
    expect(over.signalCode).toBeNull();
  });
});
