/** How an agent's process ends, by itself or by its clocks: the numbered cases 36 to 45. Agents that are not ended outlast the test. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { Bench, E, node, P, S, sh, told } from "./harness.js";

/** Time enough for an agent to have begun, whatever else the machine does. */
const BEGUN = 3;

const late = { timed_out: true, exit_code: 124 };

describe("a turn that takes too long", () => {
  test("C36: may say its last words", async () => {
    const agent = sh(`trap 'echo "${P}\\"flush\\""; echo ${S}late; exit 0' TERM; while :; do sleep 0.1; done`);
    const { partials, result } = await new Bench(agent, { timeout_secs: BEGUN, kill_grace_secs: 20 }).turn();
    expect(partials).toEqual(["flush"]);
    expect(result).toMatchObject({ ...late, session_id: "late", error: "The agent did not finish in time (3 s) and was ended" });
  });

  test.each([1, 0])("C37, C38: is killed after a grace of %i s when it does not listen", async (grace) => {
    const agent = sh("trap '' TERM; while :; do sleep 1; done");
    const { result } = await new Bench(agent, { timeout_secs: BEGUN, kill_grace_secs: grace }).turn();
    expect(result).toMatchObject({ ...late, signal: "SIGKILL", process_exit_code: null });
  });

  test("A16, C39: is ended though it talks all the time", async () => {
    const { result, partials } = await new Bench(sh(`while :; do echo '${P}"tick"'; sleep 0.1; done`), { timeout_secs: BEGUN }).turn();
    expect(result).toMatchObject(late);
    expect(partials).toContain("tick");
  });

  test("A38, C40: is ended with what it started", async () => {
    const { result } = await new Bench(sh("trap '' TERM; sleep 300"), { timeout_secs: 1, kill_grace_secs: 1 }).turn();
    expect(result).toMatchObject(late);
  });

  test("C43: has its own error told, and is late all the same", async () => {
    const { error, result } = await new Bench(sh(`echo '${E}"x"'; sleep 300`), { timeout_secs: BEGUN }).turn();
    expect([error, result.exit_code, result.timed_out]).toEqual(["x", 124, true]);
  });

  test("is silent about it where the profile says so", async () => {
    const { error, result } = await new Bench(sh("sleep 300"), { timeout_secs: 1, send_error_reply: false }).turn();
    expect([error, result.exit_code]).toEqual([undefined, 124]);
  });

  test("has a clock of its own for silence", async () => {
    const talks = sh("for n in 1 2 3 4 5 6 7 8 9; do echo $n; sleep 0.5; done");
    expect((await new Bench(talks, { idle_timeout_secs: 4 }).turn()).result).toMatchObject({ exit_code: 0, timed_out: false });
    const { error, result } = await new Bench(sh("echo a; sleep 300"), { idle_timeout_secs: 1, timeout_secs: 0 }).turn();
    expect([error, result.exit_code]).toEqual(["The agent did not finish in time (1 s without a word) and was ended", 124]);
  });
});

describe("a turn that ends", () => {
  test("C41: does not wait for what it left behind", async () => {
    const { result } = await new Bench(sh("sleep 300 & echo done; exit 0")).turn();
    expect(result).toMatchObject({ reply: "done", exit_code: 0 });
  });

  test("C42: has no limit where the limit is 0", async () => {
    expect((await new Bench(sh("sleep 1; echo ok"), { timeout_secs: 0 }).turn()).result).toMatchObject({ reply: "ok", timed_out: false });
  });

  test("C44: by itself with 124 was not late", async () => {
    const { error, result } = await new Bench(sh("exit 124")).turn();
    expect([error, result.exit_code, result.timed_out]).toEqual(["The agent failed with exit code 124", 124, false]);
  });

  test("A20, C45: by a signal has 128 and its number", async () => {
    const { error, result } = await new Bench(sh("kill -SEGV $$")).turn();
    expect([error, result.exit_code, result.signal, result.process_exit_code]).toEqual([
      "The agent was ended by SIGSEGV",
      139,
      "SIGSEGV",
      null,
    ]);
  });

  test("may close its output before it exits", async () => {
    expect((await new Bench(sh("echo done; exec >&- 2>&-; sleep 1; exit 7")).turn()).result).toMatchObject({ exit_code: 7, body: "done" });
  });

  test("may take its time to exit after it closed its output", async () => {
    const { result } = await new Bench(sh("echo done; exec >&- 2>&-; sleep 7")).turn();
    expect(result).toMatchObject({ reply: "done", exit_code: 0 });
  });

  test("that has closed its output is late like any other", async () => {
    const { result } = await new Bench(sh("echo done; exec >&- 2>&-; sleep 300"), { timeout_secs: BEGUN, kill_grace_secs: 0 }).turn();
    expect(result).toMatchObject({ reply: "", body: "done", exit_code: 124, timed_out: true });
  });
});

describe("a signal to us", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s ends the agent in order, and the result says so", async (signal, code) => {
    const bench = new Bench(sh(`echo '${P}"here"'; sleep 300`));
    const program = bench.start(["run", "PROFILE", "--message", "hi", "--json"]);
    program.stdin.end();
    const ran = told(program);
    await once(program.stdout, "data");
    program.kill(signal);
    const { result, partials } = await ran;
    expect([partials, result.exit_code, result.timed_out]).toEqual([["here"], code, false]);
    await bench.processes.gone();
  });

  test("kill -9 leaves nothing of the agent", async () => {
    const bench = new Bench(sh(`trap '' TERM; echo '${P}"here"'; sleep 300`));
    const program = bench.start(["run", "PROFILE", "--message", "hi", "--json"]);
    await once(program.stdout, "data");
    program.kill("SIGKILL");
    expect(await once(program, "exit")).toEqual([null, "SIGKILL"]);
    await bench.processes.gone();
  });

  test("a reader that left before the reply makes no success of it", async () => {
    const bench = new Bench(sh(`echo '${P}"here"'; read -r line < "$HOME/go"; echo reply`));
    await promisify(execFile)("mkfifo", [join(bench.folder, "go")]);
    const program = bench.start(["run", "PROFILE", "--message", "hi", "--json"]);
    await once(program.stdout, "data");
    program.stdout.destroy();
    await once(program.stdout, "close");
    await writeFile(join(bench.folder, "go"), "\n");
    expect(await once(program, "exit")).toEqual([1, null]);
    await bench.processes.gone();
  });

  test("a reader that leaves ends the agent", async () => {
    const bench = new Bench(node(`setInterval(() => console.log('${P}"tick"'), 20)`));
    const program = bench.start(["run", "PROFILE", "--message", "hi", "--json"]);
    await once(program.stdout, "data");
    program.stdout.destroy();
    expect(await once(program, "exit")).toEqual([expect.any(Number), null]);
    await bench.processes.gone();
  });
});
