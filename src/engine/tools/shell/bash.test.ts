import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { bash } from "./bash.js";
import { MAX_PROGRESS_CHARS, PROGRESS_ENDS } from "./progress.js";
import { bench, isAlive, tempFolder, until } from "../testing.js";

// Logs of background commands stay where they are, so they go to a folder that does not.
const temporary = mkdtempSync(join(tmpdir(), "parley-test-"));
vi.stubEnv("TMPDIR", temporary);
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(temporary, { recursive: true, force: true });
});

const streamed = (progress: { text: string; channel: string | undefined }[], channel: string): string =>
  progress
    .filter((entry) => entry.channel === channel)
    .map((entry) => entry.text)
    .join("");

test("exit code and both channels", async () => {
  const { root, run, progress } = await bench();
  expect(await run(bash, { command: "pwd -P; echo oops >&2; exit 3" })).toEqual({
    parts: [{ type: "terminal", text: `Exit code: 3\nSTDOUT:\n${root}\nSTDERR:\noops`, exitCode: 3 }],
    failed: true,
  });
  expect(streamed(progress, "stdout")).toBe(`${root}\n`);
  expect(streamed(progress, "stderr")).toBe("oops\n");
});

test.each([
  ["true", "Exit code: 0"],
  ["echo a; echo b", "Exit code: 0\nSTDOUT:\na\nb"],
  ["printf a >&2", "Exit code: 0\nSTDERR:\na"],
  ["[[ abc == a* ]] && echo this is bash", "Exit code: 0\nSTDOUT:\nthis is bash"],
  ["printf '\\360\\237\\230\\200'", "Exit code: 0\nSTDOUT:\n😀"],
  ["cat; echo no input", "Exit code: 0\nSTDOUT:\nno input"],
])("%s", async (command, text) => {
  expect(await (await bench()).run(bash, { command })).toEqual({ parts: [{ type: "terminal", text, exitCode: 0 }] });
});

test("a signal is told", async () => {
  expect(await (await bench()).run(bash, { command: "kill -9 $$" })).toEqual({
    parts: [{ type: "terminal", text: "Exit code: 137 (killed by SIGKILL)", exitCode: 137 }],
    failed: true,
  });
});

test("an empty command, and times out of range", () => {
  expect(bash.problem({ command: " \n" })).toBe("command: must not be empty");
  expect(bash.problem({ command: "true", timeout: 600_001 })).toMatch(/^timeout: /);
  expect(bash.problem({ command: "true", timeout: 0 })).toMatch(/^timeout: /);
  expect(bash.problem({ command: "true", timeout: 600_000, background: false, description: "nothing" })).toBeUndefined();
});

test("sh where bash is missing", async () => {
  const bin = await tempFolder();
  symlinkSync("/bin/sh", join(bin, "sh"));
  const { say } = await bench({ env: { PATH: bin } });
  expect(await say(bash, { command: "echo hello from $0" })).toBe("Exit code: 0\nSTDOUT:\nhello from sh");
});

test("output comes while the command runs, the first at once", async () => {
  const { run, progress, root } = await bench();
  const result = run(bash, { command: "echo first; until [ -e go ]; do sleep 0.02; done; echo second" });
  await until(() => streamed(progress, "stdout") === "first\n");
  mkdirSync(join(root, "go"));
  await result;
  expect(streamed(progress, "stdout")).toBe("first\nsecond\n");
});

test("much output: heaps instead of words, an end to streaming, and a result within its bound", async () => {
  const { run, progress } = await bench({ outputChars: 1200 });
  const { parts } = await run(bash, { command: "head -c 30000000 /dev/zero | tr '\\0' x; echo end" });
  const all = streamed(progress, "stdout");
  expect(all.length).toBe(MAX_PROGRESS_CHARS + PROGRESS_ENDS.length);
  expect(all.endsWith(PROGRESS_ENDS)).toBe(true);
  const [part] = parts;
  expect(part?.type === "terminal" && part.text.length).toBeLessThanOrEqual(1200);
  expect(part?.type === "terminal" && part.text).toEqual(
    expect.stringMatching(
      new RegExp(`^Exit code: 0\\nWhole output: \\S+\\nSTDOUT:\\nx{350}\\n… \\[${30_000_004 - 700} characters left out\\] …\\nx{346}end$`),
    ),
  );
});

