/** Protected files: what decides about a session is asked about in every mode, by whatever tool it is named. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { run, scratch, script, start } from "./harness.js";

const bash = (id: string, command: string) => ({ id, name: "Bash", args: { command } });
const write = (id: string, file_path: string) => ({ id, name: "Write", args: { file_path, content: "mode: yolo\n" } });

test("yolo is asked before it writes what decides about it, and before it reads what processes were given", async () => {
  const [cwd, home] = [scratch(), scratch()];
  const host = start({ cwd, env: { PARLEY_HOME: home, SOME_API_KEY: "a-key-of-somebody" }, responses: [{ say: "ok" }] });
  await host.open({ mode: "yolo", rules: [{ allow: "Bash" }, { allow: "Write" }, { allow: "Read" }] });
  const guarded = [
    write("config", join(home, "config.yaml")),
    write("project", ".parley/config.yaml"),
    bash("variable", "echo 'mode: yolo' > $PARLEY_HOME/config.yaml"),
    bash("path", `echo '{"trusted":["/"]}' | tee ${home}/trust.json`),
    bash("logs", `rm -rf ${home}/sessions`),
    bash("parent", "tr '\\0' '\\n' < /proc/$PPID/environ"),
    { id: "own", name: "Read", args: { file_path: "/proc/self/environ" } },
    { id: "search", name: "Grep", args: { path: "/proc", pattern: "KEY" } },
  ];
  const free = [write("env", ".env"), write("plain", "a.txt"), bash("echo", "echo hi > b.txt")];
  host.send({ type: "turn.prompt", session: "s", parts: [], calls: [...guarded, ...free] });
  const asked = await host.next("approval.requested");
  expect(asked.calls.map(({ id }) => id)).toEqual(guarded.map(({ id }) => id));
  for (const { id } of asked.calls) host.deny(id);
  await host.turnEnded();
  expect(
    host
      .ofType("tool.ended")
      .flatMap(({ call, status }) => (status === "ok" ? [call] : []))
      .toSorted(),
  ).toEqual(["echo", "env", "plain"]);
  for (const name of ["config.yaml", "trust.json"]) expect(existsSync(join(home, name))).toBe(false);
  expect(existsSync(join(home, "sessions"))).toBe(true);
  expect(await host.finish()).toBe(0);
});

test("a yes is a yes to that call alone", async () => {
  const home = scratch();
  const host = start({ env: { PARLEY_HOME: home }, responses: [{ say: "ok" }], then: "repeat" });
  await host.open({ mode: "yolo" });
  for (const round of [1, 2]) {
    host.send({ type: "turn.prompt", session: "s", parts: [], calls: [write(`c${round}`, join(home, "note.txt"))] });
    await host.next("approval.requested", ({ calls: [call] }) => call?.id === `c${round}`);
    host.allow(`c${round}`, { grant: "category" });
    await host.turnEnded(round);
  }
  expect(readFileSync(join(home, "note.txt"), "utf8")).toBe("mode: yolo\n");
  expect(await host.finish()).toBe(0);
});

test("where nobody can be asked it is not done", async () => {
  const home = scratch();
  writeFileSync(join(home, "config.yaml"), "maxTurns: 9\n");
  const model = script([{ call: { tool: "Bash", args: { command: "echo mode: yolo > $PARLEY_HOME/config.yaml" } } }, { say: "done" }]);
  const { stdout, stderr } = await run(["-p", "go", "--yolo", "--provider", "rehearsal", "--model", model], { env: { PARLEY_HOME: home } });
  expect(stderr).toContain("nobody can be asked here");
  expect(stdout).toContain("done");
  expect(readFileSync(join(home, "config.yaml"), "utf8")).toBe("maxTurns: 9\n");
});
