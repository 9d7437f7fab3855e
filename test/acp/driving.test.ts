/** Our client's side drives an agent that is made with the official SDK. */
import { describe, expect, it } from "vitest";
import { acp } from "../../src/dialects/acp/index.js";
import { Driver } from "../support/driver.js";
import { fixture } from "../support/processes.js";

const scripted = (): Driver => new Driver(acp, [process.execPath, fixture("acp-agent.mjs")]);

describe("a driven agent", () => {
  it("speaks, thinks, and tells what it used and what fills its window", async () => {
    const driver = scripted();
    driver.open();
    expect(await driver.say("t1", "think of it")).toMatchObject({ outcome: "completed", usage: { input: 10, output: 5, cacheRead: 2 } });
    expect(driver.text("t1")).toBe("hello think of it");
    expect(driver.of("thinking.done")).toMatchObject([{ text: "hm", streamed: true }]);
    expect(driver.of("session.ready")).toMatchObject([
      { parent: "open", sessionId: expect.stringMatching(/^wire-/), version: "1.2", capabilities: { images: true, steering: false } },
    ]);
    expect(driver.of("usage")).toMatchObject([{ scope: "session", context: { used: 15, limit: 1000 } }]);
    expect(await driver.next("session.updated")).toMatchObject({ name: "Talk" });
  });

  it("is told to ask where it would decide itself, and takes a mode, a model and their change", async () => {
    const driver = scripted();
    driver.open({ model: "big" });
    await driver.say("t1", "what is");
    expect(driver.text("t1")).toContain("ask lab/big");
    driver.send({ type: "session.configure", id: "c", session: "s", patch: { mode: "yolo", model: "small" } });
    expect(await driver.next("session.updated", ({ parent }) => parent === "c")).toMatchObject({
      config: { mode: "yolo", model: "small" },
    });
    await driver.say("t2", "what is");
    expect(driver.text("t2")).toContain("bypassPermissions small");
    driver.send({ type: "session.configure", id: "p", session: "s", patch: { mode: "plan" } });
    expect(await driver.reply("p")).toMatchObject({ status: "error", fault: { message: expect.stringContaining("has no plan mode") } });
    driver.send({ type: "session.configure", id: "m", session: "s", patch: { model: "none" } });
    expect(await driver.reply("m")).toMatchObject({ fault: { message: expect.stringContaining("small, lab/big") } });
  });

  it("asks about calls, which are allowed, denied, and allowed by a grant that is kept here", async () => {
    const driver = scripted();
    driver.open();
    driver.prompt("t1", "run it");
    const first = await driver.next("approval.requested");
    expect(first.calls).toMatchObject([{ name: "Bash", args: { command: "touch x" }, category: "exec", title: "touch x" }]);
    driver.answer(first.calls[0]?.id ?? "", "deny");
    await driver.ended("t1");
    driver.prompt("t2", "run it");
    const second = await driver.next("approval.requested", ({ turn }) => turn === "t2");
    driver.answer(second.calls[0]?.id ?? "", "allow", { grant: "tool" });
    await driver.ended("t2");
    await driver.say("t3", "run it");
    expect(driver.of("approval.requested")).toHaveLength(2);
    expect(driver.of("tool.ended")).toMatchObject([{ status: "denied" }, { status: "ok", output: [{ text: "yes" }] }, { status: "ok" }]);
  });

  it("shows its plan, fails so that it can be tried again, and stops when it is told to", async () => {
    const driver = scripted();
    driver.open();
    await driver.say("t1", "plan");
    expect(driver.of("tool.ended")).toMatchObject([{ output: [{ type: "todo", items: [{ text: "one", status: "in_progress" }] }] }]);
    expect(await driver.say("t2", "fail")).toMatchObject({
      outcome: "failed",
      fault: { retryable: true, message: expect.stringContaining("429") },
    });
    driver.prompt("t3", "wait");
    await driver.next("text.delta", ({ turn }) => turn === "t3");
    driver.prompt("t4", "after it");
    driver.send({ type: "turn.interrupt", session: "s", turn: "t3" });
    expect(await driver.ended("t3")).toMatchObject({ outcome: "interrupted" });
    expect(await driver.ended("t4")).toMatchObject({ outcome: "completed" });
    driver.prompt("t5", "run it");
    await driver.next("approval.requested");
    driver.send({ type: "turn.interrupt", session: "s" });
    expect(await driver.ended("t5")).toMatchObject({ outcome: "interrupted" });
  });

  it("hears a steer as the next prompt, where it cannot be steered", async () => {
    const driver = scripted();
    driver.open();
    driver.prompt("t1", "wait");
    await driver.next("text.delta");
    driver.send({ type: "turn.steer", id: "st", session: "s", parts: [{ type: "text", text: "hurry" }] });
    driver.send({ type: "turn.interrupt", session: "s", turn: "t1" });
    const next = await driver.next("turn.ended", ({ parent }) => parent === "st");
    expect(driver.text(next.turn ?? "")).toBe("hello hurry");
  });

  it("is killed: its turn fails with the reason, and what waited is refused", async () => {
    const driver = scripted();
    driver.open();
    await driver.next("session.ready");
    driver.prompt("t1", "die");
    driver.prompt("t2", "never");
    expect(await driver.ended("t1")).toMatchObject({ outcome: "failed", reason: expect.stringContaining("SIGKILL") });
    expect(await driver.reply("op-t2")).toMatchObject({ status: "error" });
  });
});

