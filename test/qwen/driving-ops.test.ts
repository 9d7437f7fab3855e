/** What a host asks of an agent of the Qwen RFC, as the agent hears it: sessions by name, prompts with options, commands, hints, answers. */
import { describe, expect, it } from "vitest";
import type { ConnectOptions } from "../../src/link/connect.js";
import { qwen } from "../../src/dialects/qwen/index.js";
import { Driver } from "../support/driver.js";
import { fixture } from "../support/processes.js";

function agent(start = "ready", options: ConnectOptions = {}): Driver {
  return new Driver(qwen, [process.execPath, fixture("qwen.mjs"), "ours", start], options);
}

function opened(config: Parameters<Driver["open"]>[0] = {}): Driver {
  const driver = agent();
  driver.open(config);
  return driver;
}

describe("sessions", () => {
  it("Q30, Q31: several in one process, each under the name that the agent gives it, and their turns apart", async () => {
    const driver = agent();
    driver.open({ model: "one" }, { session: "a", id: "open-a" });
    driver.open({ model: "two" }, { session: "b", id: "open-b" });
    driver.open({ model: "three" }, { session: "c", id: "open-c", sessionId: "mine" });
    driver.prompt("t1", "hello", { session: "a", id: "a1" });
    driver.prompt("t1", "hello", { session: "b", id: "b1" });
    driver.prompt("t1", "hello", { session: "c", id: "c1" });
    // Behind the name of its session, which comes with the answer to the first.
    driver.prompt("t2", "options", { session: "b", id: "b2" });
    driver.prompt("t2", "options", { session: "a", id: "a2" });
    await driver.next("turn.ended", ({ session, turn }) => session === "b" && turn === "t2");
    const texts = driver.of("text.done").map(({ session, turn, text }) => [session, turn, text]);
    expect(texts).toEqual([
      ["a", "t1", "one: hello"],
      ["b", "t1", "two: hello"],
      ["c", "t1", "three: hello"],
      ["a", "t2", expect.stringContaining('"session":"session-0"')],
      ["b", "t2", expect.stringContaining('"session":"session-1"')],
    ]);
    expect(driver.of("session.ready").map(({ session, sessionId }) => [session, sessionId])).toEqual([
      ["a", "session-0"],
      ["b", undefined],
      ["c", "mine"],
    ]);
    expect(driver.of("session.updated")).toMatchObject([{ session: "b", sessionId: "session-1" }]);
    expect(driver.started).toHaveLength(1);
  });

  it("a stored one is asked for by its name", async () => {
    const driver = agent();
    driver.open({}, { open: "resume", sessionId: "stored" });
    await driver.say("t1", "options");
    expect(JSON.parse(driver.text("t1"))).toMatchObject({ session: "stored" });
  });

  it("Q3: what was said before comes with the first prompt, and so does the system prompt", async () => {
    const driver = opened({ system: "Be brief." });
    const messages = [
      { role: "user" as const, text: "I am Ann" },
      { role: "assistant" as const, text: "Hello Ann" },
    ];
    driver.send({ type: "session.seed", id: "seed", session: "s", text: "", messages });
    await driver.say("t1", "history");
    expect(driver.text("t1")).toBe("system: Be brief.|user: I am Ann|assistant: Hello Ann");
    await driver.say("t2", "options");
    expect(driver.text("t2")).toContain("qwen-coder");
  });

  it("an interrupt that names none means all that runs, and is answered", async () => {
    const driver = opened();
    driver.open({}, { session: "other", id: "open-other" });
    driver.send({ type: "turn.interrupt", id: "idle" });
    expect(await driver.reply("idle")).toMatchObject({ status: "noop" });
    driver.prompt("t1", "hang");
    await driver.next("turn.started");
    driver.send({ type: "turn.interrupt", id: "stop" });
    expect(await driver.reply("stop")).toMatchObject({ status: "ok" });
    expect(await driver.ended("t1")).toMatchObject({ outcome: "interrupted" });
  });

  it("is closed: what runs is cancelled, and the process lives on for the others", async () => {
    const driver = opened();
    driver.open({}, { session: "other", id: "open-other" });
    driver.prompt("t1", "hang");
    await driver.next("turn.started");
    driver.send({ type: "session.close", session: "s" });
    await driver.next("session.ended", ({ session }) => session === "s");
    expect(await driver.ended("t1")).toMatchObject({ outcome: "interrupted" });
    expect(await driver.say("t2", "hello", { session: "other" })).toMatchObject({ outcome: "completed" });
  });

  it.each([
    [{ mode: "plan" as const }, /plan mode/],
    [{ disallowedTools: ["Bash"] }, /disallowedTools/],
    [{ rules: [{ deny: "Bash" }] }, /deny and ask rules/],
    [{ workspace: { read: "host" as const } }, /a workspace of the host/],
  ])("that would do more than was asked for is refused: %o", async (config, why) => {
    const driver = agent();
    driver.open(config);
    expect(await driver.reply("open")).toMatchObject({ status: "error", fault: { message: expect.stringMatching(why) } });
  });

  it("in another folder needs another process", async () => {
    const driver = opened({ cwd: "/tmp" });
    driver.open({ cwd: "/" }, { session: "other", id: "open-other" });
    expect(await driver.reply("open-other")).toMatchObject({
      fault: { message: expect.stringContaining("one folder, this one in '/tmp'") },
    });
  });

  it("what cannot be said and restricts nothing is told", async () => {
    const driver = opened({ appendSystem: "x", mcpServers: { files: { command: "node" } } });
    expect((await driver.next("notice")).text).toBe("Qwen cannot be told appendSystem, MCP servers that are not its host's");
  });
});

