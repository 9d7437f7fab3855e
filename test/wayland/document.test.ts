/** Wayland's document, sentence by sentence, from the outside: the built command, its real pipe, the rehearsal model and the real tools. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { launch, ready, type AionrsHost, type AionrsOptions } from "../aionrs/host.js";
import { scratch } from "../process/harness.js";

const write = (file: string, id: string, content = "x") => ({ tool: "Write", args: { file_path: file, content }, id });
const bash = (command: string, id: string) => ({ tool: "Bash", args: { command }, id });

function wayland(options: AionrsOptions = {}): Promise<AionrsHost> {
  return ready({ dialect: "wayland", ...options });
}

const infos = (host: AionrsHost): string[] => host.of("info").map(({ message }) => message);

describe("the handshake", () => {
  it("D34: ready carries the protocol version, a session_id and capabilities; default-off flags are left out", async () => {
    const host = await wayland();
    expect(host.of("ready")).toEqual([
      {
        type: "ready",
        version: "0.2.0",
        session_id: expect.any(String),
        capabilities: {
          tool_approval: true,
          thinking: true,
          effort: false,
          effort_levels: [],
          modes: ["default", "auto_edit", "force"],
          current_mode: "default",
          mcp: true,
        },
      },
    ]);
    expect(await host.finish()).toBe(0);
  });

  it("is the first line even for a host that does not wait for it, and what that one said is answered behind it", async () => {
    const host = launch({ dialect: "wayland" });
    host.send({ type: "ping" }, { type: "set_config" });
    host.raw("{oops\n");
    await host.next("pong");
    await host.next("error", ({ error }) => error.message.includes("oops"));
    expect(host.events[0]?.type).toBe("ready");
    expect(infos(host)).toContain("set_config: no changes");
  });

  it("--auto-approve starts in force, and ready says so", async () => {
    const host = await wayland({ args: ["--auto-approve"] });
    expect(host.of("ready")[0]?.capabilities.current_mode).toBe("force");
  });

  it("a missing key is config_error and exit 1, without ready", async () => {
    const host = launch({ dialect: "wayland", args: ["--provider", "anthropic"] });
    expect((await host.exited).code).toBe(1);
    expect(host.events).toMatchObject([
      { type: "error", msg_id: null, error: { code: "config_error", message: "ANTHROPIC_API_KEY not set" } },
    ]);
  });
});

describe("a message", () => {
  it("D39: by its content streams to an end with a finish_reason and counts that are disjoint", async () => {
    const usage = { input: 1500, output: 320, cacheRead: 800, cacheWrite: 200 };
    const host = await wayland({ responses: [{ think: "hm", say: "Hi", usage }] });
    host.message("m1", "Hello");
    expect((await host.stream("m1")).at(-1)).toEqual({
      type: "stream_end",
      msg_id: "m1",
      finish_reason: "stop",
      usage: { input_tokens: 1500, output_tokens: 320, cache_read_tokens: 800, cache_write_tokens: 200 },
    });
    expect(host.text("m1")).toBe("Hi");
  });

  it("is read by the older name too, and its own name counts", async () => {
    const host = await wayland();
    host.send({ type: "message", msg_id: "m1", input: "say older" });
    await host.stream("m1");
    host.send({ type: "message", msg_id: "m2", input: "say no", content: "say own" });
    await host.stream("m2");
    expect([host.text("m1"), host.text("m2")]).toEqual(["older", "own"]);
  });

  it.each([
    ["length", Array.from({ length: 4 }, () => ({ say: "cut", finish: "length" })), []],
    ["max_turns", [{ call: bash("true", "t1") }, { say: "never" }], ["--max-turns", "1", "--auto-approve"]],
    ["error", [{ fail: { status: 401 } }], []],
  ])("ends with finish_reason %s", async (reason, responses, args) => {
    const host = await wayland({ responses, args });
    host.message("m1");
    await host.stream("m1");
    expect(host.of("stream_end")[0]?.finish_reason).toBe(reason);
    if (reason === "max_turns") expect(infos(host).join()).toContain("limit of one turn");
    if (reason === "error") expect(host.of("error")).toMatchObject([{ msg_id: "m1", error: { code: "provider_error" } }]);
  });

  it("that is stopped ends with stop, and the process lives", async () => {
    const host = await wayland();
    host.message("m1", "count to 3 then wait forever");
    await host.next("text_delta");
    host.send({ type: "stop" });
    await host.stream("m1");
    expect(host.of("stream_end")[0]?.finish_reason).toBe("stop");
    host.message("m2", "say on");
    await host.stream("m2");
    expect(host.text("m2")).toBe("on");
  });

  it("with a file that is not there goes on without it, and says so by info: its host would take an error for the end", async () => {
    const host = await wayland();
    host.message("m1", "say fine", ["gone.txt"]);
    await host.stream("m1");
    expect(host.of("error")).toEqual([]);
    expect(host.of("info")).toMatchObject([{ msg_id: "m1", message: expect.stringContaining("gone.txt") }]);
    expect([host.text("m1"), host.of("stream_end")[0]?.finish_reason]).toEqual(["fine", "stop"]);
  });
});

describe("approvals", () => {
  it("scope always adds the tool's category to the session allow-list", async () => {
    const host = await wayland({
      responses: [{ call: write("a", "t1") }, { call: write("b", "t2") }, { call: bash("true", "t3") }, { say: "ok" }],
    });
    host.message("m1");
    await host.asks("t1");
    host.approve("t1", "always");
    await host.asks("t3");
    host.deny("t3", "no");
    await host.stream("m1");
    expect(["t1", "t2", "t3"].map((call) => host.story(call))).toEqual([
      "tool_request tool_running tool_result",
      "call_announced tool_running tool_result",
      "tool_request tool_cancelled",
    ]);
  });

  it("every call is announced before its first word: asked for, let through, denied by a rule or unknown", async () => {
    const host = await wayland({
      config: { rules: [{ deny: "Bash(rm *)" }] },
      args: ["--auto-approve"],
      responses: [{ calls: [bash("true", "t1"), bash("rm -rf x", "t2"), { tool: "Nonsense", args: {}, id: "t3" }] }, { say: "ok" }],
    });
    host.message("m1");
    await host.stream("m1");
    expect(["t1", "t2", "t3"].map((call) => host.story(call))).toEqual([
      "call_announced tool_running tool_result",
      "call_announced tool_cancelled",
      "call_announced tool_running tool_result",
    ]);
  });

  it.each(["force", "yolo"])("D35: set_mode %s approves everything, and default asks again", async (mode) => {
    const cwd = scratch();
    const host = await wayland({ cwd, responses: [{ call: write("a", "t1") }, { say: "ok" }, { call: write("b", "t2") }, { say: "ok" }] });
    host.send({ type: "set_mode", mode });
    expect((await host.next("config_changed")).capabilities).toMatchObject({ current_mode: "force" });
    expect(infos(host)).toEqual(["mode updated: force"]);
    host.message("m1");
    await host.stream("m1");
    expect([host.of("tool_request"), existsSync(join(cwd, "a"))]).toEqual([[], true]);
    host.send({ type: "set_mode", mode: "default" });
    host.message("m2");
    await host.asks("t2");
    host.deny("t2");
    await host.stream("m2");
  });

  it("a mode that changes in a turn counts for later calls; a request that is out stays pending, and the new state is told behind the stream", async () => {
    const host = await wayland({ responses: [{ call: write("a", "t1") }, { call: write("b", "t2") }, { say: "ok" }] });
    host.message("m1");
    await host.asks("t1");
    host.send({ type: "set_mode", mode: "force" });
    await host.next("info", ({ message }) => message === "mode updated: force");
    await host.settled();
    expect(host.story("t1")).toBe("tool_request");
    host.approve("t1");
    await host.stream("m1");
    const { capabilities } = await host.next("config_changed");
    expect([host.story("t2"), capabilities.current_mode]).toEqual(["call_announced tool_running tool_result", "force"]);
    const types = host.events.map(({ type }) => type);
    expect(types.indexOf("config_changed")).toBeGreaterThan(types.indexOf("stream_end"));
  });

  it("an unknown mode is protocol_error and changes nothing", async () => {
    const host = await wayland();
    host.raw('{"type":"set_mode","mode":"plan"}\n');
    expect((await host.next("error")).error).toMatchObject({ code: "protocol_error", message: expect.stringContaining("plan") });
    expect(host.of("config_changed")).toEqual([]);
  });
});

describe("ping", () => {
  it("D37: is answered by pong, idle, in a turn and while an approval waits", async () => {
    const host = await wayland({ responses: [{ call: write("a", "t1") }, { say: "ok" }] });
    host.send({ type: "ping" });
    await host.next("pong");
    host.message("m1");
    await host.asks("t1");
    host.send({ type: "ping" }, { type: "ping" });
    await host.next("pong", (pong) => host.of("pong").indexOf(pong) === 2);
    expect(host.of("stream_end")).toEqual([]);
    host.approve("t1");
    await host.stream("m1");
  });
});

describe("what is off by default", () => {
  const responses = [{ call: bash("echo one", "t1") }, { say: "ok" }];

  it("streaming_tools: a tool's output as it comes, by --capability or by the config", async () => {
    const byFlag = await wayland({ args: ["--auto-approve", "--capability", "streaming_tools"], responses });
    const byConfig = await wayland({ args: ["--auto-approve"], config: { capabilities: ["streaming_tools"] }, responses });
    for (const host of [byFlag, byConfig]) {
      host.message("m1");
      await host.stream("m1");
      expect(host.of("ready")[0]?.capabilities).toMatchObject({ streaming_tools: true });
      expect(host.of("tool_chunk")).toEqual([{ type: "tool_chunk", msg_id: "m1", call_id: "t1", tool_name: "Bash", chunk: "one\n" }]);
    }
  });

  it("is not said unless it is switched on, and a name that is none is told", async () => {
    const host = await wayland({ args: ["--auto-approve", "--capability", "telepathy"], responses });
    host.message("m1");
    await host.stream("m1");
    expect(host.of("tool_chunk")).toEqual([]);
    expect(infos(host)).toEqual([expect.stringMatching(/telepathy.*streaming_tools, sub_agent_traces/)]);
  });

  it("sub_agent_traces: what a sub-agent says and does, under the call that started it", async () => {
    const cwd = scratch();
    writeFileSync(join(cwd, "a.txt"), "alpha\n");
    const spawn = { tool: "Spawn", args: { tasks: [{ name: "reader", prompt: "read a.txt" }] }, id: "t1" };
    const host = await wayland({
      cwd,
      args: ["--auto-approve", "--capability", "sub_agent_traces"],
      responses: [
        { call: spawn },
        { call: { tool: "Read", args: { file_path: "a.txt" }, id: "c1" } },
        { say: "It says alpha." },
        { say: "ok" },
      ],
    });
    host.message("m1");
    await host.stream("m1");
    const traces = host.of("sub_agent_event");
    expect(traces.every((trace) => trace.parent_call_id === "t1" && trace.agent_name === "reader")).toBe(true);
    expect(traces.map(({ inner }) => inner.type)).toEqual(["tool_running", "tool_result", "text_delta"]);
    expect(traces[2]?.inner["text"]).toBe("It says alpha.");
  });
});
