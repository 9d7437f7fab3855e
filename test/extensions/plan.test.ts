/** Plan mode over the native dialect: what the model is offered, the plan that is approved or not, and the todo list that stays. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { plainText } from "../../src/core/content.js";
import { todosIn } from "../../src/engine/session/history.js";
import { jsonlStore } from "../../src/engine/store/jsonl/store.js";
import { run, scratch, script, start, type NativeHost } from "../process/harness.js";
import { modelServer, type Reply } from "../support/model-server.js";

const PLAN = "1. Write hello.txt\n2. Be done";
const exitPlan = { tool: "ExitPlan", args: { plan: PLAN }, id: "plan" };
const write = { tool: "Write", args: { file_path: "hello.txt", content: "hi" }, id: "write" };

const Body = v.object({
  system: v.array(v.object({ text: v.string() })),
  tools: v.array(v.object({ name: v.string() })),
});

/** The command against a server that keeps every request. */
async function withServer(replies: readonly Reply[]) {
  const server = await modelServer("anthropic", replies);
  const env = { ANTHROPIC_API_KEY: server.key, ANTHROPIC_BASE_URL: server.url };
  const host = start({ provider: "anthropic", env, args: ["--model", "claude-sonnet-4-6"] });
  const seen = (nth: number) => {
    const { system, tools } = v.parse(Body, server.requests[nth - 1]?.body);
    return { system: system.map(({ text }) => text).join("\n"), tools: tools.map(({ name }) => name) };
  };
  return { host, seen };
}

test("the model is offered read-only tools and ExitPlan; with the approval everything else, in the same turn", async () => {
  const { host, seen } = await withServer([
    { calls: [{ name: "ExitPlan", args: { plan: PLAN }, id: "toolu_1" }] },
    { text: ["Carrying it out."] },
    { text: ["Later."] },
  ]);
  await host.open({ mode: "plan" });
  host.prompt("make a plan");
  const asked = await host.next("approval.requested");
  expect(asked.calls).toMatchObject([{ name: "ExitPlan", category: "info", preview: [{ type: "plan", text: PLAN }] }]);
  host.allow(asked.calls[0]?.id ?? "");
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  expect(host.ofType("session.updated")).toMatchObject([{ config: { mode: "default" } }]);
  expect(host.ofType("tool.ended")).toMatchObject([{ status: "ok", output: [{ type: "plan", text: PLAN }, { type: "text" }] }]);
  host.prompt("and now?");
  await host.turnEnded(2);
  expect(seen(1).tools.toSorted()).toEqual(["AskUser", "BashOutput", "ExitPlan", "Glob", "Grep", "Read", "TodoWrite"]);
  expect(seen(1).system).toContain("Plan mode");
  for (const nth of [2, 3]) {
    expect(seen(nth).tools).toEqual(expect.arrayContaining(["Write", "Edit", "Bash", "Spawn"]));
    expect(seen(nth).tools).not.toContain("ExitPlan");
    expect(seen(nth).system).not.toContain("Plan mode");
  }
  expect(await host.finish()).toBe(0);
});