test("many small writes are put together", async () => {
  const { run, progress } = await bench();
  await run(bash, { command: "for i in $(seq 3000); do echo $i; done" });
  expect(streamed(progress, "stdout").split("\n")).toHaveLength(3001);
  expect(progress.length).toBeLessThan(1000);
});

test("the channels share the bound; a short one leaves its room to the other", async () => {
  const { say } = await bench({ outputChars: 300 });
  const both = await say(bash, { command: "head -c 500 /dev/zero | tr '\\0' o; head -c 500 /dev/zero | tr '\\0' e >&2" });
  expect(both.match(/o{10,}|e{10,}/g)?.map((run) => run.length)).toEqual([25, 25, 25, 25]);
  const one = await say(bash, { command: "head -c 500 /dev/zero | tr '\\0' o; printf eeeeeeeeee >&2" });
  expect(one.match(/o{10,}|e{10,}/g)?.map((run) => run.length)).toEqual([45, 45, 10]);
});

describe("time limit", () => {
  /** Once more with more time, as long as the shell was slower than its own time limit and wrote no pid. */
  async function timedOut<T>(root: string, runs: (timeout: number) => Promise<T>): Promise<{ timeout: number; result: T; pid: number }> {
    for (let timeout = 300; ; timeout *= 4) {
      const result = await runs(timeout);
      const pid = existsSync(join(root, "pid")) ? Number(readFileSync(join(root, "pid"), "utf8")) : 0;
      if (pid !== 0) return { timeout, result, pid };
    }
  }

  test("the command goes on, what was printed is told, and the whole tree ends with the session", async () => {
    const { root, run, adopted } = await bench();
    const command = "echo before; sh -c 'echo $$ > pid; exec sleep 300' & wait";
    const { timeout, result, pid } = await timedOut(root, (timeout) => run(bash, { command, timeout }));
    const said = new RegExp(`^Still running after ${timeout}ms: .* as bash_\\d+\\. .*\\nWhole output: \\S+\\nSTDOUT:\\nbefore$`);
    expect(result).toEqual({ parts: [{ type: "terminal", text: expect.stringMatching(said), exitCode: null }] });
    expect(isAlive(pid)).toBe(true);
    await Promise.all(adopted.map((child) => child.end(1000)));
    await until(() => !isAlive(pid));
  });
});

describe("interrupt", () => {
  test("returns before the command has ended, and the tree ends all the same", async () => {
    const { root, run, abort } = await bench();
    const result = run(bash, {
      command: "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 0.1; done' & wait; sleep 300",
    });
    await until(() => existsSync(join(root, "pid")) && readFileSync(join(root, "pid"), "utf8") !== "");
    const grandchild = Number(readFileSync(join(root, "pid"), "utf8"));
    abort.abort();
    expect((await result).failed).toBe(true);
    // TERM is ignored, so it can only be the later KILL that ends it.
    expect(isAlive(grandchild)).toBe(true);
    await until(() => !isAlive(grandchild));
  });

  test("before the start", async () => {
    const { say, abort } = await bench();
    abort.abort();
    expect(await say(bash, { command: "sleep 300" })).toBe("FAILED: The command was interrupted.");
  });
});

describe("processes that stay behind", () => {
  test("a process behind & does not hold the result, and lives until the session ends it", async () => {
    const { say, adopted } = await bench();
    const said = await say(bash, { command: "sleep 300 & echo $!" });
    const pid = Number(/^Exit code: 0\nSTDOUT:\n(\d+)$/.exec(said)?.[1]);
    expect(isAlive(pid)).toBe(true);
    expect(adopted).toHaveLength(1);
    await adopted[0]?.end(1000);
    await adopted[0]?.exited;
    await until(() => !isAlive(pid));
  });

  test("a process that left its group and emptied its environment ends with the session, too", async () => {
    const { say, adopted } = await bench();
    const said = await say(bash, { command: "env -i setsid sleep 300 >/dev/null 2>&1 & echo $!" });
    const pid = Number(/^Exit code: 0\nSTDOUT:\n(\d+)$/.exec(said)?.[1]);
    expect(isAlive(pid)).toBe(true);
    await adopted[0]?.end(1000);
    await until(() => !isAlive(pid));
  });

  test("an ordinary command is forgotten", async () => {
    const { say, adopted } = await bench();
    await say(bash, { command: "echo hello" });
    await adopted[0]?.exited;
    expect(adopted).toHaveLength(1);
  });
});