describe("sessions of a driven agent", () => {
  it("are several in one process, listed, resumed, replayed, forked and closed", async () => {
    const driver = scripted();
    driver.open();
    await driver.say("t1", "one");
    const { sessionId = "" } = await driver.next("session.ready");
    const opened = async (session: string, more: object): Promise<void> => {
      driver.send({ type: "session.open", id: `open-${session}`, session, open: "resume", sessionId, ...more });
      await driver.next("session.ready", (event) => event.session === session);
    };
    driver.send({ type: "session.list", id: "list" });
    expect(await driver.reply("list")).toMatchObject({ data: { stored: [{ id: sessionId, name: "T" }] } });
    await opened("copy", { fork: true });
    driver.send({ type: "session.close", session: "s" });
    await driver.next("session.ended");
    await opened("again", {});
    driver.send({ type: "session.open", id: "twice", session: "twice", open: "resume", sessionId });
    expect(await driver.reply("twice")).toMatchObject({ fault: { message: expect.stringContaining("is open already") } });
    driver.send({ type: "session.close", session: "again" });
    await opened("past", { after: { seq: -1 } });
    await driver.next("turn.ended", ({ replay }) => replay === true);
    const past = driver.heard.filter((event) => event.replay === true && event.type !== "session.ready");
    expect(past.map(({ type }) => type)).toEqual(["turn.started", "user.message", "text.done", "turn.ended"]);
    expect(driver.of("session.ready").at(-1)).toMatchObject({ replay: 4 });
    driver.send({ type: "turn.prompt", id: "p", session: "copy", turn: "c1", parts: [{ type: "text", text: "what is" }] });
    await driver.ended("c1");
    expect(driver.text("c1")).toContain("ask small 2");
    expect(driver.started).toHaveLength(1);
  });

  it("are removed where the agent can, once they are closed", async () => {
    const driver = scripted();
    driver.open();
    await driver.say("t1", "one");
    const { sessionId = "" } = await driver.next("session.ready");
    driver.send({ type: "session.delete", id: "open", sessionId });
    expect(await driver.reply("open")).toMatchObject({ status: "error", fault: { message: expect.stringContaining("close it first") } });
    driver.send({ type: "session.close", session: "s" });
    await driver.next("session.ended");
    driver.send({ type: "session.delete", id: "gone", sessionId });
    expect(await driver.reply("gone")).toMatchObject({ to: "session.delete", status: "ok" });
    driver.send({ type: "session.list", id: "list" });
    expect(await driver.reply("list")).toMatchObject({ data: { stored: [] } });
  });

  it("that are not there are refused", async () => {
    const driver = scripted();
    driver.open({}, { open: "resume", sessionId: "nobody" });
    expect(await driver.reply("open")).toMatchObject({ status: "error", fault: { code: "session" } });
  });
});

describe("what is left to the host", () => {
  it("files, terminals and questions reach it, and its answers the agent", async () => {
    const driver = scripted();
    driver.open({ cwd: "/tmp", workspace: { read: "host", write: "host", exec: "host" } });
    driver.prompt("t1", "use my files and ask me");
    const answers: [kind: string, doing: string | undefined, data: unknown][] = [
      ["fs", "read", { content: "unsaved" }],
      ["fs", "write", {}],
      ["terminal", "create", { terminal: "T" }],
      ["terminal", "wait", { exit: { code: 3, signal: null } }],
      ["terminal", "output", { output: "hi" }],
      ["terminal", "release", {}],
      ["question", undefined, { answers: [{ labels: ["blue"] }] }],
    ];
    for (const [at, [kind, doing, data]] of answers.entries()) {
      await driver.next("host.request", () => driver.of("host.request").length > at);
      const asked = driver.of("host.request")[at];
      expect(asked).toMatchObject({ kind, ...(doing !== undefined && { data: { do: doing } }) });
      driver.send({ type: "host.answer", session: "s", request: asked?.request ?? "", ok: true, data });
    }
    await driver.ended("t1");
    expect(driver.text("t1")).toContain('unsaved hi 3{"action":"accept","content":{"colour":"blue"}}');
  });

  it("nothing is offered to an agent whose session keeps its files", async () => {
    const driver = scripted();
    driver.open();
    await driver.say("t1", "what is");
    expect(driver.text("t1")).toContain('{"readTextFile":false,"writeTextFile":false}');
    expect(await driver.say("t2", "use my files")).toMatchObject({
      outcome: "failed",
      fault: { message: expect.stringContaining("fs/read_text_file") },
    });
  });
});
