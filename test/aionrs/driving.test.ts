/** Driving the real program: whatever it leaves out, gets wrong or takes with it when it dies, the event stream stays grammatical. */
import { describe, expect, it } from "vitest";
import { aionrs } from "../../src/dialects/aionrs/index.js";
import { PARLEY, scratch, script } from "../process/harness.js";
import { Driver } from "./driver.js";
import { fixture } from "../support/processes.js";

const real = (version = "0.1.36", start = "ready"): Driver => new Driver(aionrs, [process.execPath, fixture("aionrs.mjs"), version, start]);

describe("a real aionrs", () => {
  it.each(["0.1.0", "0.1.7", "0.1.11", "0.2.10"])(
    "%s: a conversation, whichever of the two names it gives to the text",
    async (version) => {
      const driver = real(version, "slow");
      driver.open();
      // Clients must wait for ready; this one leaves when it hears anything before.
      driver.prompt("m1", "hello");
      driver.send({
        type: "turn.prompt",
        session: "s",
        turn: "m2",
        parts: [
          { type: "text", text: "look" },
          { type: "file", path: "/a.png" },
        ],
      });
      await driver.ended("m2");
      expect(await driver.next("session.ready")).toMatchObject({ session: "s", parent: "open", sessionId: "a1b2c3", version });
      expect([driver.text("m1"), driver.text("m2")]).toEqual(["You said hello", "You said look /a.png"]);
      expect(driver.of("thinking.done").map((event) => event.text)).toEqual(["hm", "hm"]);
      expect(driver.of("turn.ended")).toMatchObject([
        { outcome: "completed", parent: "op-m1", usage: { input: 10, output: 5 } },
        { outcome: "completed" },
      ]);
    },
  );

  it("asks for one call after the other; a denial is told from a cancellation", async () => {
    const driver = real();
    driver.open();
    driver.prompt("m1", "tools");
    expect(await driver.next("approval.requested")).toMatchObject({
      turn: "m1",
      calls: [{ id: "t1", name: "Write", category: "edit", title: "Write a" }],
    });
    driver.answer("t1", "allow");
    await driver.next("approval.requested", (event) => event.calls[0]?.id === "t2");
    driver.answer("t2", "deny", "no");
    await driver.ended("m1");
    expect(driver.of("tool.ended")).toMatchObject([
      { call: "t1", status: "ok", output: [{ type: "text", text: "Created a (1 lines)" }] },
      { call: "t2", status: "denied", reason: "no" },
    ]);
    expect(driver.of("notice").map(({ text, turn }) => [text, turn])).toContainEqual(["[Write success] …", "m1"]);
  });

  it("names no message in its errors: in a turn they are the turn's", async () => {
    const driver = real("0.1.10");
    driver.open();
    driver.prompt("m1", "fail");
    driver.prompt("m2", "hello");
    expect(await driver.ended("m1")).toMatchObject({
      outcome: "failed",
      fault: { code: "engine_error", message: expect.stringContaining("boom") },
    });
    expect(await driver.ended("m2")).toMatchObject({ outcome: "completed" });
    expect(driver.of("error")).toMatchObject([{ turn: "m1" }]);
  });

  it("of an old version says no stream_end after an error: the error ends the turn", async () => {
    const driver = real("0.1.7");
    driver.open();
    driver.prompt("m1", "fail");
    driver.prompt("m2", "hello");
    expect(await driver.ended("m1")).toMatchObject({ outcome: "failed" });
    expect(await driver.ended("m2")).toMatchObject({ outcome: "completed" });
  });

  it.each([
    ["fail and leave", "0.1.36", /reset/],
    ["die", "0.1.36", /exited with code 1/],
  ])("that dies in a turn (%s) fails it once, with the reason", async (text, version, words) => {
    const driver = real(version);
    driver.open();
    driver.prompt("m1", text);
    driver.prompt("m2", "hello");
    const end = await driver.ended("m1");
    expect(end).toMatchObject({ outcome: "failed" });
    expect(JSON.stringify([end, driver.of("error")])).toMatch(words);
    expect(await driver.next("session.ended")).toMatchObject({ session: "s" });
  });

  it("that dies while nothing runs is told of before its session ends; one that we end is not", async () => {
    const dies = `console.log('{"type":"ready","version":"0.1.0"}'); process.stdin.once("data", () => process.exit(5))`;
    const died = new Driver(aionrs, [process.execPath, "-e", dies, "--"]);
    died.open();
    await died.next("session.ready");
    died.send({ type: "session.seed", id: "seed", session: "s", text: "die" });
    await died.next("session.ended");
    expect(died.all.slice(-2)).toMatchObject([
      { type: "error", session: "s", fault: { code: "launch", message: expect.stringContaining("exited with code 5") } },
      { type: "session.ended" },
    ]);
    const ended = real();
    ended.open();
    await ended.next("session.ready");
    await ended.agent.close();
    await ended.next("closed");
    expect(ended.of("error")).toEqual([]);
  });

  it("leaves when it is told to stop: the turn was interrupted, and the session is over", async () => {
    const driver = real();
    driver.open();
    driver.prompt("m1", "hang");
    await driver.next("turn.started");
    driver.send({ type: "turn.interrupt", id: "stop", session: "s" });
    expect(await driver.ended("m1")).toMatchObject({ outcome: "interrupted" });
    expect(driver.of("error")).toEqual([]);
    await driver.next("session.ended");
    driver.send({ type: "turn.prompt", id: "late", session: "s", parts: [] });
    expect(await driver.next("reply", (event) => event.parent === "late")).toMatchObject({ status: "error", fault: { code: "session" } });
  });

  it("is ended when it is told to stop and does not: the turn was interrupted, and what waited behind it hears why", async () => {
    const deaf = `console.log('{"type":"ready","version":"0.1.0"}');
      process.stdin.once("data", (line) => {
        console.log(JSON.stringify({ type: "stream_start", msg_id: JSON.parse(line).msg_id }));
        process.stdin.resume();
      });`;
    const driver = new Driver(aionrs, [process.execPath, "-e", deaf, "--"], { stopSeconds: 0.3 });
    driver.open();
    driver.prompt("m1", "hang");
    driver.prompt("m2", "wait behind it");
    await driver.next("turn.started");
    driver.send({ type: "turn.interrupt", id: "stop", session: "s", turn: "m1" });
    expect(await driver.ended("m1")).toMatchObject({ outcome: "interrupted" });
    const verdict = "The agent did not stop within 0.3 s and was ended";
    expect(driver.of("notice")).toMatchObject([{ level: "warning", text: verdict, session: "s" }]);
    expect(await driver.next("reply", (event) => event.parent === "op-m2")).toMatchObject({ status: "error", fault: { message: verdict } });
  });

  it("is not held to a stop that it was never told, because it meant another turn", async () => {
    const slow = `console.log('{"type":"ready","version":"0.1.0"}');
      process.stdin.once("data", (line) => {
        const { msg_id } = JSON.parse(line);
        console.log(JSON.stringify({ type: "stream_start", msg_id }));
        setTimeout(() => console.log(JSON.stringify({ type: "stream_end", msg_id })), 1000);
      });`;
    const driver = new Driver(aionrs, [process.execPath, "-e", slow, "--"], { stopSeconds: 0.1 });
    driver.open();
    driver.prompt("m1", "go on");
    await driver.next("turn.started");
    driver.send({ type: "turn.interrupt", id: "stop", session: "s", turn: "m0" });
    expect(await driver.ended("m1")).toMatchObject({ outcome: "completed" });
  });

  it("says no stream_start for a slash command: there is a turn all the same", async () => {
    const driver = real();
    driver.open();
    driver.prompt("m1", "help");
    driver.prompt("m2", "hello");
    expect(await driver.ended("m1")).toMatchObject({ outcome: "completed" });
    expect(await driver.ended("m2")).toMatchObject({ outcome: "completed" });
  });

  it("may say a line twice, in the wrong place, in no language at all: that is passed on and harms nothing", async () => {
    const driver = real();
    driver.open();
    driver.prompt("m1", "odd");
    expect(await driver.ended("m1")).toMatchObject({ outcome: "completed" });
    expect(driver.of("other").map(({ name }) => name)).toEqual(["pong", "tool_running", "tool_result"]);
    expect(driver.of("error")).toMatchObject([{ fault: { code: "protocol", message: expect.stringContaining("not json") } }]);
    expect(driver.of("tool.ended").map(({ call, status }) => [call, status])).toEqual([
      ["u1", "ok"],
      ["u2", "cancelled"],
      ["u3", "cancelled"],
    ]);
  });
});

