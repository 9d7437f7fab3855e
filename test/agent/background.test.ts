/** Commands that last: the folder that `cd` leaves, commands past their time, and BashOutput. By the built command. */
import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import type { Reply } from "../support/model-server.js";
import { shellSession } from "./shell-session.js";

const SECONDS = 120_000;
const YOLO = ["--auto-approve"];
const done: Reply = { text: ["done"] };
const call = (name: string, args: Record<string, unknown>): Reply => ({ calls: [{ name, args }] });
const bash = (args: Record<string, unknown>): Reply => call("Bash", args);
const output = (args: Record<string, unknown>): Reply => call("BashOutput", args);

it("cd lasts for the commands of later answers, inside the workspace", { timeout: SECONDS }, async () => {
  const cwd = realpathSync(scratch());
  mkdirSync(join(cwd, "sub/deep"), { recursive: true });
  const { turn, results, host } = await shellSession(
    ["cd sub && cd deep", "pwd", "cd /", bash({ command: "pwd", workdir: "sub" }), "pwd; exit 3", done],
    { cwd, args: YOLO },
  );
  await turn();
  expect(results(1)).toEqual([`Exit code: 0\nThe next command begins in ${cwd}/sub/deep.`]);
  expect(results(2)).toEqual([`Exit code: 0\nSTDOUT:\n${cwd}/sub/deep`]);
  expect(results(3)).toEqual([`Exit code: 0\nThe next command begins in ${cwd}/sub/deep again: / lies outside the workspace.`]);
  expect(results(4)).toEqual([`Exit code: 0\nSTDOUT:\n${cwd}/sub`]);
  expect(results(5)).toEqual([`Exit code: 3\nSTDOUT:\n${cwd}/sub/deep`]);
  expect(await host.finish()).toBe(0);
});

it("a command is judged in the folder that it runs in", { timeout: SECONDS }, async () => {
  const cwd = scratch();
  mkdirSync(join(cwd, ".parley"), { recursive: true });
  const { host } = await shellSession(["cd .parley", "echo x > config.yaml", bash({ command: "pwd", workdir: "/" }), done], {
    cwd,
    args: ["--approve-tools", "Bash"],
  });
  host.prompt("go");
  const governing = await host.next("approval.requested");
  expect(governing.calls[0]?.title).toContain("config.yaml");
  host.deny(governing.calls[0]?.id ?? "");
  const outside = await host.next("approval.requested", (event) => event !== governing);
  expect(outside.message).toContain("/ lies outside the workspace");
  host.deny(outside.calls[0]?.id ?? "");
  await host.turnEnded();
  expect(existsSync(join(cwd, ".parley/config.yaml"))).toBe(false);
  expect(await host.finish()).toBe(0);
});

it("a command past its time goes on, and the model is told of its end", { timeout: SECONDS }, async () => {
  const cwd = scratch();
  const command = "echo before; until [ -e go ]; do sleep 0.05; done; echo after; exit 4";
  const session = await shellSession(
    [
      bash({ command, timeout: 500 }),
      output({ id: "bash_1", wait_seconds: 0 }),
      "touch go",
      output({ id: "bash_1", wait_seconds: 60 }),
      bash({ command: "echo $$ > pid; until [ -e on ]; do sleep 0.05; done; exit 5", background: true }),
      "touch on; while kill -0 $(cat pid); do sleep 0.05; done",
      done,
      done,
    ],
    { cwd, args: YOLO },
  );
  await session.turn();
  const [said = ""] = session.results(1);
  expect(said).toMatch(/^Still running after 500ms: it goes on in the background as bash_1\. .*\nWhole output: \S+\n/);
  expect(session.results(2).join()).toMatch(/^bash_1 is running\./);
  expect(session.results(4).join()).toMatch(/^bash_1 has ended: exit code 4\. Whole output: \S+\nOUTPUT:\n(?:before\n)?after$/);
  // The model need not ask for the end of a command that it started.
  await session.turn("and?");
  const told = [6, 7].flatMap((nth) => [...session.results(nth), session.words(nth)]).join("\n");
  expect(told).toMatch(/The background command bash_2 \(.*exit 5\) has ended: exit code 5\. Its output is in/);
  expect(told.split("has ended")).toHaveLength(2);
  expect(await session.host.finish()).toBe(0);
});

it("a background command takes input, is asked about what it is given, and is ended", { timeout: SECONDS }, async () => {
  const session = await shellSession([
    bash({ command: "while read -r line; do echo got $line; done", background: true }),
    output({ id: "bash_1", input: "hello" }),
    output({ id: "bash_1", end: true }),
    output({ id: "bash_7" }),
    done,
  ]);
  session.host.prompt("go");
  const first = await session.host.next("approval.requested");
  session.host.allow(first.calls[0]?.id ?? "");
  const second = await session.host.next("approval.requested", (event) => event !== first);
  expect(second.calls[0]).toMatchObject({ name: "BashOutput", title: "Write to bash_1: hello" });
  session.host.allow(second.calls[0]?.id ?? "");
  await session.host.turnEnded();
  expect(session.host.ofType("approval.requested")).toHaveLength(2);
  expect(session.results(2).join()).toContain("got hello");
  expect(session.results(3).join()).toMatch(/^bash_1 has ended: /);
  expect(session.results(4).join()).toMatch(/^There is no background command bash_7\. Known: bash_1/);
  expect(await session.host.finish()).toBe(0);
});

it("the whole of a cut output may be read unasked, and goes with the session", { timeout: SECONDS }, async () => {
  const cwd = scratch();
  writeFileSync(join(cwd, "long.txt"), `${"x".repeat(99)}\n`.repeat(2000));
  let path = "";
  const session = await shellSession(
    [
      "cat long.txt",
      {
        get calls() {
          path = /Whole output: (\S+)/.exec(session.results(1).join())?.[1] ?? "";
          return [{ name: "Read", args: { file_path: path, offset: 1999, limit: 2 } }];
        },
      },
      done,
    ],
    { cwd },
  );
  await session.turn();
  expect(path).not.toBe("");
  expect(session.results(1).join()).toContain("characters left out");
  expect(session.results(2).join()).toMatch(/1999.*x{99}[\s\S]*2000.*x{99}/);
  expect(session.host.ofType("approval.requested")).toEqual([]);
  expect(await session.host.finish()).toBe(0);
  expect(existsSync(path)).toBe(false);
});
