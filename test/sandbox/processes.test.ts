/** Processes in the sandbox: they see and end only themselves, last as long as without one, and end with their session. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { marked, until } from "../support/processes.js";
import { start } from "../process/harness.js";
import { bash, contents, rewind, running, turn, write } from "../undo/undoing.js";
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
    const command = "trap 'exit 3' TERM; read line; echo got $line; touch got; sleep 1000 & wait";
    const output = (args: object, id: string): object => ({ call: { tool: "BashOutput", args: { id: "bash_1", ...args }, id } });
    const mark = marked();
    const cwd = place();
    const responses = [
      { call: { tool: "Bash", args: { command, background: true }, id: "c0" } },
      output({ input: "hello\n" }, "c1"),
      { say: "waiting" },
      output({ end: true }, "c2"),
      { say: "done" },
    ];
    const host = start({ cwd, env: mark.env, args: ["--sandbox", "required"], responses });
    await host.open({ mode: "yolo" });
    host.prompt("go");
    await host.turnEnded();
    await until(() => existsSync(join(cwd, "got")));
    host.prompt("end it");
    await host.turnEnded(2);
    expect(resultOf(host, "c1") + resultOf(host, "c2")).toContain("got hello");
    expect(resultOf(host, "c2")).toMatch(/ended|killed|exit code/);
    expect(await host.finish()).toBe(0);
    await mark.gone();
  });

  test("change files that a rewind takes back", async () => {
    const responses = [{ calls: [write("a.txt", "1\n")] }, { calls: [bash("echo 2 >> a.txt; ls .parley")] }, { say: "done" }];
    const { host, cwd } = await running({ "a.txt": "0\n" }, responses, {}, { args: ["--sandbox", "required"] });
    await turn(host, "t1");
    expect(contents(cwd, "a.txt")).toEqual({ "a.txt": "1\n2\n" });
    expect(await rewind(host, "t1")).toMatchObject({ left: [] });
    expect(contents(cwd, "a.txt")).toEqual({ "a.txt": "0\n" });
    expect(await host.finish()).toBe(0);
  });

  test("of sub-agents are in the sandbox of their session", async () => {
    const other = place();
    const spawned = { tool: "Spawn", args: { tasks: [{ name: "child", prompt: "go" }] }, id: "spawn" };
    const host = start({
      cwd: place(),
      args: ["--sandbox", "required"],
      responses: [
        { call: spawned },
        { call: { tool: "Bash", args: { command: `echo x > ${other}/escaped; echo tried` }, id: "inner" } },
        { say: "child done" },
        { say: "done" },
      ],
    });
    await host.open({ mode: "yolo" });
    host.prompt("go");
    await host.turnEnded();
    const inner = host.ofType("tool.ended").find(({ under }) => under !== undefined);
    expect(JSON.stringify(inner?.output)).toMatch(/tried.*Read-only file system/);
    expect(existsSync(join(other, "escaped"))).toBe(false);
    expect(await host.finish()).toBe(0);
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