describe("the approval", () => {
  test.each([
    [{}, "default", true],
    [{ grant: "call" }, "default", true],
    [{ grant: "tool" }, "auto_edit", false],
    [{ grant: "category" }, "auto_edit", false],
  ])("allow %j leads to mode %s", async (grant, mode, asks) => {
    const cwd = scratch();
    const host = start({ cwd, responses: [{ call: exitPlan }, { expect: { toolResult: "approved" }, call: write }, { say: "done" }] });
    await host.open({ mode: "plan" });
    host.prompt("go");
    await host.next("approval.requested");
    host.allow("plan", grant);
    expect((await host.next("session.updated")).config).toMatchObject({ mode });
    if (asks) {
      await host.next("approval.requested", ({ calls }) => calls.some(({ id }) => id === "write"));
      host.allow("write");
    }
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.ofType("approval.requested")).toHaveLength(asks ? 2 : 1);
    expect(existsSync(join(cwd, "hello.txt"))).toBe(true);
    expect(await host.finish()).toBe(0);
  });

  test("denied with a reason: the model hears it and stays in plan mode, where nothing is written", async () => {
    const cwd = scratch();
    const host = start({
      cwd,
      responses: [
        { call: exitPlan },
        { expect: { toolResult: "too short", tools: ["ExitPlan"], system: "Plan mode" }, call: write },
        { expect: { toolResult: "plan mode: Write may change things" }, say: "I see." },
      ],
    });
    await host.open({ mode: "plan" });
    host.prompt("go");
    await host.next("approval.requested");
    host.deny("plan", "too short");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.text()).toBe("I see.");
    expect(host.ofType("session.updated")).toEqual([]);
    expect(existsSync(join(cwd, "hello.txt"))).toBe(false);
    expect(await host.finish()).toBe(0);
  });

  test("no rule, no list and no earlier yes makes it unnecessary; a deny rule holds", async () => {
    const host = start({ responses: [{ call: exitPlan }, { call: { ...exitPlan, id: "again" } }, { say: "ok" }] });
    await host.open({ mode: "plan", rules: [{ allow: "ExitPlan" }, { allow: "info" }], approveTools: ["ExitPlan"] });
    host.prompt("go");
    await host.next("approval.requested");
    host.deny("plan", "no");
    await host.next("approval.requested", ({ calls }) => calls.some(({ id }) => id === "again"));
    host.deny("again", "no");
    await host.turnEnded();
    expect(host.ofType("tool.ended").map(({ status }) => status)).toEqual(["denied", "denied"]);
    expect(await host.finish()).toBe(0);

    const strict = start({ responses: [{ call: exitPlan }, { say: "ok" }] });
    await strict.open({ mode: "plan", rules: [{ deny: "ExitPlan" }] });
    strict.prompt("go");
    await strict.turnEnded();
    expect(strict.ofType("approval.requested")).toEqual([]);
    expect(strict.ofType("tool.ended")).toMatchObject([{ status: "denied" }]);
    expect(await strict.finish()).toBe(0);
  });

  test("the host may edit the plan, and the model gets what was approved", async () => {
    const host = start({ responses: [{ call: exitPlan }, { expect: { toolResult: "Ask first" }, say: "ok" }] });
    await host.open({ mode: "plan" });
    host.prompt("go");
    await host.next("approval.requested");
    host.allow("plan", { args: { plan: "0. Ask first" } });
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.ofType("tool.ended")[0]?.output?.[0]).toEqual({ type: "plan", text: "0. Ask first" });
    expect(await host.finish()).toBe(0);
  });

  test("where nobody can answer it is denied", async () => {
    const model = script([{ call: exitPlan }, { expect: { toolResult: "denied" }, say: "still planning" }]);
    const { code, stdout } = await run(["-p", "go", "--provider", "rehearsal", "--model", model, "--approval-mode", "plan"]);
    expect([code, stdout.trim()]).toEqual([0, "still planning"]);
  });
});

test("outside plan mode there is no such tool", async () => {
  const host = start({ responses: [{ call: exitPlan }, { say: "ok" }] });
  await host.open({ mode: "yolo" });
  host.prompt("go");
  await host.turnEnded();
  expect(host.ofType("tool.ended")).toMatchObject([{ status: "failed" }]);
  expect(plainText(host.ofType("tool.ended")[0]?.output ?? [])).toMatch(/^Unknown tool: ExitPlan\. There are: (?!.*ExitPlan)/);
  expect(await host.finish()).toBe(0);
});

test("a host that changes the mode in the middle of a turn changes what is offered", async () => {
  const host = start({
    responses: [
      { call: { tool: "Bash", args: { command: "true" }, id: "c" } },
      { expect: { tools: ["ExitPlan"], system: "Plan mode" }, say: "ok" },
    ],
  });
  await host.open();
  host.prompt("go");
  await host.next("approval.requested");
  host.send({ type: "session.configure", session: "s", patch: { mode: "plan" } });
  await host.next("session.updated");
  host.allow("c");
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  expect(await host.finish()).toBe(0);
});

test("an approved plan is remembered by the session that is resumed, and so is the todo list", async () => {
  const home = scratch();
  const todos = [
    { content: "a", status: "completed" },
    { content: "b", status: "pending" },
  ];
  const env = { PARLEY_HOME: home };
  const first = start({ env, responses: [{ call: { tool: "TodoWrite", args: { todos } } }, { call: exitPlan }, { say: "ok" }] });
  await first.open({ mode: "plan" });
  first.prompt("go");
  await first.next("approval.requested");
  first.allow("plan", { grant: "tool" });
  await first.turnEnded();
  expect(await first.finish()).toBe(0);
  const again = start({ env, responses: ["hello"] });
  const ready = await resumed(again);
  expect(ready.config?.mode).toBe("auto_edit");
  expect(await again.finish()).toBe(0);
  const { session, log } = await jsonlStore(home, { keep: 9, redact: (value) => value }).open("s");
  await log.close();
  expect(todosIn(session.messages)).toEqual([
    { text: "a", status: "completed" },
    { text: "b", status: "pending" },
  ]);
});

function resumed(host: NativeHost) {
  host.send({ type: "session.open", session: "s", open: "resume", sessionId: "s" });
  return host.next("session.ready");
}