describe("the start", () => {
  it("that fails is told with the last words of stderr", async () => {
    const driver = real("0.1.36", "refuse");
    driver.open();
    driver.prompt("m1", "hello");
    expect(await driver.next("reply", (event) => event.parent === "open")).toMatchObject({
      to: "session.open",
      status: "error",
      fault: { code: "launch", message: expect.stringMatching(/exited with code 1.*No API key found\. Set ANTHROPIC_API_KEY/) },
    });
    expect(await driver.next("reply", (event) => event.parent === "op-m1")).toMatchObject({ status: "error" });
    expect(driver.of("turn.started")).toEqual([]);
  });

  it("that ends in silence is an error as well", async () => {
    const driver = real("0.1.36", "vanish");
    driver.open();
    expect(await driver.next("reply")).toMatchObject({
      to: "session.open",
      status: "error",
      fault: { message: expect.stringContaining("exit code 0") },
    });
  });

  it("that the document's way refuses is told in its own words", async () => {
    const driver = real("0.1.0", "config-error");
    driver.open();
    expect(await driver.next("reply")).toMatchObject({
      to: "session.open",
      fault: { code: "config", message: "ANTHROPIC_API_KEY not set" },
    });
  });

  it.each([
    ["mcp-error", ["session.ready", "catalog.updated", "error"]],
    ["chatty", ["error", "session.ready", "catalog.updated"]],
  ])("goes on after an error before ready (%s), which is told", async (start, types) => {
    const driver = real("0.1.36", start);
    driver.open();
    driver.prompt("m1", "hello");
    expect(await driver.ended("m1")).toMatchObject({ outcome: "completed" });
    expect(driver.all.slice(0, 3).map(({ type }) => type)).toEqual(types);
  });

  it("of a program that cannot be found is an error with its name", async () => {
    const driver = new Driver(aionrs, ["/nonexistent/aionrs"]);
    driver.open();
    expect(await driver.next("reply")).toMatchObject({
      to: "session.open",
      status: "error",
      fault: { message: expect.stringContaining("/nonexistent/aionrs") },
    });
  });

  it("with another major version is refused, and the program ended", async () => {
    const driver = real("1.0.0");
    driver.open();
    driver.prompt("m1", "hello");
    expect(await driver.next("reply", (event) => event.parent === "open")).toMatchObject({
      status: "error",
      fault: { code: "version", message: "The agent speaks aionrs 1.0.0, and we speak 0.1.0: the major versions differ" },
    });
    expect(await driver.next("reply", (event) => event.parent === "op-m1")).toMatchObject({ status: "error", fault: { code: "version" } });
    expect(driver.of("session.ready")).toEqual([]);
  });

  it("in a mode that it does not have is refused; auto_edit is set once it is ready", async () => {
    const plan = real();
    plan.open({ mode: "plan" });
    expect(await plan.next("reply")).toMatchObject({
      to: "session.open",
      status: "error",
      fault: { code: "unsupported", message: expect.stringContaining("plan") },
    });
    const restricted = real();
    restricted.open({ rules: [{ deny: "Bash" }] });
    expect(await restricted.next("reply")).toMatchObject({
      status: "error",
      fault: { message: expect.stringContaining("deny and ask rules") },
    });
    const driver = real();
    driver.open({ mode: "auto_edit", rules: [{ allow: "Bash" }] });
    expect(await driver.next("notice", ({ text }) => text === "mode updated: auto_edit")).toBeDefined();
    expect(driver.of("notice")[0]).toMatchObject({ level: "warning", text: expect.stringContaining("rules") });
  });
});

