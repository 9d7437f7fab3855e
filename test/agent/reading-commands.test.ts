import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { run, scratch } from "../process/harness.js";
import { shellSession } from "./shell-session.js";

const git = (cwd: string, ...args: string[]): void => void execFileSync("git", args, { cwd, stdio: "ignore" });

it("commands that only read run unasked in default mode, and all others are asked about", async () => {
  const cwd = scratch({ "notes.txt": "one\ntwo\n", ".env": "A=1\n", "key.pem": "x" });
  git(cwd, "init", "-q");
  const unasked = ["ls", "cat notes.txt | wc -l", "git status --short 2>/dev/null", "sed -n 2p notes.txt", "find . -name '*.txt'"];
  const asked = [
    "cat .env",
    "cat key.pem",
    "cat /etc/hostname",
    "env ls",
    "ls > out",
    "find . -name notes.txt -exec cat {} +",
    "git diff --output=out",
    "git -c core.fsmonitor=./x status",
    "ls && rm -rf notes.txt",
  ];
  const { host, turn, results } = await shellSession([...unasked, ...asked, { text: ["done"] }], { cwd });
  const ended = turn();
  for (const [nth, command] of asked.entries()) {
    const { calls } = await host.next("approval.requested", (event) => host.ofType("approval.requested").indexOf(event) === nth);
    expect(calls[0]?.args).toEqual({ command });
    host.deny(calls[0]?.id ?? "", "no");
  }
  await ended;
  expect(host.ofType("approval.requested")).toHaveLength(asked.length);
  expect(results(2)).toEqual(["Exit code: 0\nSTDOUT:\n2"]);
  expect(results(4)).toEqual(["Exit code: 0\nSTDOUT:\ntwo"]);
  expect([existsSync(join(cwd, "out")), existsSync(join(cwd, "notes.txt"))]).toEqual([false, true]);
  expect(await host.finish()).toBe(0);
});

it("a repository whose config runs something is asked about, and nothing of it has run", async () => {
  const cwd = scratch();
  git(cwd, "init", "-q");
  writeFileSync(join(cwd, "monitor"), "#!/bin/sh\ntouch ran\n", { mode: 0o755 });
  git(cwd, "config", "core.fsmonitor", join(cwd, "monitor"));
  const { host, turn } = await shellSession(["git status", { text: ["done"] }], { cwd });
  const ended = turn();
  const { calls } = await host.next("approval.requested");
  expect(existsSync(join(cwd, "ran"))).toBe(false);
  host.deny(calls[0]?.id ?? "");
  await ended;
  expect(await host.finish()).toBe(0);
});

it.each([
  ["a list of tools that run unasked", ["--approve-tools", "Read"]],
  ["a rule that asks", []],
])("%s leaves reading commands to the user", async (_, args) => {
  const config = args.length > 0 ? "" : "rules: [{ ask: Bash }]";
  const { host, turn } = await shellSession(["ls", { text: ["done"] }], { args, config });
  const ended = turn();
  host.deny((await host.next("approval.requested")).calls[0]?.id ?? "");
  await ended;
  expect(await host.finish()).toBe(0);
});

it("a wire whose agents ask about every command still does", async () => {
  const cwd = scratch({ "script.yaml": "responses: [{ call: { tool: Bash, args: { command: ls } } }, { say: done }]" });
  const args = ["--dialect", "aionrs", "--provider", "rehearsal", "--model", "script.yaml", "--workspace", cwd];
  const { stdout } = await run(["serve", ...args], { cwd, input: '{"type":"message","msg_id":"m","content":"go"}\n' });
  expect(stdout).toContain('"type":"tool_request"');
});
