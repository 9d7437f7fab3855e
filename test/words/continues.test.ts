/** A turn without a new message: it goes on from where the conversation stopped, and is refused where there is nothing to go on from. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { OpOf } from "../../src/core/op.js";
import { type NativeHost, scratch, start, until } from "../process/harness.js";
import { modelServer } from "../support/model-server.js";
import { conversation, kill, resume, stored } from "./sessions.js";

const goOn: OpOf<"turn.prompt"> = { type: "turn.prompt", id: "go", session: "s", parts: [], continues: true };
const bash = { tool: "Bash", args: { command: "sleep 300" }, id: "long" };

async function refused(host: NativeHost, message: string, code = "session"): Promise<void> {
  host.send(goOn);
  expect(await host.next("reply", ({ parent }) => parent === "go")).toMatchObject({
    status: "error",
    fault: { code, message: expect.stringContaining(message) },
  });
}

describe("nothing to go on from", () => {
  test("in an empty session, and behind an answer, now and after a resume", async () => {
    const home = scratch();
    const host = start({ env: { PARLEY_HOME: home }, responses: [{ say: "Hello." }] });
    expect(await host.open()).not.toHaveProperty("unfinished");
    await refused(host, "nothing was said");
    host.prompt("Hi");
    await host.turnEnded();
    host.events.length = 0;
    await refused(host, "ended with its answer");
    expect(host.ofType("turn.started")).toEqual([]);
    expect(await host.finish()).toBe(0);
    const again = await resume(home, [{ say: "never" }]);
    expect(await again.next("session.ready")).not.toHaveProperty("unfinished");
    await refused(again, "ended with its answer");
    expect(await again.finish()).toBe(0);
    expect(conversation(await stored(home))).toEqual(["user: Hi", "assistant: Hello."]);
  });

  test("behind a prompt that a hook blocked: the answer before it stands", async () => {
    const guard = `hooks:\n  prompt:\n    - command: ["sh", "-c", "! grep -q bad || { echo no >&2; exit 2; }"]\n`;
    const home = scratch({ "config.yaml": guard });
    const host = start({ env: { PARLEY_HOME: home }, responses: [{ say: "Hello." }] });
    await host.open();
    host.prompt("good");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    host.prompt("bad");
    expect(await host.turnEnded(2)).toMatchObject({ outcome: "failed" });
    await refused(host, "ended with its answer");
    expect(await host.finish()).toBe(0);
    const again = await resume(home, [{ say: "never" }]);
    expect(await again.next("session.ready")).not.toHaveProperty("unfinished");
    expect(await again.finish()).toBe(0);
  });

  test("with words of its own it is no continuation", async () => {
    const host = start({ responses: [{ say: "never" }] });
    await host.open();
    host.send({ ...goOn, parts: [{ type: "text", text: "and" }] });
    expect(await host.next("reply")).toMatchObject({ status: "error", fault: { code: "invalid", param: "parts" } });
    expect(await host.finish()).toBe(0);
  });
});

test("behind an interrupted call: its result is there, and no new message", async () => {
  const home = scratch();
  const host = start({
    env: { PARLEY_HOME: home },
    responses: [{ call: bash }, { expect: { toolResult: "/Interrupted/" }, say: "Went on." }],
  });
  await host.open({ mode: "yolo" });
  host.prompt("Sleep.");
  await host.next("tool.started");
  host.send({ type: "turn.interrupt", session: "s" });
  expect(await host.turnEnded()).toMatchObject({ outcome: "interrupted" });
  host.send(goOn);
  expect(await host.turnEnded(2)).toMatchObject({ outcome: "completed", parent: "go" });
  expect(await host.finish()).toBe(0);
  expect(conversation(await stored(home))).toEqual(["user: Sleep.", "calls: Bash", "results: failed", "assistant: Went on."]);
});

test("behind a request that failed: the vendor gets the prompt once, and after a resume too", async () => {
  const server = await modelServer("anthropic", [{ error: { status: 400 } }, { error: { status: 400 } }, { text: ["At last."] }]);
  const env = { ANTHROPIC_API_KEY: server.key, ANTHROPIC_BASE_URL: server.url, PARLEY_HOME: scratch() };
  const args = ["--model", "claude-sonnet-4-6"];
  const host = start({ provider: "anthropic", env, args });
  await host.open();
  host.prompt("Hi");
  expect(await host.turnEnded()).toMatchObject({ outcome: "failed" });
  host.send(goOn);
  expect(await host.turnEnded(2)).toMatchObject({ outcome: "failed" });
  expect(await host.finish()).toBe(0);
  const again = start({ provider: "anthropic", env, args });
  again.send({ type: "session.open", session: "s", open: "resume", after: { seq: -1 } });
  expect(await again.next("session.ready")).toMatchObject({ unfinished: "prompt" });
  again.send(goOn);
  await again.next("turn.ended", (event) => event.replay !== true);
  expect(again.text()).toBe("At last.");
  expect(again.ofType("user.message")).toMatchObject([{ parts: [{ text: "Hi" }] }]);
  expect(await again.finish()).toBe(0);
  expect(server.requests.map(({ body }) => body)).toMatchObject(
    [1, 2, 3].map(() => ({ messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] })),
  );
});

describe("killed with -9 and resumed", () => {
  test("in the middle of an answer: what was said of it stays, and the turn goes on", async () => {
    const home = scratch();
    const host = start({ env: { PARLEY_HOME: home }, responses: [{ say: { text: "word ", pieces: 400_000 } }] });
    await host.open();
    host.prompt("Talk.");
    const log = join(home, "sessions", "s", "log.jsonl");
    await until(() => existsSync(log) && readFileSync(log, "utf8").includes('"partial"'));
    await kill(host);
    const cut = await stored(home);
    expect(cut.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    const again = await resume(home, [{ say: "More." }]);
    expect(await again.next("session.ready")).toMatchObject({ unfinished: "turn" });
    again.send(goOn);
    expect(await again.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(await again.finish()).toBe(0);
    expect((await stored(home)).messages.map(({ role }) => role)).toEqual(["user", "assistant", "assistant"]);
  });

  test("in a turn that went on: what was steered into it is there once", async () => {
    const home = scratch();
    const host = start({
      env: { PARLEY_HOME: home },
      responses: [{ call: bash }, { call: { tool: "Bash", args: { command: "true" }, id: "short" } }, { call: { ...bash, id: "again" } }],
    });
    await host.open({ mode: "yolo" });
    host.prompt("Work.");
    await host.next("tool.started");
    host.send({ type: "turn.interrupt", session: "s" });
    await host.turnEnded();
    host.send(goOn);
    await host.next("turn.started", ({ parent }) => parent === "go");
    host.send({ type: "turn.steer", session: "s", parts: [{ type: "text", text: "Mind the gap." }] });
    await host.next("tool.started", ({ call }) => call === "again");
    await kill(host);
    const again = await resume(home, [{ say: "Done." }]);
    expect(await again.next("session.ready")).toMatchObject({ unfinished: "turn" });
    again.send(goOn);
    await again.turnEnded();
    expect(await again.finish()).toBe(0);
    const told = conversation(await stored(home));
    expect(told.filter((line) => line === "user: Mind the gap.")).toHaveLength(1);
    expect([told[0], told.at(-1)]).toEqual(["user: Work.", "assistant: Done."]);
  });

  test("a resume that dies before it goes on leaves the same to go on from", async () => {
    const home = scratch();
    const host = start({ env: { PARLEY_HOME: home }, responses: [{ call: bash }] });
    await host.open({ mode: "yolo" });
    host.prompt("Sleep.");
    await host.next("tool.started");
    await kill(host);
    for (let nth = 0; nth < 2; nth++) {
      const again = await resume(home, [{ say: "never" }]);
      expect(await again.next("session.ready")).toMatchObject({ unfinished: "turn" });
      await kill(again);
    }
    expect(conversation(await stored(home))).toEqual(["user: Sleep.", "calls: Bash", "results: failed"]);
  });
});