describe("background", () => {
  test("returns at once with the process, its log and how to stop it", async () => {
    const { say, adopted, root, context } = await bench();
    const said = await say(bash, { command: 'echo "it\'s $PWD"; echo err >&2; sleep 300', background: true });
    const match = /^Running in the background as bash_1, process (\d+)\.\nOutput: (.+)\nBashOutput with the id .*$/.exec(said);
    const [, pid = "", log = ""] = match ?? [];
    expect(match).not.toBeNull();
    await until(() => existsSync(log) && readFileSync(log, "utf8") === `it's ${root}\nerr\n`);
    expect(statSync(dirname(log)).mode & 0o777).toBe(0o700);
    expect(isAlive(Number(pid))).toBe(true);
    expect(adopted).toHaveLength(1);
    await say(bash, { command: `kill -- -${pid}` });
    await until(() => !isAlive(Number(pid)));
    // Its log can be read until the session ends.
    expect(existsSync(log)).toBe(true);
    context.outputs.remove();
    expect(existsSync(dirname(log))).toBe(false);
  });

  test("no secret reaches its log", async () => {
    const { context, say } = await bench();
    context.redactor.add("sk-secret-0123456789");
    const said = await say(bash, { command: "printf 'a sk-secret-'; echo 0123456789 b; printf 'the end: sk-'", background: true });
    const log = /^Output: (.+)$/m.exec(said)?.[1] ?? "";
    await until(() => existsSync(log) && readFileSync(log, "utf8").endsWith("the end: sk-"));
    expect(readFileSync(log, "utf8")).toBe("a [redacted] b\nthe end: sk-");
  });

  test("its log keeps the newest output within a bound, and says how much is missing", async () => {
    const { say } = await bench();
    const said = await say(bash, { command: "yes 0123456789abcde | head -c 20000000; echo the end", background: true });
    const log = /^Output: (.+)$/m.exec(said)?.[1] ?? "";
    await until(() => existsSync(log) && readFileSync(log, "utf8").endsWith("the end\n"));
    const text = readFileSync(log, "utf8");
    const [note = "", ...kept] = text.split("\n");
    expect(text.length).toBeLessThanOrEqual(8 * 1024 * 1024);
    expect(note).toMatch(/^… \[\d+ bytes left out: .* at least the newest 4 MiB.*\] …$/);
    const missing = Number(/\d+/.exec(note)?.[0]);
    expect(missing + kept.join("\n").length).toBe(20_000_000 + "the end\n".length);
    expect(kept[0]).toBe("0123456789abcde");
  });

  test("its whole tree ends with the session", async () => {
    const { say, adopted, root } = await bench();
    await say(bash, { command: "sh -c 'echo $$ > pid; exec sleep 300' & wait", background: true });
    await until(() => existsSync(join(root, "pid")) && readFileSync(join(root, "pid"), "utf8") !== "");
    const grandchild = Number(readFileSync(join(root, "pid"), "utf8"));
    await adopted[0]?.end(1000);
    await until(() => !isAlive(grandchild));
  });

  test("a process that its shell leaves behind ends with the session too", async () => {
    const { say, adopted, root } = await bench();
    await say(bash, { command: "sleep 300 & echo $! > pid", background: true });
    await until(() => existsSync(join(root, "pid")) && readFileSync(join(root, "pid"), "utf8") !== "");
    const left = Number(readFileSync(join(root, "pid"), "utf8"));
    expect(isAlive(left)).toBe(true);
    await adopted[0]?.end(1000);
    await until(() => !isAlive(left));
  });
});