describe("our own command, driven", () => {
  it("does everything the document says: flags, approvals by category, stop without leaving, resume", async () => {
    const cwd = scratch();
    const model = script([
      { call: { tool: "Write", args: { file_path: "a", content: "1\n" }, id: "t1" } },
      { call: { tool: "Edit", args: { file_path: "a", old_string: "1", new_string: "2" }, id: "t2" } },
      { say: "done" },
      { steps: [{ say: "hm" }, { wait: "forever" }] },
      { say: "still here" },
    ]);
    const driver = new Driver(aionrs, [process.execPath, PARLEY]);
    driver.open({ provider: "rehearsal", model, cwd }, { sessionId: "mine" });
    driver.prompt("m1", "go");
    await driver.next("approval.requested");
    driver.send({ type: "approval.answer", session: "s", answers: [{ call: "t1", decision: "allow", grant: "category" }] });
    await driver.ended("m1");
    expect(driver.of("approval.requested")).toHaveLength(1);
    expect(driver.of("tool.ended")[1]).toMatchObject({
      status: "ok",
      output: [{ type: "diff", path: "a", patch: expect.stringContaining("-1\n+2"), stat: { added: 1, removed: 1 } }],
    });
    driver.prompt("m2", "wait");
    await driver.next("text.delta", (event) => event.turn === "m2");
    driver.send({ type: "turn.interrupt", session: "s", turn: "m2" });
    expect(await driver.ended("m2")).toMatchObject({ outcome: "interrupted" });
    driver.prompt("m3", "and?");
    await driver.ended("m3");
    expect([driver.text("m3"), driver.of("session.ready")[0]?.sessionId]).toEqual(["still here", "mine"]);
  });
});
