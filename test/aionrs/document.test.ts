/** The document, case by case, from the outside: the built command, its real pipe, the rehearsal model and the real tools. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { OFFICIAL } from "../extensions/mcp-harness.js";
import { processesWith, scratch, until } from "../process/harness.js";
import { launch, launchWith, ready } from "./host.js";

const write = (file: string, id: string, content = "x") => ({ tool: "Write", args: { file_path: file, content }, id });
const read = (file: string, id: string) => ({ tool: "Read", args: { file_path: file }, id });
const edit = (file: string, id: string, from = "x", to = "y") => ({
  tool: "Edit",
  args: { file_path: file, old_string: from, new_string: to },
  id,
});
const bash = (command: string, id: string) => ({ tool: "Bash", args: { command }, id });
const mark = () => `parley-aionrs-${process.pid}-${Math.random().toString(36).slice(2)}`;

/** A PNG of one pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

describe("ready", () => {
  it("D1: emitted once after initialization completes, with version, session_id and capabilities", async () => {
    const host = await ready({ responses: [{ say: "a" }, { say: "b" }] });
    host.message("m1");
    host.message("m2");
    await host.stream("m2");
    expect(host.of("ready")).toEqual([
      {
        type: "ready",
        version: "0.1.0",
        session_id: expect.any(String),
        capabilities: { tool_approval: true, thinking: true, mcp: true },
      },
    ]);
    expect(host.events[0]?.type).toBe("ready");
  });

  it("D2: session_id is omitted when sessions are disabled in config, or by --no-session", async () => {
    const byConfig = await ready({ config: { sessions: { enabled: false } } });
    const byFlag = await ready({ args: ["--no-session"] });
    for (const host of [byConfig, byFlag]) expect(Object.keys(host.of("ready")[0] ?? {})).toEqual(["type", "version", "capabilities"]);
  });
});

describe("a message", () => {
  it("D3: agent responds with a stream of events: stream_start, text_delta, stream_end with usage", async () => {
    const usage = { input: 1500, output: 320, cacheRead: 800, cacheWrite: 200 };
    const host = await ready({ responses: [{ think: "hm", say: { pieces: ["Hi! ", "How can I help?"] }, usage }] });
    host.message("m1", "Hello");
    expect(await host.stream("m1")).toEqual([
      { type: "stream_start", msg_id: "m1" },
      { type: "thinking", text: "hm", msg_id: "m1" },
      { type: "text_delta", text: "Hi! ", msg_id: "m1" },
      { type: "text_delta", text: "How can I help?", msg_id: "m1" },
      {
        type: "stream_end",
        msg_id: "m1",
        usage: { input_tokens: 1500, output_tokens: 320, cache_read_tokens: 800, cache_write_tokens: 200 },
      },
    ]);
  });

  it("D4: process stays alive for multi-turn, and usage is each turn's own total over its model calls", async () => {
    const usage = { input: 10, output: 5 };
    const host = await ready({
      args: ["--auto-approve"],
      responses: [
        { call: bash("true", "t1"), usage },
        { say: "one", usage },
        { expect: { messages: 5 }, say: "two", usage },
      ],
    });
    host.message("m1");
    await host.stream("m1");
    host.message("m2");
    await host.stream("m2");
    expect(host.of("stream_end").map((event) => event.usage?.input_tokens)).toEqual([20, 10]);
    expect([host.text("m1"), host.text("m2")]).toEqual(["one", "two"]);
    expect(await host.finish()).toBe(0);
  });
});

describe("approval", () => {
  it("D5: agent PAUSES execution until it receives tool_approve or tool_deny", async () => {
    const cwd = scratch();
    const host = await ready({
      cwd,
      responses: [{ say: { pieces: ["I'll create it."] }, call: write("hello.rs", "t1", "fn main() {}\n") }, { say: "done" }],
    });
    host.message("m2");
    expect(await host.asks("t1")).toEqual({
      type: "tool_request",
      msg_id: "m2",
      call_id: "t1",
      tool: {
        name: "Write",
        category: "edit",
        args: { file_path: "hello.rs", content: "fn main() {}\n" },
        description: "Write to hello.rs",
      },
    });
    await host.settled();
    expect([host.story("t1"), existsSync(join(cwd, "hello.rs"))]).toEqual(["tool_request", false]);
    host.approve("t1", "once");
    const stream = await host.stream("m2");
    expect(stream.map((event) => event.type)).toEqual([
      "stream_start",
      "text_delta",
      "tool_request",
      "tool_running",
      "tool_result",
      "text_delta",
      "stream_end",
    ]);
    expect(host.of("tool_running")).toEqual([{ type: "tool_running", msg_id: "m2", call_id: "t1", tool_name: "Write" }]);
    expect(host.of("tool_result")).toMatchObject([{ tool_name: "Write", status: "success", output_type: "text" }]);
    expect(readFileSync(join(cwd, "hello.rs"), "utf8")).toBe("fn main() {}\n");
  });

  it("D6: tool_deny emits tool_cancelled, feeds the denial reason back to the LLM and continues the conversation", async () => {
    const cwd = scratch();
    const reason = "Not allowed to write this file";
    const host = await ready({ cwd, responses: [{ call: write("a", "t1") }, { expect: { toolResult: reason }, say: "I see." }] });
    host.message("m1");
    await host.asks("t1");
    host.deny("t1", reason);
    await host.stream("m1");
    expect(host.of("tool_cancelled")).toEqual([{ type: "tool_cancelled", msg_id: "m1", call_id: "t1", reason }]);
    expect([host.story("t1"), host.text("m1"), existsSync(join(cwd, "a"))]).toEqual(["tool_request tool_cancelled", "I see.", false]);
  });

  it("D7, D8: scope always adds the tool's category to the session allow-list, and no other category", async () => {
    const host = await ready({
      responses: [
        { call: write("a", "t1") },
        { call: edit("a", "t2") },
        { call: bash("true", "t3") },
        { say: "ok" },
        { call: write("b", "t4") },
        "ok",
      ],
    });
    host.message("m1");
    await host.asks("t1");
    host.approve("t1", "always");
    await host.asks("t3");
    expect(host.story("t2")).toBe("tool_running tool_result");
    host.approve("t3");
    await host.stream("m1");
    host.message("m2");
    await host.stream("m2");
    expect(host.story("t4")).toBe("tool_running tool_result");
  });

  it("D9: scope once is for this call only", async () => {
    const host = await ready({ responses: [{ call: write("a", "t1") }, { call: write("b", "t2") }, { say: "ok" }] });
    host.message("m1");
    await host.asks("t1");
    host.approve("t1", "once");
    await host.asks("t2");
    host.approve("t2", "once");
    await host.stream("m1");
    expect(host.story("t2")).toBe("tool_request tool_running tool_result");
  });

  it("default: all tools need approval, each with its category and a one-line description", async () => {
    const cwd = scratch({ a: "x\n" });
    const host = await ready({
      cwd,
      responses: [
        {
          calls: [
            read("a", "r"),
            { tool: "Glob", args: { pattern: "*" }, id: "g" },
            { tool: "Grep", args: { pattern: "x" }, id: "s" },
            write("b", "w"),
            edit("a", "e"),
            bash("printf 'a\\nb'", "b"),
            { tool: "Spawn", args: { tasks: [{ name: "one", prompt: "say hi" }] }, id: "p" },
          ],
        },
        { say: "ok" },
      ],
    });
    host.message("m1");
    await host.asks("p");
    const asked = host.of("tool_request").map(({ tool }) => [tool.name, tool.category]);
    expect(asked).toEqual([
      ["Read", "info"],
      ["Glob", "info"],
      ["Grep", "info"],
      ["Write", "edit"],
      ["Edit", "edit"],
      ["Bash", "exec"],
      ["Spawn", "exec"],
    ]);
    for (const { tool } of host.of("tool_request")) expect(tool.description).toMatch(/^\S[^\n]+$/);
    for (const { call_id } of host.of("tool_request")) host.deny(call_id);
    await host.stream("m1");
  });

  it("D10: set_mode auto_edit: info and edit auto-approved; exec and mcp need approval, until always allows their category", async () => {
    const cwd = scratch({ a: "x\n" });
    const echo = (id: string) => ({ tool: "mcp__files__echo", args: { text: "hello" }, id });
    const host = await ready({
      cwd,
      config: { mcpServers: { files: { command: process.execPath, args: [OFFICIAL, "stdio"] } } },
      responses: [
        { call: read("a", "t1") },
        { call: edit("a", "t2") },
        { calls: [bash("true", "t3"), echo("t4")] },
        { call: echo("t5") },
        "ok",
      ],
    });
    host.send({ type: "set_mode", mode: "auto_edit" });
    host.message("m1");
    await host.asks("t3");
    expect((await host.asks("t4")).tool).toMatchObject({ name: "mcp__files__echo", category: "mcp", args: { text: "hello" } });
    host.approve("t3");
    host.approve("t4", "always");
    await host.stream("m1");
    expect(["t1", "t2", "t5"].map((id) => host.story(id))).toEqual(Array(3).fill("tool_running tool_result"));
    expect(host.of("tool_result").at(-1)).toMatchObject({ tool_name: "mcp__files__echo", status: "success", output: "echo: hello" });
  });

  it("D11, D12: yolo auto-approves all tools; back in default it asks again, and what always allowed stays allowed", async () => {
    const host = await ready({
      responses: [
        { call: write("a", "t1") },
        { say: "ok" },
        { calls: [bash("true", "t2"), write("b", "t3")] },
        { say: "ok" },
        { call: write("c", "t4") },
        { call: bash("true", "t5") },
        { say: "ok" },
      ],
    });
    host.message("m1");
    await host.asks("t1");
    host.approve("t1", "always");
    await host.stream("m1");
    host.send({ type: "set_mode", mode: "yolo" });
    host.message("m2");
    await host.stream("m2");
    expect([host.story("t2"), host.story("t3")]).toEqual(["tool_running tool_result", "tool_running tool_result"]);
    host.send({ type: "set_mode", mode: "default" });
    host.message("m3");
    await host.asks("t5");
    host.approve("t5");
    await host.stream("m3");
    expect(host.story("t4")).toBe("tool_running tool_result");
  });

  it("D13: --auto-approve starts in yolo mode", async () => {
    const host = await ready({ args: ["--auto-approve"], responses: [{ calls: [bash("true", "t1"), write("a", "t2")] }, { say: "ok" }] });
    host.message("m1");
    await host.stream("m1");
    expect(host.of("tool_request")).toEqual([]);
    expect(host.of("tool_result").map(({ status }) => status)).toEqual(["success", "success"]);
  });

  it("D14: when a tool is in the allow_list, the agent emits tool_running directly, skipping tool_request", async () => {
    const host = await ready({
      config: { allowTools: ["Write"] },
      responses: [{ calls: [write("a", "t1"), bash("true", "t2")] }, { say: "ok" }],
    });
    host.message("m1");
    await host.asks("t2");
    host.deny("t2");
    await host.stream("m1");
    expect(host.story("t1")).toBe("tool_running tool_result");
  });

  it("D15: agent emits multiple tool_request events; client can approve/deny them independently", async () => {
    const host = await ready({ responses: [{ calls: [bash("echo one", "t1"), bash("echo two", "t2")] }, { say: "ok" }] });
    host.message("m1");
    await host.asks("t2");
    expect(host.events.map((event) => event.type)).toEqual(["ready", "stream_start", "tool_request", "tool_request"]);
    host.approve("t2", "once");
    await host.next("tool_result", ({ call_id }) => call_id === "t2");
    expect(host.story("t1")).toBe("tool_request");
    host.deny("t1", "no");
    await host.stream("m1");
    expect([host.story("t1"), host.story("t2")]).toEqual(["tool_request tool_cancelled", "tool_request tool_running tool_result"]);
  });

  it("multiple tool calls: both requests, both approved, both run", async () => {
    const cwd = scratch({ a: "1\n", b: "2\n" });
    const host = await ready({ cwd, responses: [{ calls: [read("a", "t1"), read("b", "t2")] }, { say: "ok" }] });
    host.message("m1");
    await host.asks("t2");
    host.approve("t1", "once");
    host.approve("t2", "once");
    await host.stream("m1");
    expect([host.story("t1"), host.story("t2")]).toEqual(Array(2).fill("tool_request tool_running tool_result"));
  });
});

describe("stop", () => {
  it("D16: cancels the in-flight LLM request and emits stream_end for the current msg_id", async () => {
    const host = await ready({ responses: [{ steps: [{ say: "one " }, { wait: "forever" }, { say: "two" }] }, { say: "next" }] });
    host.message("m1");
    await host.next("text_delta");
    host.send({ type: "stop" });
    await host.stream("m1");
    host.message("m2");
    await host.stream("m2");
    expect([host.text("m1"), host.text("m2")]).toEqual(["one ", "next"]);
    expect(host.of("error")).toEqual([]);
  });

  it("D17: cancels any running tool: its processes are soon dead, and the usage so far is told", async () => {
    const tag = mark();
    const host = await ready({
      args: ["--auto-approve"],
      responses: [{ call: bash(`export MARK=${tag}; sleep 60 & sleep 60`, "t1"), usage: { input: 7, output: 3 } }, { say: "next" }],
    });
    host.message("m1");
    await host.next("tool_running");
    await until(() => processesWith(tag).length >= 2);
    const before = performance.now();
    host.send({ type: "stop" });
    await host.stream("m1");
    await until(() => processesWith(tag).length === 0);
    expect(performance.now() - before).toBeLessThan(5000);
    expect(host.story("t1")).toBe("tool_running tool_cancelled");
    expect(host.of("stream_end")[0]?.usage).toEqual({ input_tokens: 7, output_tokens: 3, cache_read_tokens: 0, cache_write_tokens: 0 });
    host.message("m2");
    await host.stream("m2");
  });

  it("D18: while a request is pending cancels it, and a late tool_approve executes nothing", async () => {
    const cwd = scratch();
    const host = await ready({ cwd, responses: [{ calls: [write("a", "t1"), write("b", "t2")] }, { say: "next" }] });
    host.message("m1");
    await host.asks("t2");
    host.send({ type: "stop" });
    await host.stream("m1");
    expect([host.story("t1"), host.story("t2")]).toEqual(Array(2).fill("tool_request tool_cancelled"));
    host.approve("t1");
    await host.next("info");
    host.message("m2");
    await host.stream("m2");
    expect(existsSync(join(cwd, "a"))).toBe(false);
  });
});

describe("errors", () => {
  it("D19, D20, D21, D22: malformed JSON, unknown and incomplete commands are protocol_error with msg_id null, and the process lives", async () => {
    const host = await ready({ responses: [{ say: "still here" }] });
    const lines: [string, RegExp][] = [
      ["not json", /not JSON/],
      ['{"type":"foo"}', /^Unknown command type: foo$/],
      ['{"msg_id":"x"}', /"type"/],
      ["[]", /an array/],
      ['"s"', /a string/],
      ['{"type":"message","input":"x"}', /msg_id/],
      ['{"type":"message","msg_id":"m"}', /input/],
    ];
    for (const [index, [line, words]] of lines.entries()) {
      host.raw(`${line}\n`);
      await host.next("error", (event) => host.of("error").indexOf(event) === index);
      expect(host.of("error")[index], line).toEqual({
        type: "error",
        msg_id: null,
        error: { code: "protocol_error", message: expect.stringMatching(words), retryable: false },
      });
    }
    host.message("m1");
    await host.stream("m1");
    expect(host.text("m1")).toBe("still here");
  });

  it("D23: a rate limit is provider_error, retryable, with the msg_id; then stream_end, and the conversation continues", async () => {
    const host = await ready({ responses: [{ fail: { status: 429, message: "Rate limit exceeded", retryAfter: 900 } }, { say: "fine" }] });
    host.message("m3");
    await host.stream("m3");
    expect(host.of("error")).toEqual([
      {
        type: "error",
        msg_id: "m3",
        error: { code: "provider_error", message: expect.stringContaining("Rate limit exceeded"), retryable: true },
      },
    ]);
    host.message("m4");
    await host.stream("m4");
    expect(host.text("m4")).toBe("fine");
  });

  it("a try that may help is made again and told as info with the msg_id", async () => {
    const host = await ready({ responses: [{ fail: { status: 529, times: 1, retryAfter: 0 }, say: "fine" }] });
    host.message("m1");
    await host.stream("m1");
    expect(host.of("info")).toEqual([{ type: "info", msg_id: "m1", message: expect.stringMatching(/Retrying.*\(1\/10\)/) }]);
    expect([host.text("m1"), host.of("error")]).toEqual(["fine", []]);
  });

  it("D24: a refused key is provider_error, not retryable", async () => {
    const host = await ready({ responses: [{ fail: { status: 401, message: "invalid x-api-key" } }] });
    host.message("m1");
    await host.stream("m1");
    expect(host.of("error")).toMatchObject([{ msg_id: "m1", error: { code: "provider_error", retryable: false } }]);
  });

  it("D25: for unrecoverable errors, agent emits error and exits with non-zero status", async () => {
    const host = launchWith(["--provider", "anthropic"]);
    expect(await host.exited).toEqual({ code: 1, signal: null });
    expect(host.events).toEqual([
      { type: "error", msg_id: null, error: { code: "config_error", message: "ANTHROPIC_API_KEY not set", retryable: false } },
    ]);
  });
});

describe("sessions", () => {
  it("D26: --session-id uses that ID and errors if it exists; --resume loads its history; latest is the most recent", async () => {
    const [home, cwd] = [scratch(), scratch()];
    const first = await ready({ home, cwd, args: ["--session-id", "my-conv-123"], responses: [{ say: "noted" }] });
    expect(first.of("ready")[0]?.session_id).toBe("my-conv-123");
    first.message("m1", "the word is heron");
    await first.stream("m1");
    expect(await first.finish()).toBe(0);

    const again = launch({ home, cwd, args: ["--session-id", "my-conv-123"], responses: [{ say: "no" }] });
    expect((await again.exited).code).toBe(1);
    expect(again.events).toMatchObject([
      { type: "error", msg_id: null, error: { code: "config_error", message: expect.stringContaining("already exists") } },
    ]);

    for (const id of ["my-conv-123", "latest"]) {
      const resumed = await ready({
        home,
        cwd,
        args: ["--resume", id],
        responses: [{ expect: { messages: id === "latest" ? 5 : 3 }, say: "heron" }],
      });
      expect(resumed.of("ready")[0]?.session_id).toBe("my-conv-123");
      resumed.message("m2", "which word?");
      await resumed.stream("m2");
      expect([resumed.text("m2"), resumed.of("error")]).toEqual(["heron", []]);
      expect(await resumed.finish()).toBe(0);
    }

    const both = launch({ home, cwd, args: ["--resume", "my-conv-123", "--session-id", "x"] });
    expect((await both.exited).code).toBe(1);
    expect(both.events).toMatchObject([{ type: "error", msg_id: null, error: { code: "config_error" } }]);
  });

  it("D27: init_history is incorporated as conversation context; after the first message it is not used", async () => {
    const host = await ready({
      then: "orders",
      responses: [
        { expect: { messages: 3 }, say: "I know." },
        { expect: { messages: 5 }, say: "Still." },
      ],
    });
    // One without words is no context.
    host.send({ type: "init_history", text: " \n" });
    host.send({ type: "init_history", text: "Previous conversation summary:\nUser asked about herons." });
    host.message("m1");
    await host.stream("m1");
    host.send({ type: "init_history", text: "too late" });
    expect(await host.next("info")).toMatchObject({ msg_id: "", message: expect.stringMatching(/before the first/) });
    host.message("m2");
    await host.stream("m2");
    expect([host.text("m1"), host.text("m2"), host.of("error")]).toEqual(["I know.", "Still.", []]);
  });
});

describe("files", () => {
  it("D28: attached files reach the model: images, documents; a missing one is told and the turn goes on", async () => {
    const cwd = scratch({ "notes.txt": "buy milk\n" });
    writeFileSync(join(cwd, "dot.png"), Buffer.from(PNG, "base64"));
    const expectFiles = { lastUser: "/look[^]*Attached image .*dot\\.png[^]*notes\\.txt:\\nbuy milk/" };
    const host = await ready({ cwd, responses: [{ expect: expectFiles, say: "seen" }] });
    host.message("m1", "look", [join(cwd, "dot.png"), "notes.txt", "gone.txt"]);
    await host.stream("m1");
    expect(host.text("m1")).toBe("seen");
    expect(host.of("error")).toMatchObject([
      { msg_id: "m1", error: { code: "tool_error", message: expect.stringContaining("gone.txt"), retryable: false } },
    ]);
  });
});

describe("tool results", () => {
  it.skipIf(!hasProgram("patch"))("D29: Edit's output is a diff that applies, with metadata.file_path", async () => {
    const before = Array.from({ length: 20 }, (_, n) => `line ${n}`).join("\n");
    const cwd = scratch({ "main.rs": before });
    const host = await ready({
      cwd,
      args: ["--auto-approve"],
      responses: [{ call: read("main.rs", "t1") }, { call: edit("main.rs", "t2", "line 10", "line ten\nand more") }, { say: "ok" }],
    });
    host.message("m1");
    await host.stream("m1");
    const [, result] = host.of("tool_result");
    expect(result).toMatchObject({ tool_name: "Edit", status: "success", output_type: "diff", metadata: { file_path: "main.rs" } });
    expect(result?.output).toMatch(/^--- a\/main\.rs\n\+\+\+ b\/main\.rs\n@@ -\d+,\d+ \+\d+,\d+ @@\n/);
    const copy = scratch({ "main.rs": before });
    const patch = spawnSync("patch", ["-p1"], { cwd: copy, input: result?.output });
    expect([patch.status, String(patch.stderr)]).toEqual([0, ""]);
    expect(readFileSync(join(copy, "main.rs"), "utf8")).toBe(readFileSync(join(cwd, "main.rs"), "utf8"));
  });

  it("an image is its base64", async () => {
    const cwd = scratch();
    writeFileSync(join(cwd, "dot.png"), Buffer.from(PNG, "base64"));
    const host = await ready({ cwd, args: ["--auto-approve"], responses: [{ call: read("dot.png", "t1") }, { say: "ok" }] });
    host.message("m1");
    await host.stream("m1");
    expect(host.of("tool_result")).toMatchObject([{ status: "success", output_type: "image", output: PNG }]);
  });

  it("a failing tool has status error: a command's exit code, a missing file, an unknown tool, broken arguments", async () => {
    const host = await ready({
      args: ["--auto-approve"],
      responses: [
        { calls: [bash("echo no; exit 3", "t1"), read("gone", "t2"), { tool: "Nope", id: "t3" }, { tool: "Write", args: "{", id: "t4" }] },
        { say: "ok" },
      ],
    });
    host.message("m1");
    await host.stream("m1");
    const results = new Map(host.of("tool_result").map((event) => [event.call_id, event]));
    expect([...results.values()].map(({ status, output_type }) => [status, output_type])).toEqual(Array(4).fill(["error", "text"]));
    expect(results.get("t1")?.output).toMatch(/3[^]*no/);
    expect(results.get("t3")).toMatchObject({ tool_name: "Nope", output: expect.stringContaining("Unknown tool: Nope") });
    expect(host.of("error")).toEqual([]);
  });

  it("D31: output is truncated if it exceeds the limit", async () => {
    const host = await ready({
      args: ["--auto-approve"],
      responses: [{ call: bash("yes 'aé🦜' | head -c 2000000", "t1") }, { say: "ok" }],
    });
    host.message("m1");
    await host.stream("m1");
    const output = host.of("tool_result")[0]?.output ?? "";
    expect(output.length).toBeLessThanOrEqual(50_200);
    expect(output).toMatch(/\d+ characters left out/);
    expect(output.isWellFormed()).toBe(true);
  });

  it("D32: newlines, U+2028, emoji, control characters and broken bytes travel in one line each", async () => {
    const cwd = scratch({ "odd.txt": "a\u2028b\u2029c\u0000d\u001be\r\nf🦜\u0085g\n" });
    writeFileSync(join(cwd, "bytes"), Buffer.from([0xff, 0xfe, 0x61, 0xed, 0xa0, 0x80, 0x0a]));
    const host = await ready({
      cwd,
      args: ["--auto-approve"],
      responses: [
        { calls: [bash("cat odd.txt", "t1"), bash("cat bytes", "t2")] },
        { say: { pieces: ["\ud83e", "\udd9c\u2028", "lone \ud800 end"] } },
      ],
    });
    host.message("m1");
    await host.stream("m1");
    const output = (id: string) => host.of("tool_result").find(({ call_id }) => call_id === id)?.output ?? "";
    expect(output("t1")).toContain("a\u2028b\u2029c\u0000d\u001be\r\nf🦜\u0085g");
    expect(output("t2")).toContain("a");
    expect(host.text("m1")).toContain("🦜\u2028lone");
  });
});

describe("the process", () => {
  it("D30: client closes stdin (EOF): agent cleans up and exits", async () => {
    const idle = await ready();
    expect(await idle.finish()).toBe(0);
    const tag = mark();
    const busy = await ready({
      args: ["--auto-approve"],
      responses: [{ call: { tool: "Bash", args: { command: `export MARK=${tag}; sleep 60`, background: true }, id: "t1" } }, { say: "ok" }],
    });
    busy.message("m1");
    expect(await busy.finish()).toBe(0);
    expect(busy.text("m1")).toBe("ok");
    await until(() => processesWith(tag).length === 0);
  });

  it("D30: or sends SIGTERM: the turn gets its end, and no child lives", async () => {
    const tag = mark();
    const host = await ready({ args: ["--auto-approve"], responses: [{ call: bash(`export MARK=${tag}; sleep 60 & sleep 60`, "t1") }] });
    host.message("m1");
    await host.next("tool_running");
    await until(() => processesWith(tag).length >= 2);
    host.child.kill("SIGTERM");
    expect(await host.exited).toEqual({ code: 143, signal: null });
    expect(host.events.slice(-2).map((event) => event.type)).toEqual(["tool_cancelled", "stream_end"]);
    await until(() => processesWith(tag).length === 0);
  });

  it("D33: --workspace is the working directory for file operations", async () => {
    const workspace = realpathSync(scratch());
    mkdirSync(join(workspace, "in"));
    const host = await ready({
      args: ["--workspace", workspace, "--auto-approve"],
      responses: [{ calls: [write("in/a.txt", "t1"), bash("pwd", "t2")] }, { say: "ok" }],
    });
    host.message("m1");
    await host.stream("m1");
    expect(existsSync(join(workspace, "in/a.txt"))).toBe(true);
    expect(host.of("tool_result").find(({ call_id }) => call_id === "t2")?.output).toContain(workspace);
  });
});

function hasProgram(name: string): boolean {
  const found = spawnSync(name, ["--version"]).status === 0;
  if (!found) console.log(`skipped: there is no ${name} on this machine`);
  return found;
}
