/** What bounds a turn: its tool calls, its time, the levels of its sub-agents. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { plainText } from "../../src/core/content.js";
import { processesWith, scratch, start, until } from "../process/harness.js";
import { conversation, kill, resume, stored } from "./sessions.js";

const touch = (id: string) => ({ tool: "Write", args: { file_path: `${id}.txt`, content: id }, id });

describe("maxToolCalls", () => {
  test("those of a response that are beyond it do not run, and the turn ends there", async () => {
    const [cwd, home] = [scratch(), scratch()];
    const host = start({
      cwd,
      env: { PARLEY_HOME: home },
      responses: [{ calls: [touch("a"), touch("b")] }, { calls: [touch("c"), touch("d"), touch("e")] }, { say: "never" }],
    });
    await host.open({ mode: "yolo", maxToolCalls: 3 });
    host.prompt("Go.");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed", finish: "max_tool_calls" });
    expect(host.ofType("tool.ended").map(({ call, status }) => [call, status])).toEqual(
      expect.arrayContaining([
        ["c", "ok"],
        ["d", "failed"],
        ["e", "failed"],
      ]),
    );
    expect(host.ofType("notice")).toMatchObject([
      { level: "warning", kind: "max_tool_calls", text: expect.stringContaining("3 tool calls") },
    ]);
    expect(readdirSync(cwd).toSorted()).toEqual(["a.txt", "b.txt", "c.txt"]);
    expect(await host.finish()).toBe(0);
    expect(conversation(await stored(home)).at(-1)).toBe("results: ok failed failed");
    const again = await resume(home, [{ say: "Went on." }], cwd);
    expect(await again.next("session.ready")).toMatchObject({ unfinished: "turn", config: { maxToolCalls: 3 } });
    again.send({ type: "turn.prompt", session: "s", parts: [], continues: true });
    expect(await again.turnEnded()).toMatchObject({ outcome: "completed", finish: "stop" });
    expect(await again.finish()).toBe(0);
  });

  test("as many as it says are no reason to stop, and each turn has its own", async () => {
    const host = start({ responses: [{ calls: [touch("a"), touch("b")] }, { say: "One." }, { calls: [touch("c")] }, { say: "Two." }] });
    await host.open({ mode: "yolo", maxToolCalls: 2 });
    for (const nth of [1, 2]) {
      host.prompt("Go.");
      expect(await host.turnEnded(nth)).toMatchObject({ outcome: "completed", finish: "stop" });
    }
    expect(host.ofType("notice")).toEqual([]);
    expect(await host.finish()).toBe(0);
  });

  test("calls that the host asks for count, and behind too many of them the model is not asked", async () => {
    const host = start({ responses: [{ say: "never" }] });
    await host.open({ mode: "yolo", maxToolCalls: 0 });
    host.send({ type: "turn.prompt", session: "s", parts: [], calls: [{ id: "c", name: "Glob", args: { pattern: "*" } }] });
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed", finish: "max_tool_calls" });
    expect(host.ofType("tool.ended")).toMatchObject([{ call: "c", status: "failed" }]);
    expect(host.text()).toBe("");
    expect(await host.finish()).toBe(0);
  });

  test("a sub-agent draws on the same, and leaves its parent the last fifth", async () => {
    const cwd = scratch();
    const spawn = { tool: "Spawn", args: { tasks: [{ name: "one", prompt: "write a.txt with x, then write b.txt with y" }] }, id: "sp" };
    const below = [{ calls: [touch("a")] }, { calls: [touch("b")] }];
    const host = start({ cwd, responses: [{ call: spawn }, ...below, { calls: [touch("c"), touch("d")] }, { say: "never" }] });
    await host.open({ mode: "yolo", maxToolCalls: 3 });
    host.prompt("Go.");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed", finish: "max_tool_calls" });
    expect(readdirSync(cwd).toSorted()).toEqual(["a.txt", "c.txt"]);
    expect(host.ofType("tool.ended").find(({ call }) => call === "sp")).toMatchObject({
      status: "failed",
      output: [{ text: expect.stringContaining("stopped at its share of the turn's tool calls") }],
    });
    expect(await host.finish()).toBe(0);
  });
});

describe("maxSeconds", () => {
  /** Time enough for a turn to have come to its call, whatever else the machine does. */
  const maxSeconds = 2;

  test("a turn that takes longer fails by its limit, and what it started ends with it", async () => {
    const mark = `MARK${process.pid}_${Date.now()}`;
    const sleep = { tool: "Bash", args: { command: `sleep 300; : ${mark}` }, id: "long" };
    const host = start({ responses: [{ call: sleep }, { say: "never" }, { say: "Quick." }] });
    await host.open({ mode: "yolo", maxSeconds });
    host.prompt("Sleep.");
    const ended = await host.turnEnded();
    expect(ended).toMatchObject({
      outcome: "failed",
      fault: { code: "limit", param: "maxSeconds", message: expect.stringContaining("2 s") },
    });
    expect(host.ofType("error")).toMatchObject([{ fault: { code: "limit" } }]);
    const [call] = host.ofType("tool.ended");
    expect(call).toMatchObject({ status: "cancelled", reason: expect.stringContaining("maxSeconds") });
    expect(plainText(call?.output ?? [])).not.toContain("by the user");
    await until(() => processesWith(mark).filter((pid) => pid !== host.child.pid).length === 0);
    expect(await host.finish()).toBe(0);
  });

  test("an approval that nobody gives is denied by it, and a turn within it is none the wiser", async () => {
    const cwd = scratch();
    const host = start({ cwd, responses: [{ calls: [touch("a")] }, { say: "Hello." }] });
    await host.open({ maxSeconds });
    host.prompt("Go.");
    await host.next("approval.requested");
    expect(await host.turnEnded()).toMatchObject({ outcome: "failed", fault: { code: "limit" } });
    host.allow("a");
    expect(await host.next("reply")).toMatchObject({ status: "noop" });
    host.send({ type: "session.configure", id: "more", session: "s", patch: { maxSeconds: 60 } });
    host.prompt("Hi");
    expect(await host.turnEnded(2)).toMatchObject({ outcome: "completed" });
    expect(existsSync(join(cwd, "a.txt"))).toBe(false);
    expect(await host.finish()).toBe(0);
  });

  test("what it cut off can be gone on from, also after kill -9", async () => {
    const home = scratch();
    const sleep = { tool: "Bash", args: { command: "sleep 300" }, id: "long" };
    const host = start({ env: { PARLEY_HOME: home }, responses: [{ call: sleep }] });
    await host.open({ mode: "yolo", maxSeconds });
    host.prompt("Sleep.");
    await host.turnEnded();
    await kill(host);
    const again = await resume(home, [{ expect: { toolResult: "/maxSeconds/" }, say: "Awake." }], undefined, { maxSeconds: 60 });
    expect(await again.next("session.ready")).toMatchObject({ unfinished: "turn" });
    again.send({ type: "turn.prompt", session: "s", parts: [], continues: true });
    expect(await again.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(await again.finish()).toBe(0);
  });
});