describe("prompts", () => {
  it("Q36, Q37: choices of the session and of the prompt go along, and a prompt's tools give no more than the session's", async () => {
    const driver = opened({ model: "m1", temperature: 0.2, allowedTools: ["Read", "Edit"] });
    await driver.say("t1", "options");
    await driver.say("t2", "options", { overrides: { model: "m2", tools: ["Read", "Bash"], maxTokens: 9 } });
    driver.send({ type: "session.configure", id: "c", session: "s", patch: { model: "m3" } });
    expect(await driver.next("session.updated")).toMatchObject({ parent: "c", config: { model: "m3" } });
    await driver.say("t3", "options");
    expect(["t1", "t2", "t3"].map((turn): unknown => JSON.parse(driver.text(turn)))).toMatchObject([
      { model: "m1", options: { temperature: 0.2, tool_overrides: ["Read", "Edit"] } },
      { model: "m2", options: { temperature: 0.2, max_tokens: 9, tool_overrides: ["Read"] } },
      { model: "m3", options: { temperature: 0.2 } },
    ]);
  });

  it("calls in the model's place, and going on", async () => {
    const driver = opened();
    await driver.say("t1", "continue", { continues: true, calls: [{ id: "x", name: "Read", args: { file_path: "a" } }] });
    expect(JSON.parse(driver.text("t1"))).toEqual({
      continuation: true,
      tool_request: { call_id: "x", name: "Read", args: { file_path: "a" } },
    });
  });

  it("a text that begins like a command is none", async () => {
    const driver = opened();
    await driver.say("t1", "/etc/hosts, what is that?");
    expect(driver.text("t1")).toBe("qwen-coder: \u200b/etc/hosts, what is that?");
  });

  it("a text mentions only what the prompt says that it mentions", async () => {
    const driver = opened();
    const quoted = { type: "file" as const, name: "a", text: "see @b" };
    await driver.say("t1", "", { parts: [{ type: "text", text: "@a, \\@b and me@c " }, quoted] });
    expect(driver.text("t1")).toBe("qwen-coder: \\@a, \\@b and me\\@c see \\@b");
    await driver.say("t2", "", { parts: [{ type: "text", text: "@a " }, quoted], mentions: true });
    expect(driver.text("t2")).toBe("qwen-coder: @a see \\@b");
  });

  it("a prompt behind what was said before is as much words as any other", async () => {
    const driver = opened();
    driver.send({ type: "session.seed", session: "s", text: "before @a" });
    await driver.say("t1", "/stats @b");
    expect(driver.text("t1")).toContain("\u200b/stats \\@b");
  });

  it("images and files are parts of their own", async () => {
    const driver = opened();
    const parts = [
      { type: "image" as const, mime: "image/png", data: "AAAA" },
      { type: "file" as const, path: "a.txt" },
    ];
    await driver.say("t1", "", { parts });
    expect(driver.text("t1")).toBe("qwen-coder: [inline_data][file_data]");
  });

  it("Q64: a sub-agent's words are under its call", async () => {
    const driver = opened();
    await driver.say("t1", "delegate");
    expect(driver.of("text.done")).toMatchObject([{ under: "a1", text: "from below" }, { text: "qwen-coder: delegate" }]);
    expect(driver.of("tool.ended")).toMatchObject([{ call: "a1", output: [{ text: "seen" }] }]);
  });

  it("Q25: events of the session say what they say", async () => {
    const driver = opened();
    expect(await driver.say("t1", "compress")).toMatchObject({ outcome: "completed", finish: "length" });
    expect(driver.of("compaction")).toMatchObject([{ phase: "ended", before: 12000, after: 8000 }]);
  });

  it("Q55: a question that has run out is answered by nobody", async () => {
    const driver = opened();
    await driver.say("t1", "expire");
    expect(driver.of("tool.ended")).toMatchObject([{ call: "e1", status: "denied" }]);
    expect(driver.of("notice")).toMatchObject([{ level: "warning", text: "timed out after 60 s" }]);
    driver.send({ type: "approval.answer", id: "late", session: "s", answers: [{ call: "e1", decision: "allow" }] });
    expect(await driver.reply("late")).toMatchObject({ status: "noop" });
  });

  it("one that the agent refuses is answered, and has no turn", async () => {
    const driver = agent("forgetful");
    driver.open({}, { open: "resume", sessionId: "lost" });
    driver.prompt("t1", "hello");
    expect(await driver.reply("op-t1")).toMatchObject({
      status: "error",
      fault: { code: "session_not_found", message: "no session lost" },
    });
    expect(driver.of("turn.started")).toEqual([]);
  });
});

