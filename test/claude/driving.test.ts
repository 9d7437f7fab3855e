/** Driving Claude Code: the arguments, the handshake, turns, permissions with grants, steering, hooks, ends. The stand-in behaves as the real program was seen to. */
import { describe, expect, it } from "vitest";
import { claude } from "../../src/dialects/claude/index.js";
import type { ConnectOptions } from "../../src/link/connect.js";
import { Driver } from "../support/driver.js";
import { fixture } from "../support/processes.js";

function agent(start = "ready", options: ConnectOptions = {}): Driver {
  return new Driver(claude, [process.execPath, fixture("claude.mjs"), start], options);
}

function opened(config: Parameters<Driver["open"]>[0] = {}): Driver {
  const driver = agent();
  driver.open(config);
  return driver;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const USAGE = { input: 60, output: 7, cacheRead: 40, cacheWrite: 2 };

describe.each([true, false])("with partial messages: %s", (streaming) => {
  it("a conversation has words, the usage of each turn, and the cost of the whole", async () => {
    const driver = opened({ model: "m1", streaming });
    driver.prompt("t1", "hello");
    driver.prompt("t2", "again");
    await driver.ended("t2");
    expect(await driver.next("session.ready")).toMatchObject({
      parent: "open",
      sessionId: expect.stringMatching(UUID),
      config: { model: "m1" },
    });
    expect([driver.text("t1"), driver.text("t2")]).toEqual(["m1: hello", "m1: again"]);
    expect(driver.of("turn.ended")).toMatchObject([
      { outcome: "completed", finish: "stop", parent: "op-t1", usage: USAGE },
      { outcome: "completed", parent: "op-t2", usage: USAGE },
    ]);
    expect(driver.of("usage").filter(({ scope }) => scope === "call")).toMatchObject(streaming ? [{ usage: USAGE }, { usage: USAGE }] : []);
    expect(driver.of("usage").filter(({ scope }) => scope === "session")).toMatchObject([
      { cost: 0.01 },
      { cost: 0.02, usage: { input: 120 } },
    ]);
    expect(driver.of("text.delta").length > 0).toBe(streaming);
    expect(driver.of("error")).toEqual([]);
  });

  it("an allowed call runs with the arguments of the answer", async () => {
    const driver = opened({ streaming });
    driver.prompt("t1", "run");
    const { calls } = await driver.next("approval.requested");
    expect(calls).toMatchObject([{ name: "Bash", args: { command: "ls" }, category: "exec", covers: { prefix: "ls" } }]);
    driver.answer(calls[0]?.id ?? "", "allow", { args: { command: "pwd" } });
    await driver.ended("t1");
    expect(driver.of("tool.ended")).toMatchObject([{ status: "ok", output: [{ text: "ran pwd" }] }]);
    expect(driver.of("tool.progress")).toMatchObject([{ text: "still running after 10 s" }]);
    expect(driver.text("t1")).toBe("I look.|Done.");
  });
});

describe("turns", () => {
  it("thinking is told before the words", async () => {
    const driver = opened();
    await driver.say("t1", "think");
    expect(driver.of("thinking.done")).toMatchObject([{ text: "hmm" }]);
    expect(driver.text("t1")).toBe("Thought.");
  });

  it("prompts during a turn wait on our side, one turn each", async () => {
    const driver = opened();
    driver.prompt("t1", "run");
    const { calls } = await driver.next("approval.requested");
    driver.prompt("t2", "two");
    driver.prompt("t3", "three");
    driver.answer(calls[0]?.id ?? "", "allow");
    await driver.ended("t3");
    expect(driver.of("turn.started").map(({ turn }) => turn)).toEqual(["t1", "t2", "t3"]);
    expect(driver.text("t1")).toBe("I look.|Done.");
  });

  it("a steer goes into the turn that runs", async () => {
    const driver = opened();
    driver.prompt("t1", "run");
    const { calls } = await driver.next("approval.requested");
    driver.send({ type: "turn.steer", id: "steer", session: "s", parts: [{ type: "text", text: "be quick" }] });
    driver.answer(calls[0]?.id ?? "", "allow");
    await driver.ended("t1");
    expect(driver.text("t1")).toBe("I look.|Done, and heard: be quick");
    expect(driver.of("turn.started")).toHaveLength(1);
  });

  it("a sub-agent's words are under its call, and its news are a turn of their own", async () => {
    const driver = opened();
    await driver.say("t1", "delegate");
    const own = await driver.next("turn.ended", ({ turn }) => turn !== "t1");
    expect(driver.of("text.done")).toMatchObject([
      { under: "a1", text: "from below" },
      { text: "Launched." },
      { text: expect.stringContaining("news") },
    ]);
    expect(driver.of("tool.requested")).toMatchObject([{ call: { id: "a1", name: "Spawn" } }]);
    expect(own).toMatchObject({ outcome: "completed" });
    expect(own.parent).toBeUndefined();
  });

  it("an interrupt ends the turn, and the next prompt is answered", async () => {
    const driver = opened();
    driver.prompt("t1", "wait");
    await driver.next("text.delta");
    driver.send({ type: "turn.interrupt", id: "stop", session: "s" });
    expect(await driver.reply("stop")).toMatchObject({ status: "ok" });
    expect(await driver.ended("t1")).toMatchObject({ outcome: "interrupted" });
    expect(await driver.say("t2", "hello")).toMatchObject({ outcome: "completed" });
    expect(driver.of("error")).toEqual([]);
  });

  it("an interrupt while a permission waits cancels the call, and a late answer does nothing", async () => {
    const driver = opened();
    driver.prompt("t1", "run");
    const { calls } = await driver.next("approval.requested");
    driver.send({ type: "turn.interrupt", id: "stop", session: "s" });
    expect(await driver.ended("t1")).toMatchObject({ outcome: "interrupted" });
    expect(driver.of("tool.ended")).toMatchObject([{ status: "cancelled" }]);
    driver.answer(calls[0]?.id ?? "", "allow");
    expect(await driver.say("t2", "hello")).toMatchObject({ outcome: "completed" });
  });

  it("a failure of the API fails the turn once, and says whether another try is worth it", async () => {
    const driver = opened();
    const fault = { code: "provider", message: "API Error: 529 overloaded", retryable: true, status: 529 };
    expect(await driver.say("t1", "fail")).toMatchObject({ outcome: "failed", fault });
    expect(driver.of("error")).toMatchObject([{ fault }]);
    expect(driver.of("text.done")).toEqual([]);
    expect(await driver.say("t2", "limit")).toMatchObject({ outcome: "completed", finish: "max_turns" });
    expect(await driver.say("t3", "hello")).toMatchObject({ outcome: "completed" });
  });
});

describe("permissions", () => {
  it("a denied call is denied with the reason", async () => {
    const driver = opened();
    driver.prompt("t1", "run");
    driver.answer((await driver.next("approval.requested")).calls[0]?.id ?? "", "deny", { reason: "not on a Friday" });
    await driver.ended("t1");
    expect(driver.of("tool.ended")).toMatchObject([{ status: "denied", reason: "not on a Friday" }]);
  });

  it("a grant for the tool is kept by the agent: it asks no more", async () => {
    const driver = opened();
    driver.prompt("t1", "run");
    driver.answer((await driver.next("approval.requested")).calls[0]?.id ?? "", "allow", { grant: "tool" });
    await driver.ended("t1");
    await driver.say("t2", "run");
    expect(driver.of("approval.requested")).toHaveLength(1);
    expect(driver.of("tool.ended")).toMatchObject([{ status: "ok" }, { status: "ok" }]);
  });

  it("a question to the user is one of the host, in every mode", async () => {
    const driver = opened({ mode: "yolo" });
    driver.prompt("t1", "ask");
    const { request, kind, call, data } = await driver.next("host.request");
    expect([kind, call, data]).toMatchObject([
      "question",
      "k1",
      { questions: [{ question: "Which?", options: [{ label: "A" }, {}], multiple: true }] },
    ]);
    const answers = [{ labels: ["A", "B"], text: "and more" }];
    driver.send({ type: "host.answer", session: "s", request, ok: true, data: { answers } });
    await driver.ended("t1");
    expect(driver.of("tool.ended")).toMatchObject([{ status: "ok", output: [{ text: "It is A, B, and more." }] }]);
    driver.prompt("t2", "ask");
    const again = await driver.next("host.request", ({ turn }) => turn === "t2");
    driver.send({ type: "host.answer", session: "s", request: again.request, ok: false, data: { message: "nobody is there" } });
    await driver.ended("t2");
    expect(driver.of("tool.ended").at(-1)).toMatchObject({ status: "denied", reason: "nobody is there" });
    expect(driver.of("approval.requested")).toEqual([]);
  });

  it("the mode yolo is answered on our side, and the agent stays in its asking mode", async () => {
    const driver = opened({ mode: "yolo" });
    await driver.say("t1", "run");
    expect(driver.of("approval.requested")).toEqual([]);
    expect(driver.of("tool.ended")).toMatchObject([{ status: "ok" }]);
    driver.send({ type: "session.configure", id: "mode", session: "s", patch: { mode: "default" } });
    expect(await driver.next("session.updated", ({ parent }) => parent === "mode")).toMatchObject({ config: { mode: "default" } });
    driver.prompt("t2", "run");
    driver.answer((await driver.next("approval.requested")).calls[0]?.id ?? "", "deny");
    await driver.ended("t2");
  });

  it("a hook of the host guards a call", async () => {
    const driver = opened({ hostHooks: { pre_tool_use: "guard" } });
    driver.prompt("t1", "run");
    const { request, kind, data } = await driver.next("host.request");
    expect([kind, data]).toMatchObject(["hook", { callback: "guard", input: { event: "pre_tool_use", call: { name: "Bash" } } }]);
    driver.send({ type: "host.answer", session: "s", request, ok: true, data: { decision: "block", reason: "guarded" } });
    await driver.ended("t1");
    expect(driver.of("tool.ended")).toMatchObject([{ status: "denied", reason: expect.stringContaining("guarded") }]);
  });
});

describe("the session", () => {
  it("a stored session is resumed by its id, and a copy has an id of its own", async () => {
    const id = "11111111-1111-4111-8111-111111111111";
    const driver = agent();
    driver.open({}, { open: "resume", sessionId: id });
    expect(await driver.next("session.ready")).toMatchObject({ sessionId: id });
    const copy = agent();
    copy.open({}, { open: "resume", sessionId: id, fork: true });
    expect((await copy.next("session.ready")).sessionId).not.toBe(id);
  });

  it("the model and the mode change between turns", async () => {
    const driver = opened({ model: "m1" });
    driver.send({ type: "session.configure", id: "c", session: "s", patch: { model: "m2", mode: "plan" } });
    expect(await driver.next("session.updated", ({ parent }) => parent === "c")).toMatchObject({ config: { model: "m2", mode: "plan" } });
    await driver.say("t1", "hello");
    expect(driver.text("t1")).toBe("m2: hello");
  });

  it("files go back to before a turn, a preview tells what would, and nothing else is asked of it", async () => {
    const driver = opened();
    const turn = "11111111-2222-4333-8444-555555555555";
    await driver.say(turn, "hello");
    const rewind = (id: string, more: object): void => driver.send({ type: "session.rewind", id, session: "s", turn, ...more });
    rewind("preview", { files: true, force: true, preview: true });
    expect(await driver.reply("preview")).toMatchObject({ data: { files: ["/w/a.txt"], left: [], stat: { added: 1, removed: 3 } } });
    rewind("files", { files: true, force: true });
    expect(await driver.reply("files")).toMatchObject({ status: "ok", data: { files: ["/w/a.txt"], left: [] } });
    rewind("both", { force: true });
    expect(await driver.reply("both")).toMatchObject({ fault: { code: "unsupported", message: expect.stringContaining("files alone") } });
    driver.send({ type: "session.rewind", id: "none", session: "s", turn: "none", files: true, force: true });
    expect(await driver.reply("none")).toMatchObject({ fault: { message: "No file checkpoint found for this message." } });
  });

  it("a rewind during which it dies is answered with the reason", async () => {
    const driver = agent("dying");
    driver.open();
    await driver.next("session.ready");
    driver.send({ type: "session.rewind", id: "rewind", session: "s", turn: "t1", files: true, force: true });
    expect(await driver.reply("rewind")).toMatchObject({ status: "error", fault: { message: expect.stringContaining("7") } });
  });

  it("a session that it does not know, and a handshake that it refuses, refuse the open with its words", async () => {
    const unknown = agent("unknown");
    unknown.open({}, { open: "resume", sessionId: "11111111-1111-4111-8111-111111111111" });
    expect(await unknown.reply("open")).toMatchObject({ fault: { message: expect.stringContaining("No conversation found") } });
    const refusing = agent("refusing");
    refusing.open();
    expect(await refusing.reply("open")).toMatchObject({ fault: { message: "not today" } });
  });

  it("a program without Claude Code's arguments refuses with its last words", async () => {
    const driver = new Driver(claude, [process.execPath, "-e", "console.error('no such option'); process.exit(1)", "--"]);
    driver.open();
    expect(await driver.reply("open")).toMatchObject({ fault: { message: expect.stringContaining("no such option") } });
  });

  it("leaving with 1 behind an error result is no failure of its own", async () => {
    const driver = opened();
    await driver.say("t1", "fail");
    driver.send({ type: "shutdown", when: "drained" });
    expect(await driver.next("closed")).toMatchObject({ code: 0 });
    expect(driver.of("error")).toHaveLength(1);
  });

  it.each(["die", "leave"])("the order to %s ends the turn and what waits behind it, each once", async (order) => {
    const driver = opened();
    driver.prompt("t1", order);
    driver.prompt("t2", "never");
    expect(await driver.ended("t1")).toMatchObject({ outcome: "failed", fault: { code: "launch" } });
    await driver.next("session.ended");
    expect(driver.of("turn.ended").map(({ turn }) => turn)).toEqual(["t1"]);
  });
});
