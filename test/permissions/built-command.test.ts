/** What the rules on shell commands decide, from outside: the built command over its pipe. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratch, start } from "../process/harness.js";

const bash = (command: string, id: string) => ({ tool: "Bash", args: { command }, id });

test("in yolo mode a command that is too much to read is asked about, and a hidden one is denied", async () => {
  const host = start({
    responses: [
      {
        calls: [
          bash("npx [[ a =~ ".repeat(3400), "flood"),
          bash("git -C . push", "option"),
          bash("env a-b=1 git push", "variable"),
          bash("git -c core.pager='git push' log", "setting"),
          bash("git --version", "plain"),
        ],
      },
      { say: "done" },
    ],
  });
  await host.open({ mode: "yolo", answerSeconds: 0.1, rules: [{ deny: "Bash(git push *)" }] });
  host.prompt("go");
  await host.turnEnded();
  const asked = host.ofType("approval.requested").flatMap(({ calls }) => calls.map(({ id }) => id));
  expect(asked).toEqual(["flood"]);
  expect(host.ofType("tool.started").map(({ call }) => call)).toEqual(["plain"]);
  const denied = host.ofType("tool.ended").filter(({ status }) => status === "denied");
  expect(denied.map(({ call }) => call).toSorted()).toEqual(["flood", "option", "setting", "variable"]);
});

test("an allow rule for a program does not let it write where an option says", async () => {
  const cwd = scratch({ "a.txt": "b\na\n" });
  const host = start({
    cwd,
    responses: [
      { calls: [bash("sort a.txt", "c1"), bash("sort -o out.txt a.txt", "c2"), bash("sed 's/a/id/e' a.txt", "c3")] },
      { say: "done" },
    ],
  });
  await host.open({ answerSeconds: 0.1, rules: [{ allow: "Bash(sort:*)" }, { allow: "Bash(sed:*)" }] });
  host.prompt("go");
  await host.turnEnded();
  expect(host.ofType("tool.started").map(({ call }) => call)).toEqual(["c1"]);
  expect(host.ofType("approval.requested").flatMap(({ calls }) => calls.map(({ id }) => id))).toEqual(["c2", "c3"]);
  expect(existsSync(join(cwd, "out.txt"))).toBe(false);
});