describe("modes, which the wire cannot set, are kept here", () => {
  it("what they allow is answered, what they do not is asked", async () => {
    const driver = opened({ mode: "auto_edit" });
    driver.prompt("t1", "ask");
    expect(await driver.next("approval.requested")).toMatchObject({ calls: [{ id: "c0" }] });
    driver.answer("c0", "allow");
    await driver.ended("t1");
    expect(driver.of("approval.requested")).toHaveLength(1);
    driver.send({ type: "session.configure", session: "s", patch: { mode: "yolo" } });
    await driver.say("t2", "ask");
    expect(driver.of("approval.requested")).toHaveLength(1);
    expect(driver.of("tool.ended").map(({ status }) => status)).toEqual(["ok", "ok", "ok", "ok"]);
  });
});

describe("commands and hints", () => {
  it("Q40: a command is answered; one that becomes a prompt has a turn", async () => {
    const driver = opened();
    const command = (name: string, args = ""): void =>
      driver.send({ type: "turn.prompt", id: name, session: "s", turn: name, parts: [], command: { name, args } });
    command("chat list", " now");
    command("model");
    command("quit");
    command("nope");
    command("skill");
    expect((await driver.reply("chat list")).data).toMatchObject({ result: { type: "message", level: "info", text: "list now" } });
    expect((await driver.reply("model")).data).toMatchObject({ command: { name: "model" }, result: { type: "dialog", dialog: "model" } });
    expect((await driver.reply("quit")).data).toMatchObject({ result: { type: "message", text: "quit_confirmation" } });
    expect((await driver.reply("nope")).data).toMatchObject({ result: { level: "error" } });
    expect((await driver.reply("skill")).data).toMatchObject({ result: { type: "submit_prompt" } });
    expect(await driver.ended("skill")).toMatchObject({ outcome: "completed", parent: "skill" });
    expect(driver.of("turn.started")).toHaveLength(1);
  });

  it("Q44: hints are answered, after a while, not at all, or by the next one", async () => {
    const driver = opened();
    await driver.next("session.ready");
    const hint = (id: string, text: string): void => driver.send({ type: "command.suggest", id, session: "s", trigger: "slash", text });
    hint("h1", "/c");
    expect((await driver.reply("h1")).data).toEqual({
      suggestions: [{ label: "chat", value: "chat", description: "Chats." }],
      perfect: false,
    });
    hint("h2", "/slow");
    await driver.reply("h2");
    expect(driver.of("reply").filter(({ parent }) => parent === "h2")).toMatchObject([{ status: "loading" }, { status: "ok" }]);
    hint("h3", "/bad");
    expect(await driver.reply("h3")).toMatchObject({ status: "error", fault: { message: "no index" } });
  });
});

