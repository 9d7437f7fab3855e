/** Processes in the sandbox: they see and end only themselves, last as long as without one, and end with their session. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { marked, until } from "../support/processes.js";
import { start } from "../process/harness.js";
import { begin, NO_SANDBOX, place, resultOf, results } from "./harness.js";

describe.skipIf(NO_SANDBOX !== undefined)("processes in the sandbox", () => {
  test("see and end nothing outside", async () => {
    const other = spawn("sleep", ["1000"], { stdio: "ignore" });
    onTestFinished(() => void other.kill("SIGKILL"));
    const [seen, killed] = await results([
      "ls /proc | grep -c '^[0-9]'; cat /proc/[0-9]*/comm | sort -u | tr '\\n' ' '",
      `kill -9 ${other.pid}; kill -9 ${process.pid}; kill -9 -1`,
    ]);
    expect(seen).not.toMatch(/node|vitest/);
    expect(Number(/STDOUT:\n(\d+)/.exec(seen ?? "")?.[1])).toBeLessThan(16);
    expect(killed?.match(/No such process/g)?.length).toBe(3);
    expect(other.exitCode).toBe(null);
    expect(other.signalCode).toBe(null);
  });

  test("keep their exit codes, and say that a signal ended them", async () => {
    const [code, signal, missing] = await results(["exit 7", "kill -9 $$", "no-such-program"]);
    expect(code).toBe("Exit code: 7");
    expect(signal).toContain("Exit code: 137");
    expect(missing).toContain("Exit code: 127");
  });

  test("that a command leaves behind run on until the session ends, wherever they moved", async () => {
    const mark = marked();
    const cwd = place();
    const wait = "while :; do sleep 0.1; touch beat; done";
    const host = await begin(
      [
        `(${wait}) >/dev/null 2>&1 &`,
        `setsid sh -c '${wait}' >/dev/null 2>&1 & setsid setsid env -i sleep 1000 >/dev/null 2>&1 &`,
        "rm -f beat",
      ],
      { cwd, env: mark.env },
    );
    await until(() => existsSync(join(cwd, "beat")));
    expect(mark.alive().length).toBeGreaterThan(2);
    expect(await host.finish()).toBe(0);
    await mark.gone();
  });

  test("that go on in the background take input, and end when they are asked to", async () => {
    const calls = [
      {
        tool: "Bash",
        args: { command: "trap 'echo bye; exit 3' TERM; read line; echo got $line; sleep 1000 & wait", background: true },
        id: "c0",
      },
      { tool: "BashOutput", args: { id: "bash_1", input: "hello\n", wait_seconds: 1 }, id: "c1" },
      { tool: "BashOutput", args: { id: "bash_1", end: true }, id: "c2" },
    ];
    const mark = marked();
    const host = start({
      cwd: place(),
      env: mark.env,
      args: ["--sandbox", "required"],
      responses: [...calls.map((call) => ({ call })), { say: "done" }],
    });
    await host.open({ mode: "yolo" });
    host.prompt("go");
    await host.turnEnded();
    expect(resultOf(host, "c1")).toContain("got hello");
    expect(resultOf(host, "c2")).toMatch(/ended|killed|exit code/);
    expect(await host.finish()).toBe(0);
    await mark.gone();
  });

  test("end at an interrupt, and when Parley itself is killed", async () => {
    const mark = marked();
    const cwd = place();
    const call = { tool: "Bash", args: { command: "trap '' TERM; setsid sh -c 'touch up; sleep 1000' & sleep 1000" }, id: "c0" };
    const host = start({ cwd, env: mark.env, args: ["--sandbox", "required"], responses: [{ call }, { call }, { say: "done" }] });
    await host.open({ mode: "yolo" });
    host.prompt("go");
    await until(() => existsSync(join(cwd, "up")));
    host.send({ type: "turn.interrupt", session: "s" });
    await host.turnEnded();
    const own = host.child.pid;
    await until(() => mark.alive().every((pid) => pid === own));
    host.prompt("again");
    await host.next("tool.started", () => host.ofType("tool.started").length === 2);
    await until(() => mark.alive().length > 2);
    host.child.kill("SIGKILL");
    await mark.gone();
  });
});