describe("nesting", () => {
  const deeper = { tool: "Spawn", args: { tasks: [{ name: "inner", prompt: "say hello" }] }, id: "inner" };
  const spawn = { tool: "Spawn", args: { tasks: [{ name: "outer", prompt: "go deeper" }] }, id: "outer" };

  test.each([
    [1, "failed"],
    [2, "ok"],
  ])("with %i a sub-agent's own Spawn is %s", async (nesting, status) => {
    const host = start({ responses: [{ call: spawn }, { call: deeper }, { say: "x" }, { say: "y" }, { say: "z" }], then: "repeat" });
    await host.open({ mode: "yolo", nesting });
    host.prompt("Go.");
    await host.turnEnded();
    expect(host.ofType("tool.ended").find(({ call }) => call === "inner")).toMatchObject({ status });
    expect(await host.finish()).toBe(0);
  });

  test("with 0 there is no Spawn, until the session is told otherwise", async () => {
    const host = start({ responses: [{ say: "Hello." }, { say: "Hello." }] });
    await host.open({ mode: "yolo", nesting: 0 });
    const calls = [{ name: "Spawn", args: { tasks: [{ name: "a", prompt: "say hi" }] } }];
    host.send({ type: "turn.prompt", id: "p", session: "s", parts: [], calls });
    expect(await host.next("reply")).toMatchObject({ status: "error", fault: { code: "invalid", param: "calls[0].name" } });
    host.send({ type: "session.configure", session: "s", patch: { nesting: 1 } });
    host.send({ type: "turn.prompt", session: "s", parts: [], calls });
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(await host.finish()).toBe(0);
  });
});

test.each([
  [{ maxToolCalls: -1 }, "maxToolCalls"],
  [{ maxToolCalls: 1.5 }, "maxToolCalls"],
  [{ maxSeconds: 0 }, "maxSeconds"],
  [{ maxCost: 0 }, "maxCost"],
  [{ nesting: -1 }, "nesting"],
  [{ nesting: 101 }, "nesting"],
])("%j is refused when the session opens and when it is changed", async (config, param) => {
  const host = start({ responses: [{ say: "Hello." }] });
  host.send({ type: "session.open", session: "bad", open: "new", config });
  expect(await host.next("reply")).toMatchObject({ status: "error", fault: { code: "config", param } });
  await host.open();
  host.send({ type: "session.configure", session: "s", patch: config });
  expect(await host.next("reply", ({ to }) => to === "session.configure")).toMatchObject({
    status: "error",
    fault: { code: "config", param },
  });
  expect(await host.finish()).toBe(0);
});