describe("what the agent asks of its host", () => {
  it("hooks and MCP messages, answered and refused", async () => {
    const driver = opened({ hostHooks: { pre_tool_use: "cb" }, mcpServers: { mine: { type: "host" } } });
    driver.prompt("t1", "hook");
    const hook = await driver.next("host.request", ({ kind }) => kind === "hook");
    expect(hook.data).toMatchObject({ callback: "cb", input: { event: "pre_tool_use" } });
    driver.send({ type: "host.answer", session: "s", request: hook.request, ok: true, data: { decision: "deny" } });
    await driver.ended("t1");
    driver.prompt("t2", "mcp");
    const first = await driver.next("host.request", ({ turn }) => turn === "t2");
    expect(first).toMatchObject({ kind: "mcp", data: { server: "mine", message: { method: "tools/list" } } });
    driver.send({ type: "host.answer", session: "s", request: first.request, ok: true, data: { jsonrpc: "2.0", id: 1, result: {} } });
    await driver.ended("t2");
    driver.prompt("t3", "mcp");
    const again = await driver.next("host.request", ({ turn }) => turn === "t3");
    driver.send({ type: "host.answer", session: "s", request: again.request, ok: false, data: { message: "no such server" } });
    await driver.ended("t3");
    expect(["t1", "t2", "t3"].map((turn): unknown => JSON.parse(driver.text(turn)))).toEqual([
      { decision: "deny" },
      { jsonrpc: "2.0", id: 1, result: {} },
      { message: "no such server", retryable: false },
    ]);
  });

  it("Q34: a tool of the host's own runs here", async () => {
    const driver = opened({ hostTools: [{ name: "lookup" }] });
    driver.prompt("t1", "host tool");
    expect(await driver.next("host.request")).toMatchObject({ kind: "tool", call: "h1", data: { name: "lookup", args: { n: 1 } } });
    driver.send({ type: "host.answer", session: "s", request: driver.of("host.request")[0]?.request ?? "", ok: true, data: "found" });
    await driver.ended("t1");
    expect(driver.of("tool.ended")).toMatchObject([{ status: "ok", output: [{ text: '{"output":"found"}' }] }]);
  });

  it("what nobody here knows is refused, and the turn goes on", async () => {
    const driver = opened();
    await driver.say("t1", "control");
    expect(driver.text("t1")).toBe("Unknown control request subtype: no_such_subtype");
  });
});

