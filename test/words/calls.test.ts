/** Calls that a host asks for in the model's place: run like the model's own, refused before the turn where they cannot be. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { OpOf } from "../../src/core/op.js";
import { scratch, start } from "../process/harness.js";
import { callsOf, conversation, kill, resume, stored } from "./sessions.js";

type Calls = OpOf<"turn.prompt">["calls"];

function asks(calls: Calls, text?: string): OpOf<"turn.prompt"> {
  return { type: "turn.prompt", id: "p", session: "s", parts: text === undefined ? [] : [{ type: "text", text }], calls };
}

const write = { id: "c1", name: "Write", args: { file_path: "a.txt", content: "one" } };
const read = { id: "c2", name: "Read", args: { file_path: "b.txt" } };

test("they are told, approved and run as the model's own, and the model gets their results behind the prompt", async () => {
  const [cwd, home] = [scratch({ "b.txt": "two" }), scratch()];
  const host = start({ cwd, env: { PARLEY_HOME: home }, responses: [{ expect: { toolResult: "/two/" }, say: "Both done." }] });
  await host.open();
  host.send(asks([write, read], "See to it."));
  const asked = await host.next("approval.requested");
  expect(asked.calls).toMatchObject([{ id: "c1", name: "Write", category: "edit" }]);
  host.allow("c1");
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed", finish: "stop", parent: "p" });
  expect(host.ofType("tool.requested").map(({ call }) => call.id)).toEqual(["c1", "c2"]);
  expect(host.ofType("tool.ended")).toHaveLength(2);
  expect(host.text()).toBe("Both done.");
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one");
  expect(await host.finish()).toBe(0);
  expect(conversation(await stored(home))).toEqual(["user: See to it.", "calls: Write Read", "results: ok ok", "assistant: Both done."]);
});

test("without words there is no user message, and an id that was used before is not used again", async () => {
  const home = scratch();
  const host = start({ cwd: scratch({ "b.txt": "two" }), env: { PARLEY_HOME: home }, responses: [{ say: "One." }, { say: "Two." }] });
  await host.open();
  host.send(asks([read]));
  await host.turnEnded();
  host.send({ ...asks([read, { name: "Read", args: { file_path: "b.txt" } }]), id: "p2" });
  await host.turnEnded(2);
  expect(await host.finish()).toBe(0);
  const session = await stored(home);
  expect(conversation(session)).toEqual([
    "calls: Read",
    "results: ok",
    "assistant: One.",
    "calls: Read Read",
    "results: ok ok",
    "assistant: Two.",
  ]);
  expect(new Set(callsOf(session)).size).toBe(3);
  expect(callsOf(session)[0]).toBe("c2");
});

describe("what the model may not do, the host's calls may not either", () => {
  test("a denial by the host is told to the model", async () => {
    const cwd = scratch();
    const host = start({ cwd, responses: [{ expect: { toolResult: "/denied: not now/" }, say: "I see." }] });
    await host.open();
    host.send(asks([write]));
    await host.next("approval.requested");
    host.deny("c1", "not now");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.ofType("tool.ended")).toMatchObject([{ status: "denied" }]);
    expect(existsSync(join(cwd, "a.txt"))).toBe(false);
    expect(await host.finish()).toBe(0);
  });

  test.each([
    ["a rule", { mode: "yolo", rules: [{ deny: "Write(*.txt)" }] }, "rule"],
    ["plan mode", { mode: "plan" }, "plan mode"],
  ])("%s", async (_name, config, why) => {
    const host = start({ responses: [{ expect: { toolResult: `/${why}/` }, say: "I see." }] });
    await host.open(config);
    host.send(asks([write]));
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.ofType("tool.ended")).toMatchObject([{ status: "denied", reason: expect.stringContaining(why) }]);
    expect(await host.finish()).toBe(0);
  });
});

describe("what cannot be run is refused before the turn, and nothing of it is kept", () => {
  test.each([
    ["an unknown tool", [write, { name: "Nonsense", args: {} }], "calls[1].name", "Unknown tool: Nonsense"],
    ["a tool of another mode", [{ name: "ExitPlan", args: { plan: "x" } }], "calls[0].name", "Unknown tool: ExitPlan"],
    ["a missing argument", [{ name: "Write", args: { file_path: "a.txt" } }], "calls[0].args.content", "Invalid arguments for Write"],
    ["a wrong argument", [{ name: "Read", args: { file_path: 7 } }], "calls[0].args.file_path", "Invalid arguments for Read"],
  ])("%s", async (_name, calls, param, message) => {
    const home = scratch();
    const host = start({ env: { PARLEY_HOME: home }, responses: [{ say: "Hello." }] });
    await host.open({ mode: "yolo" });
    host.send(asks(calls, "Do it."));
    expect(await host.next("reply")).toMatchObject({
      status: "error",
      parent: "p",
      fault: { code: "invalid", param, message: expect.stringContaining(message) },
    });
    expect(host.ofType("turn.started")).toEqual([]);
    host.prompt("Hi");
    await host.turnEnded();
    expect(await host.finish()).toBe(0);
    expect(conversation(await stored(home))).toEqual(["user: Hi", "assistant: Hello."]);
  });
});

describe("killed with -9", () => {
  const sleep = { id: "c1", name: "Bash", args: { command: "sleep 300" } };

  test("while one runs: its end is unknown, and a resumed turn goes on from there", async () => {
    const home = scratch();
    const host = start({ env: { PARLEY_HOME: home }, responses: [{ say: "never" }] });
    await host.open({ mode: "yolo" });
    host.send(asks([sleep], "Sleep."));
    await host.next("tool.started");
    await kill(host);
    const again = await resume(home, [{ expect: { toolResult: "/is unknown/" }, say: "Awake." }]);
    expect(again.ofType("session.ready")).toMatchObject([{ unfinished: "turn" }]);
    again.send({ type: "turn.prompt", session: "s", parts: [], continues: true });
    expect(await again.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(await again.finish()).toBe(0);
    expect(conversation(await stored(home))).toEqual(["user: Sleep.", "calls: Bash", "results: failed", "assistant: Awake."]);
  });

  test("while one waits for approval: it did not run", async () => {
    const [home, cwd] = [scratch(), scratch()];
    const host = start({ cwd, env: { PARLEY_HOME: home }, responses: [{ say: "never" }] });
    await host.open();
    host.send(asks([write]));
    await host.next("approval.requested");
    await kill(host);
    const again = await resume(home, [{ expect: { toolResult: "/did not run/" }, say: "Later." }], cwd);
    again.prompt("And now?");
    await again.turnEnded();
    expect(await again.finish()).toBe(0);
    expect(existsSync(join(cwd, "a.txt"))).toBe(false);
    expect(conversation(await stored(home))).toEqual(["calls: Write", "results: failed", "user: And now?", "assistant: Later."]);
  });

  test("while the prompt's own hook still runs: what was acknowledged is not lost", async () => {
    const home = scratch({ "config.yaml": 'hooks:\n  prompt:\n    - command: ["sleep", "300"]\n' });
    const host = start({ env: { PARLEY_HOME: home }, responses: [{ say: "never" }] });
    await host.open({ mode: "yolo" });
    host.send(asks([write], "Write it."));
    await host.next("turn.started");
    await kill(host);
    expect(conversation(await stored(home))).toEqual(["user: Write it.", "calls: Write", "results: failed"]);
  });
});
