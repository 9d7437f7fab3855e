/**
 * Driving a shipped Qwen Code as its SDK does: the arguments, the handshake, and a reader as robust as the SDK's. The stand-in behaves as
 * the real program was seen to behave.
 */
import { describe, expect, it } from "vitest";
import type { Event } from "../../src/core/event.js";
import { qwenShipped } from "../../src/dialects/qwen-shipped/index.js";
import type { ConnectOptions } from "../../src/link/connect.js";
import { Driver } from "../support/driver.js";
import { fixture } from "../support/processes.js";

function agent(start = "ready", { age = "0.24", ...options }: ConnectOptions & { age?: string } = {}): Driver {
  return new Driver(qwenShipped, [process.execPath, fixture("qwen-shipped.mjs"), age, start], options);
}

function opened(config: Parameters<Driver["open"]>[0] = {}): Driver {
  const driver = agent();
  driver.open(config);
  return driver;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe.each([true, false])("with partial messages: %s", (streaming) => {
  it("a conversation: ready, words, usage, ends", async () => {
    const driver = opened({ model: "m1", streaming });
    driver.prompt("t1", "hello");
    driver.prompt("t2", "again");
    await driver.ended("t2");
    expect(await driver.next("session.ready")).toMatchObject({ parent: "open", sessionId: expect.stringMatching(UUID) });
    expect([driver.text("t1"), driver.text("t2")]).toEqual(["m1: hello", "m1: again"]);
    // The wire counts for the whole process.
    const usage = { input: 120, output: 14, cacheRead: 80 };
    expect(driver.of("turn.ended")).toMatchObject([
      { outcome: "completed", parent: "op-t1", usage },
      { outcome: "completed", parent: "op-t2", usage },
    ]);
    expect(driver.of("text.delta").length > 0).toBe(streaming);
    expect(driver.of("error")).toEqual([]);
  });

  it("thinking, a call and words in one answer, whose blocks all have the number 0", async () => {
    const driver = opened({ streaming });
    await driver.say("t1", "think");
    expect(driver.of("thinking.done")).toMatchObject([{ text: "hmm" }]);
    await driver.say("t2", "run");
    expect(driver.of("tool.requested")).toMatchObject([{ call: { id: "r1", name: "Bash", args: { command: "ls" }, category: "exec" } }]);
    expect(driver.of("tool.ended")).toMatchObject([{ call: "r1", status: "ok", output: [{ text: "a.txt" }] }]);
    const progress = driver.of("tool.progress").map(({ text }) => text);
    expect(progress).toEqual(streaming ? ["still running after 10 s, 3 lines so far", "half"] : []);
    expect(driver.of("tool.delta").map(({ text }) => text)).toEqual(streaming ? ['{"command":"ls"}'] : []);
  });

  it("a sub-agent's words and calls are under its call", async () => {
    const driver = opened({ streaming });
    await driver.say("t1", "delegate");
    expect(driver.of("text.done")).toMatchObject([{ under: "a1", text: "from below" }, { text: "fake-model: delegate" }]);
    expect(driver.of("tool.requested")).toMatchObject([{ call: { id: "a1", name: "Spawn" } }, { call: { id: "b1" }, under: "a1" }]);
    expect(driver.of("tool.ended")).toMatchObject([{ call: "b1" }, { call: "a1" }]);
    expect(driver.of("notice").map(({ text }) => text)).toEqual(["Task started: look", "Background agent completed.", "Task completed"]);
  });
});

describe("the launch", () => {
  it("has the SDK's arguments in the SDK's order, and its handshake", async () => {
    const driver = opened({
      model: "m1",
      system: "S",
      appendSystem: "A",
      mode: "auto_edit",
      maxTurns: 7,
      allowedTools: ["Read", "Bash"],
      disallowedTools: ["Edit"],
      approveTools: ["Read"],
      provider: "openai",
      maxToolCalls: 9,
      nesting: 2,
      directories: ["/a", "/b"],
      fallbackModels: ["m2", "m3"],
      effort: "high",
      answerSeconds: 30,
      subagents: [{ name: "helper", description: "helps", system: "You help.", tools: ["Read"] }],
      mcpServers: { calc: { type: "host" }, files: { command: "node", args: ["s.js"] }, web: { url: "https://x.test/mcp" } },
    });
    await driver.say("t1", "given");
    const { given, argv } = JSON.parse(driver.text("t1")) as { given: unknown; argv: string[] };
    const { sessionId = "" } = await driver.next("session.ready");
    const words = [
      "--input-format stream-json --output-format stream-json --channel=SDK --model m1",
      "--system-prompt S --append-system-prompt A --approval-mode auto-edit",
      "--core-tools read_file,run_shell_command --exclude-tools edit --allowed-tools read_file",
      `--auth-type openai --include-partial-messages --session-id ${sessionId}`,
      "--max-tool-calls 9 --max-subagent-depth 2 --include-directories /a,/b --fallback-model m2,m3",
    ];
    expect(argv.join(" ")).toBe(words.join(" "));
    expect(given).toEqual({
      subtype: "initialize",
      hooks: null,
      timeout: { canUseTool: 30000 },
      sdkMcpServers: { calc: { type: "sdk", name: "calc" } },
      mcpServers: { files: { command: "node", args: ["s.js"] }, web: { httpUrl: "https://x.test/mcp" } },
      agents: [{ name: "helper", description: "helps", systemPrompt: "You help.", tools: ["read_file"], level: "session" }],
      effort: "high",
    });
    expect(driver.of("notice")).toEqual([]);
  });

  it("resumes by the agent's name, or copies what it resumes", async () => {
    const id = "123e4567-e89b-42d3-a456-426614174999";
    const driver = agent();
    driver.open({}, { open: "resume", sessionId: id, fork: true });
    await driver.say("t1", "given");
    expect(driver.text("t1")).toContain(`"--resume","${id}","--fork-session"`);
    expect(await driver.next("session.ready")).toMatchObject({ sessionId: id });
  });

  it("asks for approvals where nobody said a mode", async () => {
    const driver = opened();
    await driver.say("t1", "given");
    expect(JSON.parse(driver.text("t1"))).toMatchObject({ mode: "default" });
  });

  it.each([
    [{ rules: [{ ask: "Bash" }] }, /deny and ask rules/],
    [{ allowedTools: [] }, /to use no tools/],
    [{ workspace: { exec: "host" as const } }, /a workspace of the host/],
  ])("that would do more than was asked for is refused: %o", async (config, why) => {
    const driver = agent();
    driver.open(config);
    expect(await driver.reply("open")).toMatchObject({ status: "error", fault: { message: expect.stringMatching(why) } });
    expect(driver.started).toEqual([]);
  });

  it("tells what cannot be said", async () => {
    const driver = opened({ temperature: 0.5, provider: "lab", approveTools: [] });
    expect((await driver.next("notice")).text).toBe("Qwen Code cannot be told temperature, provider, approveTools");
  });
});

describe("turns", () => {
  it("a call is asked about, and its arguments go back with the permission; one whose arguments were changed is denied", async () => {
    const driver = opened();
    driver.prompt("t1", "ask");
    expect(await driver.next("approval.requested")).toMatchObject({ message: "Execute", calls: [{ id: "c0", args: { command: "ls" } }] });
    driver.answer("c0", "allow");
    await driver.ended("t1");
    driver.prompt("t2", "ask");
    await driver.next("approval.requested", ({ turn }) => turn === "t2");
    driver.answer("c0", "allow", { args: { command: "pwd" }, grant: "tool" });
    await driver.ended("t2");
    driver.prompt("t3", "ask");
    await driver.next("approval.requested", ({ turn }) => turn === "t3");
    driver.answer("c0", "allow", { args: { command: "ls" } });
    await driver.ended("t3");
    const why = "this agent's protocol cannot carry changed arguments";
    expect(driver.of("tool.ended")).toMatchObject([
      { status: "ok", output: [{ text: '{"command":"ls"}' }] },
      { status: "denied", reason: why },
      { status: "ok", output: [{ text: '{"command":"ls"}' }] },
    ]);
    expect(driver.of("tool.started").map(({ turn, args }) => [turn, args])).toEqual([
      ["t1", undefined],
      ["t3", undefined],
    ]);
  });

  it("the answers to a question travel as its changed arguments", async () => {
    const driver = opened();
    driver.prompt("t1", "question");
    await driver.next("approval.requested");
    driver.answer("q0", "allow", { args: { questions: [], answers: { 0: "B" } } });
    await driver.ended("t1");
    expect(driver.of("tool.ended")).toMatchObject([{ status: "ok", output: [{ text: '{"questions":[],"answers":{"0":"B"}}' }] }]);
  });

  it.each([true, false])("the most model calls of a turn are counted here, for each turn anew (streaming: %s)", async (streaming) => {
    const driver = opened({ maxTurns: 2, streaming });
    for (const turn of ["t1", "t2", "t3"])
      expect(await driver.say(turn, "busy")).toMatchObject({ outcome: "completed", finish: "max_turns" });
    expect(driver.of("tool.ended").map(({ turn }) => turn)).toEqual(["t1", "t1", "t2", "t2", "t3", "t3"]);
    expect(driver.of("notice").filter(({ kind }) => kind === "max_turns")).toHaveLength(3);
    expect(await driver.say("t4", "hello")).toMatchObject({ outcome: "completed", finish: "stop" });
    await driver.say("t5", "given");
    expect(driver.text("t5")).not.toContain("--max-session-turns");
  });

  it("a turn in which the agent only repeats its last result has failed by the agent's own limit", async () => {
    const driver = agent("capped");
    driver.open();
    expect(await driver.say("t1", "hello")).toMatchObject({ outcome: "completed" });
    const fault = { code: "limit", message: expect.stringContaining("its own limit of turns") };
    expect(await driver.say("t2", "hello")).toMatchObject({ outcome: "failed", fault });
  });

  it("what a stored session used before it is resumed does not count as a turn's usage", async () => {
    const driver = agent();
    driver.open({}, { open: "resume", sessionId: "123e4567-e89b-42d3-a456-426614174999" });
    // Its messages tell of the first turn; behind it is known what the process counts.
    expect((await driver.say("t1", "hello")).usage).toEqual({ input: 60, output: 7, cacheRead: 40 });
    expect((await driver.say("t2", "hello")).usage).toEqual({ input: 120, output: 14, cacheRead: 80 });
  });

  it("an image is left out, and the host and the model are told", async () => {
    const driver = opened();
    const parts = [
      { type: "text" as const, text: "look" },
      { type: "image" as const, mime: "image/png", data: "aGVyb24=" },
    ];
    await driver.say("t1", "", { parts });
    expect(driver.text("t1")).toBe("fake-model: look\n(An image of type image/png was left out: it cannot be sent to you)");
    expect(driver.of("notice")).toMatchObject([{ level: "warning", text: "Qwen Code takes no images over its protocol; 1 left out" }]);
  });

  it("two calls at once are answered in another order; a denial keeps its reason", async () => {
    const driver = opened();
    driver.prompt("t1", "two");
    await driver.next("approval.requested", ({ calls }) => calls[0]?.id === "c1");
    driver.answer("c1", "deny", { reason: "not now" });
    driver.answer("c0", "allow");
    await driver.ended("t1");
    expect(driver.of("tool.ended")).toMatchObject([
      { call: "c1", status: "denied", reason: "not now" },
      { call: "c0", status: "ok" },
    ]);
  });

  it("words behind the end of a turn are a turn of their own, and nobody waits for its end", async () => {
    const driver = opened();
    await driver.say("t1", "linger");
    await driver.next("text.done", ({ text }) => text === "and one more word");
    expect(await driver.say("t2", "hello")).toMatchObject({ outcome: "completed" });
    expect(driver.of("text.done").map(({ text }) => text)).toEqual(["done", "and one more word", "fake-model: hello"]);
    expect(driver.of("turn.ended").map(({ turn, outcome }) => [turn === "t1" || turn === "t2", outcome])).toEqual([
      [true, "completed"],
      [false, "completed"],
      [true, "completed"],
    ]);
  });

  it("failures: of a tool, of the provider, of patience", async () => {
    const driver = opened();
    await driver.say("t1", "error");
    expect(driver.of("tool.ended")).toMatchObject([{ status: "failed", output: [{ text: "File not found" }] }]);
    expect(await driver.say("t2", "fail")).toMatchObject({ outcome: "failed", reason: "[API Error: 401 no]", fault: { retryable: false } });
    // The wire says it as an answer, too; once is enough.
    expect(driver.of("text.done").map(({ text }) => text)).not.toContain("[API Error: 401 no]");
    expect(await driver.say("t3", "max turns")).toMatchObject({ outcome: "completed", finish: "max_turns" });
    expect(await driver.say("t4", "hello")).toMatchObject({ outcome: "completed" });
  });

  it("an interrupt keeps the session; one that names a prompt that waits ends only that; of nothing it is nothing", async () => {
    const driver = opened();
    driver.prompt("t1", "hang");
    driver.prompt("t2", "never");
    await driver.next("text.delta");
    driver.send({ type: "turn.interrupt", id: "i2", session: "s", turn: "t2" });
    expect(await driver.reply("i2")).toMatchObject({ status: "ok" });
    driver.send({ type: "turn.interrupt", id: "i1", session: "s" });
    expect(await driver.reply("i1")).toMatchObject({ status: "ok" });
    expect(await driver.ended("t1")).toMatchObject({ outcome: "interrupted", reason: "Operation cancelled." });
    expect(await driver.ended("t2")).toMatchObject({ outcome: "interrupted" });
    expect(await driver.say("t3", "hello")).toMatchObject({ outcome: "completed" });
    driver.send({ type: "turn.interrupt", id: "i3", session: "s" });
    expect(await driver.reply("i3")).toMatchObject({ status: "noop" });
  });

  it("an interrupt while a permission is pending", async () => {
    const driver = opened();
    driver.prompt("t1", "ask");
    await driver.next("approval.requested");
    driver.send({ type: "turn.interrupt", session: "s" });
    expect(await driver.ended("t1")).toMatchObject({ outcome: "interrupted" });
    expect(driver.of("tool.ended")).toMatchObject([{ status: "cancelled", reason: "Request aborted" }]);
    driver.answer("c0", "allow");
    expect(await driver.say("t2", "hello")).toMatchObject({ outcome: "completed" });
  });

  it("an older one leaves when it is interrupted: the turn was interrupted all the same", async () => {
    const driver = agent("ready", { age: "0.15" });
    driver.open();
    driver.prompt("t1", "hang");
    await driver.next("text.delta");
    driver.send({ type: "turn.interrupt", session: "s" });
    expect(await driver.ended("t1")).toMatchObject({ outcome: "interrupted" });
    await driver.next("session.ended");
  });

  it("ids that are used twice, results of nobody's calls, calls without a result", async () => {
    const driver = opened();
    await driver.say("t1", "twice");
    expect(driver.of("tool.ended").map(({ call }) => call)).toEqual(["d1", "d1#2"]);
    await driver.say("t2", "open");
    expect(driver.of("tool.ended").at(-1)).toMatchObject({ call: "o1", status: "cancelled" });
  });

  it("a command is a line that begins with a slash; a text that begins so is none, and an empty one is refused", async () => {
    const driver = opened();
    await driver.say("t1", "", { command: { name: "stats", args: "now" } });
    expect(driver.text("t1")).toBe("Statistics.");
    await driver.say("t2", "/stats now");
    expect(driver.text("t2")).toBe("fake-model: \u200b/stats now");
    driver.prompt("t3", "");
    expect(await driver.reply("op-t3")).toMatchObject({ status: "error", fault: { message: "Qwen Code takes no empty prompt" } });
  });

  it("mentions only what the prompt says that it mentions, and what a host attaches by its path", async () => {
    const driver = opened();
    const file = { type: "file" as const, path: "my notes.md" };
    const quoted = { type: "file" as const, name: "a", text: "see @b" };
    const link = { type: "file" as const, uri: "https://example.org/@/etc/passwd" };
    await driver.say("t1", "", { parts: [{ type: "text", text: "see @a, \\@b and me@c" }, file, quoted, link] });
    expect(driver.text("t1")).toBe("fake-model: see \\@a, \\@b and me\\@c\n@my\\ notes.md\nsee \\@b\nhttps://example.org/\\@/etc/passwd");
    await driver.say("t2", "", { parts: [{ type: "text", text: "see @a" }, quoted], mentions: true });
    expect(driver.text("t2")).toBe("fake-model: see @a\nsee \\@b");
    const image = { type: "image" as const, mime: "image/png", data: "AAAA" };
    await driver.say("t3", "", { parts: [image, { type: "text", text: "/stats @a" }] });
    expect(driver.text("t3")).toContain("\n/stats \\@a");
  });

  it("goes on with an unfinished turn, where there is one", async () => {
    const [driver, other] = [agent("unfinished"), agent()];
    driver.open();
    await driver.say("t1", "", { continues: true });
    expect(driver.text("t1")).toBe("fake-model: went on");
    other.open();
    other.prompt("t1", "", { continues: true });
    expect(await other.reply("op-t1")).toMatchObject({ status: "error", fault: { message: "There is no unfinished turn to go on with" } });
  });

  it("tells what happens beside the answer", async () => {
    const driver = opened();
    await driver.say("t1", "retry");
    expect(driver.of("notice").map(({ level, text }) => [level, text])).toEqual([
      ["warning", "Trying again, attempt 1"],
      ["warning", "Going on with b"],
      ["info", "in a worktree"],
    ]);
  });
});

describe("the session", () => {
  it("changes model, mode and effort; a change that the agent refuses is answered", async () => {
    const driver = opened();
    driver.send({ type: "session.configure", id: "c1", session: "s", patch: { model: "m2", mode: "yolo", effort: "max" } });
    expect(await driver.next("session.updated", ({ parent }) => parent === "c1")).toMatchObject({ config: { model: "m2", mode: "yolo" } });
    await driver.say("t1", "ask");
    expect([driver.of("approval.requested"), driver.text("t1")]).toEqual([[], "Using tools.|m2: ask"]);
    driver.send({ type: "session.configure", id: "c2", session: "s", patch: { model: "nobody", mode: "default" } });
    expect(await driver.reply("c2")).toMatchObject({ status: "error", fault: { message: "Unknown model" } });
  });

  it("tells what surrounds it, and what it is, with the first turn", async () => {
    const driver = opened({ mcpServers: { calc: { type: "host" } } });
    await driver.say("t1", "hello");
    expect(driver.of("catalog.updated")).toMatchObject([
      { whole: true, commands: [] },
      {
        commands: [{ name: "stats" }, { name: "compress" }],
        subagents: [{ name: "general-purpose" }],
        mcpServers: [{ name: "calc", status: "ready" }],
      },
    ]);
    expect(driver.of("session.updated")).toMatchObject([{ config: { model: "fake-model", mode: "default" } }]);
  });

  it("messages to the host's MCP servers are answered, notifications too", async () => {
    const driver = opened({ mcpServers: { calc: { type: "host" } } });
    driver.prompt("t1", "mcp");
    const list = await driver.next("host.request");
    expect(list).toMatchObject({ kind: "mcp", data: { server: "calc", message: { method: "tools/list" } } });
    driver.send({
      type: "host.answer",
      session: "s",
      request: list.request,
      ok: true,
      data: { jsonrpc: "2.0", id: 1, result: { tools: [] } },
    });
    const noted = await driver.next("host.request", ({ request }) => request !== list.request);
    driver.send({ type: "host.answer", session: "s", request: noted.request, ok: true });
    await driver.ended("t1");
    expect(driver.text("t1")).toBe(
      '{"mcp_response":{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}}{"mcp_response":{"jsonrpc":"2.0","result":{},"id":0}}',
    );
    driver.prompt("t2", "mcp");
    const again = await driver.next("host.request", ({ request }) => request !== list.request && request !== noted.request);
    driver.send({ type: "host.answer", session: "s", request: again.request, ok: false, data: { message: "no such server" } });
    const last = await driver.next("host.request", (event) => ![list, noted, again].some(({ request }) => request === event.request));
    driver.send({ type: "host.answer", session: "s", request: last.request, ok: false });
    await driver.ended("t2");
    expect(driver.text("t2")).toBe('"no such server""the host gave no reason"');
  });

  it("section 3.5: questions that nobody here can answer are refused", async () => {
    const driver = opened();
    await driver.say("t1", "control");
    expect(driver.text("t1")).toBe("Unknown control request subtype: hook_callback");
  });
});

describe("section 3.4: a reader as robust as the SDK's", () => {
  it("skips what it cannot read, passes on what it does not know, and takes a short result for an end", async () => {
    const driver = opened();
    expect(await driver.say("t1", "odd")).toMatchObject({ outcome: "completed" });
    expect(driver.of("error").map(({ fault }) => fault.message)).toEqual([
      expect.stringContaining("not json"),
      expect.stringContaining('without a "type"'),
      expect.stringContaining("invalid assistant"),
    ]);
    expect(driver.of("other").map(({ name }) => name)).toEqual(["weather"]);
    expect(await driver.say("t2", "hello")).toMatchObject({ outcome: "completed" });
  });

  it("takes names that every object knows for what they are: unknown", async () => {
    const driver = opened();
    expect(await driver.say("t1", "inherited")).toMatchObject({ outcome: "completed" });
    expect(driver.of("notice")).toEqual([]);
    expect(driver.of("other").map(({ name }) => name)).toEqual(["constructor", "__defineGetter__", "valueOf"]);
    expect(driver.of("catalog.updated").at(-1)).toMatchObject({ mcpServers: [{ name: "calc", status: "ready" }] });
    expect(driver.of("error")).toEqual([]);
  });

  it("refuses a second question about a call that is asked about", async () => {
    const driver = opened();
    driver.prompt("t1", "ask twice");
    await driver.next("notice", ({ text }) => text === "asked twice");
    driver.answer("c0", "allow");
    expect(await driver.ended("t1")).toMatchObject({ outcome: "completed" });
    expect(driver.of("approval.requested")).toHaveLength(1);
    expect(driver.text("t1")).toContain("asked about already");
  });

  it.each(["minimal", "noisy"])("is content with a handshake that says nothing, and with noise before it: %s", async (start) => {
    const driver = agent(start);
    driver.open();
    expect(await driver.say("t1", "hello")).toMatchObject({ outcome: "completed" });
    expect((await driver.next("session.ready")).sessionId).toMatch(UUID);
  });
});

describe("an agent that is not well", () => {
  it.each([
    ["unknown", /No saved session found/],
    ["unauthorized", /No auth type is selected/],
    ["refused", /not today/],
  ])("answers the open with its reason: %s", async (start, why) => {
    const driver = agent(start);
    driver.open();
    driver.prompt("t1", "hello");
    const fault = { message: expect.stringMatching(why) };
    expect(await driver.reply("open")).toMatchObject({ status: "error", fault });
    expect(await driver.reply("op-t1")).toMatchObject({ status: "error", fault });
  });

  it("owes answers to control requests: what it does not answer in time is refused, and the next prompt runs", async () => {
    const driver = agent("mute", { replySeconds: 0.3 });
    driver.open({ model: "m1" });
    driver.prompt("t0", "", { continues: true });
    driver.prompt("t1", "hello");
    driver.send({ type: "session.configure", id: "change", session: "s", patch: { model: "m2" } });
    const overdue = (what: string) => ({ code: "timeout", message: `The agent did not answer ${what} within 0.3 s` });
    expect(await driver.reply("op-t0")).toMatchObject({ status: "error", fault: overdue("turn.prompt continues") });
    expect(await driver.reply("change")).toMatchObject({ status: "error", fault: overdue("session.configure") });
    await driver.ended("t1");
    driver.prompt("t2", "hang");
    await driver.next("turn.started", ({ turn }) => turn === "t2");
    driver.send({ type: "turn.interrupt", id: "stop", session: "s" });
    expect(await driver.reply("stop")).toMatchObject({ status: "error", fault: overdue("turn.interrupt") });
  });

  it("a late answer is told to nobody; what it changed is", async () => {
    const driver = agent("mute", { replySeconds: 0.3 });
    driver.open({ model: "m1" });
    driver.send({ type: "session.configure", id: "change", session: "s", patch: { model: "m2" } });
    await driver.reply("change");
    await driver.say("t1", "answer now");
    expect(driver.of("reply")).toHaveLength(1);
    expect(driver.of("session.updated").filter(({ parent }) => parent === "change")).toEqual([]);
  });

  it("is given up when it never answers the handshake", async () => {
    const driver = agent("deaf", { readySeconds: 0.5 });
    driver.open();
    expect(await driver.reply("open")).toMatchObject({ fault: { message: "The agent was not ready after 0.5 s and was ended" } });
  });

  it("that dies in a turn ends it, and all that waits", async () => {
    const driver = opened();
    driver.prompt("t1", "die");
    driver.prompt("t2", "never");
    expect(await driver.ended("t1")).toMatchObject({ outcome: "failed", fault: { code: "limit" } });
    expect(await driver.reply("op-t2")).toMatchObject({ status: "error" });
    await driver.next("session.ended");
    driver.prompt("t3", "hello");
    const fault = { code: "session", message: expect.stringContaining("exited with code 53") };
    expect(await driver.reply("op-t3")).toMatchObject({ to: "turn.prompt", status: "error", fault });
    driver.open({}, { id: "again" });
    expect(await driver.say("t4", "hello")).toMatchObject({ outcome: "completed" });
  });

  it("has a process a session", async () => {
    const driver = opened();
    driver.open({ model: "other" }, { session: "b", id: "open-b" });
    await driver.say("t1", "hello", { session: "b" });
    const isOfB = (event: Event): boolean => event.session === "b";
    expect(driver.of("text.done").filter(isOfB)).toMatchObject([{ text: "other: hello" }]);
    expect(driver.started).toHaveLength(2);
  });
});