describe("an agent that is not well", () => {
  it.each([
    ["version-99", { code: "version", message: "The agent speaks version 99 of the protocol, and we speak 1" }],
    ["refuse", { code: "config", message: "QWEN_KEY is not set" }],
  ])("is refused at its first line: %s", async (start, fault) => {
    const driver = agent(start);
    driver.open();
    driver.prompt("t1", "hello");
    expect(await driver.reply("open")).toMatchObject({ status: "error", fault });
    expect(await driver.reply("op-t1")).toMatchObject({ status: "error", fault });
    await driver.next("closed");
  });

  it.each(["version-text", "silent", "chatty"])("is driven all the same: %s", async (start) => {
    const driver = agent(start);
    driver.open();
    expect(await driver.say("t1", "hello")).toMatchObject({ outcome: "completed" });
    expect(driver.of("error").map(({ fault }) => fault.code)).toEqual(start === "chatty" ? ["protocol"] : []);
  });

  it("that never greets and never answers is given up", async () => {
    const driver = agent("deaf", { readySeconds: 0.5 });
    driver.open();
    expect(await driver.reply("open")).toMatchObject({ fault: { message: "The agent was not ready after 0.5 s and was ended" } });
  });

  it("that leaves a cancel or a hint unanswered has them refused in time", async () => {
    const driver = agent("mute", { replySeconds: 0.3 });
    driver.open();
    driver.prompt("t1", "hang");
    await driver.next("turn.started");
    driver.send({ type: "turn.interrupt", id: "stop", session: "s" });
    driver.send({ type: "command.suggest", id: "hint", session: "s", trigger: "slash", text: "/c", cursor: 2 });
    for (const [id, what] of [
      ["stop", "turn.interrupt"],
      ["hint", "command.suggest"],
    ] as const) {
      const fault = { code: "timeout", message: `The agent did not answer ${what} within 0.3 s` };
      expect(await driver.reply(id)).toMatchObject({ status: "error", fault });
    }
  });

  it.each([
    ["fatal", "invalid tool input", "QWEN_INVALID_TOOL_ARGS"],
    ["unsupported", "unsupported_protocol", "version"],
  ])("that cannot go on ends its turn with its own words: %s", async (text, why, code) => {
    const driver = opened();
    expect(await driver.say("t1", text)).toMatchObject({ outcome: "failed", fault: { code, message: expect.stringContaining(why) } });
    await driver.next("closed");
  });

  it("Q12: one that forgets its summary has ended when it says anything else", async () => {
    const driver = agent("ready", { heartbeat: { every: 0.1, within: 30 } });
    driver.open();
    expect(await driver.say("t1", "no summary")).toMatchObject({ outcome: "completed" });
    expect(await driver.say("t2", "hello")).toMatchObject({ outcome: "completed" });
  });
});

describe("heartbeats", () => {
  it("Q47: a ping is answered while a turn runs, with a session and without", async () => {
    const driver = opened();
    driver.prompt("t1", "hang");
    await driver.next("turn.started");
    driver.send({ type: "ping", id: "p1", session: "s" });
    driver.send({ type: "ping", id: "p2" });
    expect(await driver.reply("p1")).toMatchObject({ to: "ping", status: "ok" });
    expect(await driver.reply("p2")).toMatchObject({ to: "ping", status: "ok" });
  });

  it("an agent that hangs is noticed and ended; the next open starts another, and a stored session goes on there", async () => {
    const driver = agent("ready", { heartbeat: { every: 0.2, within: 1 }, redials: true });
    driver.open({}, { sessionId: "kept" });
    expect(await driver.say("t1", "freeze")).toMatchObject({
      outcome: "failed",
      fault: { code: "launch", message: expect.stringContaining("said nothing for 1 s") },
    });
    await driver.next("session.ended");
    driver.prompt("t2", "nowhere");
    expect(await driver.reply("op-t2")).toMatchObject({ status: "error", fault: { code: "session" } });
    driver.open({}, { id: "again", open: "resume", sessionId: "kept" });
    expect(await driver.next("session.ready", ({ parent }) => parent === "again")).toMatchObject({ sessionId: "kept" });
    expect(await driver.say("t3", "hello")).toMatchObject({ outcome: "completed" });
    expect(driver.started).toHaveLength(2);
  });
});

describe("a host that says no more", () => {
  it.each(["hook", "mcp"])("leaves no %s of its own waiting", async (kind) => {
    const driver = opened();
    driver.prompt("t1", kind);
    await driver.next("host.request");
    driver.send({ type: "shutdown", id: "leave", when: "drained" });
    expect(await driver.ended("t1")).toMatchObject({ outcome: "completed" });
    expect(driver.text("t1")).toContain("the host closed its input");
    expect(driver.of("host.settled")).toMatchObject([{ ok: false }]);
  });
});
