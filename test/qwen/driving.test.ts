/**
 * Driving agents of the Qwen RFC that were written by somebody else: whatever they leave out, say in another shape of the text or take
 * with them, the stream stays grammatical, and what we ask arrives.
 */
import { describe, expect, it } from "vitest";
import { qwen } from "../../src/dialects/qwen/index.js";
import type { ConnectOptions } from "../../src/link/connect.js";
import { Driver } from "../support/driver.js";
import { fixture } from "../support/processes.js";

const MESSAGES = ["--input-format", "stream-json", "--output-format", "stream-json"];
type Format = "messages" | "chunks";

/** In messages the command says its format twice, and the first counts. */
function agent(manner: string, format: Format = "chunks", start = "ready", options: ConnectOptions = {}): Driver {
  const dialect = format === "chunks" ? qwen : { ...qwen, start: MESSAGES };
  return new Driver(dialect, [process.execPath, fixture("qwen.mjs"), manner, start], options);
}

const ALL = (["ours", "seed", "draft"] as const).flatMap((manner) =>
  (["messages", "chunks"] as const).map((format) => [manner, format] as const),
);

describe.each(ALL)("an agent of the manner '%s' in %s", (manner, format) => {
  it("a conversation: ready, words, usage, ends", async () => {
    const driver = agent(manner, format);
    driver.open({ model: "m1" });
    driver.prompt("t1", "hello");
    driver.prompt("t2", "again");
    await driver.ended("t2");
    expect(await driver.next("session.ready")).toMatchObject({ parent: "open", sessionId: "session-0", version: "1" });
    expect([driver.text("t1"), driver.text("t2")]).toEqual(["m1: hello", "m1: again"]);
    expect(driver.of("turn.ended")).toMatchObject([{ outcome: "completed", parent: "op-t1", finish: "stop" }, {}]);
    expect(driver.of("turn.started")).toHaveLength(2);
    expect(driver.of("error")).toEqual([]);
    const counts = { input: 60, output: 6, cacheRead: 40, reasoning: 4 };
    if (manner === "draft" && format === "chunks") expect(driver.of("usage")[0]).toMatchObject({ usage: counts });
    else expect(driver.of("turn.ended")[0]?.usage).toMatchObject(counts);
  });

  it("thoughts are no part of the answer", async () => {
    const driver = agent(manner, format);
    driver.open();
    await driver.say("t1", "think");
    expect(driver.of("thinking.done")).toMatchObject([{ turn: "t1", text: "Birds\nThey fly." }]);
    expect(driver.text("t1")).toBe("qwen-coder: think");
  });

  it("two calls are asked about, answered in another order, one with other arguments", async () => {
    const driver = agent(manner, format);
    driver.open();
    driver.prompt("t1", "ask");
    await driver.next("approval.requested", ({ calls }) => calls[0]?.name === "Edit");
    expect(driver.of("approval.requested")).toMatchObject([
      { message: "apply_diff", calls: [{ id: "c0", name: "Bash", args: { command: "ls" }, category: "exec", title: "Run?" }] },
      { calls: [{ id: "c1", name: "Edit", args: { path: "a" }, category: "edit" }] },
    ]);
    driver.answer("c1", "deny", { reason: "not now" });
    driver.answer("c0", "allow", { args: { command: "pwd" } });
    await driver.ended("t1");
    expect(driver.of("tool.started")).toMatchObject([{ call: "c0", args: { command: "pwd" } }]);
    expect(new Map(driver.of("tool.ended").map((event) => [event.call, event]))).toMatchObject(
      new Map([
        ["c0", expect.objectContaining({ status: "ok", output: [{ type: "text", text: '{"command":"pwd"}' }] })],
        ["c1", expect.objectContaining({ status: "denied", reason: "denied: not now" })],
      ]),
    );
  });

  it("a call that asks nobody: request, progress, result", async () => {
    const driver = agent(manner, format);
    driver.open();
    await driver.say("t1", "run");
    expect(driver.of("tool.requested")).toMatchObject([{ call: { id: "r1", name: "Bash", args: { command: "ls" } } }]);
    expect(driver.of("tool.progress")).toMatchObject([{ call: "r1", text: "a.txt" }]);
    expect(driver.of("tool.ended")).toMatchObject([{ call: "r1", status: "ok", output: [{ text: "a.txt b.txt" }] }]);
    const pieces = driver.of("tool.delta").map(({ text }) => text);
    expect(pieces.join("")).toBe(format === "chunks" ? '{"command":"ls"}' : "");
  });

  it("what tools show becomes parts; what a console prints is no part of the answer", async () => {
    const driver = agent(manner, format);
    driver.open();
    await driver.say("t1", "show");
    expect(driver.of("tool.ended").map(({ output }) => output)).toMatchObject([
      [{ type: "diff", path: "x", before: "a\n", after: "b\n", stat: { added: 1, removed: 1 } }],
      [{ type: "todo", items: [{ text: "look", status: "in_progress" }] }],
      [{ type: "plan", text: "# Plan" }],
      [{ type: "json", data: { kind: "hologram" } }],
    ]);
    expect(driver.of("notice")).toMatchObject([{ level: "warning", text: "low disk", source: "console" }]);
    expect(driver.text("t1")).not.toContain("low disk");
    expect(driver.text("t1")).toContain("green");
  });

  it("ids that are used twice, calls that nobody announced or ended", async () => {
    const driver = agent(manner, format);
    driver.open();
    await driver.say("t1", "twice");
    expect(driver.of("tool.ended").map(({ call, status }) => [call, status])).toEqual([
      ["d1", "ok"],
      ["d1#2", "ok"],
    ]);
    await driver.say("t2", "unannounced");
    expect(driver.of("tool.ended").filter(({ turn }) => turn === "t2")).toMatchObject([
      { call: "u1", status: "failed" },
      { call: "u2", status: "cancelled" },
    ]);
  });

  it("a turn that fails says how; the next one works", async () => {
    const driver = agent(manner, format);
    driver.open();
    expect(await driver.say("t1", "fail")).toMatchObject({
      outcome: "failed",
      reason: "Overloaded",
      fault: { code: "overloaded", retryable: true },
    });
    expect(driver.of("error")).toMatchObject([{ turn: "t1", fault: { message: "Overloaded" } }]);
    expect(await driver.say("t2", "hello")).toMatchObject({ outcome: "completed" });
  });

  it("an interrupt of what runs, of what waits, and of nothing", async () => {
    const driver = agent(manner, format);
    driver.open();
    driver.prompt("t1", "hang");
    driver.prompt("t2", "hello");
    await driver.next("turn.started");
    driver.send({ type: "turn.interrupt", id: "i1", session: "s", turn: "t1" });
    expect(await driver.ended("t1")).toMatchObject({ outcome: "interrupted" });
    expect(await driver.reply("i1")).toMatchObject({ to: "turn.interrupt", status: "ok" });
    expect(await driver.ended("t2")).toMatchObject({ outcome: "completed" });
    driver.send({ type: "turn.interrupt", id: "i2", session: "s" });
    expect(await driver.reply("i2")).toMatchObject({ status: "noop" });
  });

  it("unknown events, annotations and lines are passed on or told of, and it goes on", async () => {
    const driver = agent(manner, format);
    driver.open();
    expect(await driver.say("t1", "odd")).toMatchObject({ outcome: "completed" });
    expect(driver.of("other").map(({ name }) => name)).toEqual(["result/weather", "x-qwen-smell"]);
    expect(driver.of("error").map(({ fault }) => fault.code)).toEqual(["protocol", "protocol"]);
    expect(driver.of("reply")).toEqual([]);
  });

  it("that dies in a turn ends it, and all that waits", async () => {
    const driver = agent(manner, format);
    driver.open();
    driver.prompt("t1", "die");
    driver.prompt("t2", "never");
    expect(await driver.ended("t1")).toMatchObject({ outcome: "failed", fault: { code: "launch" } });
    expect(await driver.reply("op-t2")).toMatchObject({ status: "error" });
    await driver.next("session.ended");
    expect(await driver.next("closed")).toMatchObject({ code: 3 });
  });
});
