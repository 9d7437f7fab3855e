/** What the document leaves open, as we read it: queues, stops, late answers, attachments, deadlines, sub-agents, sessions. */
import { existsSync, mkdirSync, realpathSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { processesWith, scratch, until } from "../process/harness.js";
import { launch, ready } from "./host.js";

const write = (file: string, id: string) => ({ tool: "Write", args: { file_path: file, content: "x" }, id });
const read = (file: string, id: string) => ({ tool: "Read", args: { file_path: file }, id });
const bash = (command: string, id: string) => ({ tool: "Bash", args: { command }, id });
const mark = () => `parley-aionrs-${process.pid}-${Math.random().toString(36).slice(2)}`;

describe("a message during a turn", () => {
  it("waits its turn, 64 at most; one more is refused with an error, and stop still finds the right turn", async () => {
    const host = await ready();
    host.message("m0", "wait forever");
    for (let n = 1; n <= 65; n++) host.message(`m${n}`, `say ${n}`);
    expect(await host.next("error")).toMatchObject({
      msg_id: null,
      error: { code: "protocol_error", message: expect.stringContaining("64"), retryable: true },
    });
    host.send({ type: "stop" });
    await host.stream("m64");
    expect(host.of("stream_start").map(({ msg_id }) => msg_id)).toEqual(Array.from({ length: 65 }, (_, n) => `m${n}`));
    expect([host.text("m1"), host.text("m64"), host.of("error").length]).toEqual(["1", "64", 1]);
    host.message("m66", "wait forever");
    await host.next("stream_start", ({ msg_id }) => msg_id === "m66");
    host.send({ type: "stop" });
    await host.stream("m66");
  });

  it("is read while the turn waits for an approval, and control behind it is acted on at once", async () => {
    const host = await ready({ responses: [{ call: bash("true", "t1") }, { say: "one" }, { say: "two" }] });
    host.message("m1");
    await host.asks("t1");
    host.message("m2");
    host.approve("t1");
    await host.stream("m2");
    expect([host.text("m1"), host.text("m2")]).toEqual(["one", "two"]);
  });

  it("may carry the msg_id of another one: each has its own stream", async () => {
    const host = await ready();
    host.message("same", "say one");
    host.message("same", "say two");
    expect(await host.finish()).toBe(0);
    expect(host.text("same")).toBe("onetwo");
    const stream = ["stream_start", "text_delta", "stream_end"];
    expect(host.events.map(({ type }) => type)).toEqual(["ready", ...stream, ...stream]);
  });
});

describe("stop", () => {
  it("ends what runs; what waits behind it begins", async () => {
    const host = await ready();
    host.message("m1", "wait forever");
    host.message("m2", "say two");
    await host.next("stream_start");
    host.send({ type: "stop" }, { type: "stop" });
    await host.stream("m2");
    expect(host.text("m2")).toBe("two");
  });

  it("right behind a message stops that message, before or after its stream_start", async () => {
    const host = await ready();
    host.raw('{"type":"message","msg_id":"m1","input":"wait forever"}\n{"type":"stop"}\n');
    await host.stream("m1");
    host.message("m2", "say fine");
    await host.stream("m2");
    expect([host.text("m2"), host.of("error")]).toEqual(["fine", []]);
  });

  it("is a no-op when nothing runs", async () => {
    const host = await ready();
    host.send({ type: "stop" });
    await host.settled();
    host.message("m1", "say hi");
    await host.stream("m1");
    host.send({ type: "stop" });
    await host.settled();
    expect(host.of("stream_end")).toHaveLength(1);
    expect(host.of("info")).toEqual([]);
  });

  it("ends a sub-agent's work too", async () => {
    const tag = mark();
    const host = await ready({
      args: ["--auto-approve"],
      responses: [
        { call: { tool: "Spawn", args: { tasks: [{ name: "a", prompt: "x" }] }, id: "t1" } },
        { call: bash(`export MARK=${tag}; sleep 60`, "c1") },
      ],
    });
    host.message("m1");
    await until(() => processesWith(tag).length > 0);
    host.send({ type: "stop" });
    await host.stream("m1");
    expect(host.story("t1")).toBe("tool_running tool_cancelled");
    await until(() => processesWith(tag).length === 0);
  });
});

describe("stop while a sub-agent waits for an answer", () => {
  it("cancels its call, then its parent's, then the stream ends", async () => {
    const host = await ready({
      config: { allowTools: ["Spawn"] },
      responses: [{ call: { tool: "Spawn", args: { tasks: [{ name: "a", prompt: "x" }] }, id: "t1" } }, { call: write("a", "c1") }],
    });
    host.message("m1");
    await host.asks("c1");
    host.send({ type: "stop" });
    await host.stream("m1");
    expect([host.story("t1"), host.story("c1")]).toEqual(["tool_running tool_cancelled", "tool_request tool_cancelled"]);
  });
});

describe("answers", () => {
  it("count once: a second one to a settled call is nothing but info", async () => {
    const cwd = scratch();
    const host = await ready({ cwd, responses: [{ call: write("a", "t1") }, { say: "ok" }] });
    host.message("m1");
    await host.asks("t1");
    host.deny("t1", "no");
    host.approve("t1", "always");
    host.deny("t1", "again");
    await host.stream("m1");
    await host.settled();
    expect(host.of("info").map(({ msg_id }) => msg_id)).toEqual(["", ""]);
    expect([host.story("t1"), existsSync(join(cwd, "a"))]).toEqual(["tool_request tool_cancelled", false]);
  });

  it("to a call that was never asked for are protocol_error", async () => {
    const host = await ready({ config: { allowTools: ["Bash"] }, responses: [{ call: bash("true", "t1") }, { say: "ok" }] });
    host.message("m1");
    await host.stream("m1");
    host.approve("never");
    host.deny("never");
    host.approve("t1");
    await host.settled();
    expect(host.of("error").slice(0, 3)).toMatchObject(
      ["never", "never", "t1"].map((id) => ({
        msg_id: null,
        error: { code: "protocol_error", message: expect.stringContaining(id), retryable: false },
      })),
    );
  });

  it("without scope mean once, without reason an empty one; null counts as missing", async () => {
    const host = await ready({
      responses: [
        { calls: [write("a", "t1"), write("b", "t2"), write("c", "t3"), write("d", "t4")] },
        { call: write("e", "t5") },
        { say: "ok" },
      ],
    });
    host.message("m1");
    await host.asks("t4");
    host.approve("t1");
    host.deny("t2");
    host.send({ type: "tool_approve", call_id: "t3", scope: null }, { type: "tool_deny", call_id: "t4", reason: null });
    await host.asks("t5");
    host.deny("t5", "");
    await host.stream("m1");
    expect(host.of("tool_cancelled").map(({ reason }) => reason)).toEqual(["", "", ""]);
  });

  it("with an unknown scope, and an unknown mode, change nothing", async () => {
    const host = await ready({ responses: [{ call: write("a", "t1") }, { call: write("b", "t2") }, { say: "ok" }] });
    host.raw('{"type":"set_mode","mode":"force"}\n{"type":"set_mode","mode":"plan"}\n{"type":"set_mode"}\n');
    host.message("m1");
    await host.asks("t1");
    host.raw('{"type":"tool_approve","call_id":"t1","scope":"forever"}\n');
    await host.next("error", ({ error }) => error.message.includes("forever"));
    expect(host.of("error")).toHaveLength(4);
    for (const event of host.of("error")) expect(event).toMatchObject({ msg_id: null, error: { code: "protocol_error" } });
    expect(host.story("t1")).toBe("tool_request");
    host.approve("t1");
    await host.asks("t2");
    host.approve("t2");
    await host.stream("m1");
  });

  it("and modes count for later calls: requests already out stay pending", async () => {
    const host = await ready({
      responses: [{ calls: [write("a", "t1"), write("b", "t2")] }, { calls: [write("c", "t3"), bash("true", "t4")] }, { say: "ok" }],
    });
    host.message("m1");
    await host.asks("t2");
    host.approve("t1", "always");
    await host.next("tool_result", ({ call_id }) => call_id === "t1");
    host.send({ type: "set_mode", mode: "yolo" });
    await host.settled();
    expect(host.story("t2")).toBe("tool_request");
    host.deny("t2");
    await host.stream("m1");
    expect([host.story("t3"), host.story("t4")]).toEqual(["tool_running tool_result", "tool_running tool_result"]);
  });

  it("nobody gives are denials at the deadline", async () => {
    const host = await ready({
      config: { limits: { approvalSeconds: 1 } },
      responses: [{ call: write("a", "t1") }, { expect: { toolResult: "timed out" }, say: "ok" }],
    });
    host.message("m1");
    await host.stream("m1");
    expect(host.of("tool_cancelled")).toMatchObject([{ call_id: "t1", reason: "approval timed out after 1 s" }]);
    expect(host.text("m1")).toBe("ok");
  });
});

describe("calls of the model", () => {
  it("that carry the same id are told apart", async () => {
    const cwd = scratch();
    const host = await ready({
      cwd,
      responses: [{ calls: [write("a", "dup"), write("b", "dup")] }, { call: write("c", "dup") }, { say: "ok" }],
    });
    host.message("m1");
    for (let seen = 0; seen < 3; seen++) {
      const request = await host.next("tool_request", (event) => host.of("tool_request").indexOf(event) === seen);
      host.approve(request.call_id);
    }
    await host.stream("m1");
    expect(new Set(host.of("tool_request").map(({ call_id }) => call_id)).size).toBe(3);
    expect(["a", "b", "c"].map((name) => existsSync(join(cwd, name)))).toEqual([true, true, true]);
  });

  it("that a rule denies are cancelled without being asked for", async () => {
    const host = await ready({
      config: { rules: [{ deny: "Bash(rm *)" }] },
      args: ["--auto-approve"],
      responses: [{ call: bash("rm -rf x", "t1") }, { say: "ok" }],
    });
    host.message("m1");
    await host.stream("m1");
    expect(host.of("tool_cancelled")).toMatchObject([{ call_id: "t1", reason: expect.stringContaining("rm *") }]);
    expect(host.story("t1")).toBe("tool_cancelled");
  });

  it("to Edit a file that was neither read nor written in the session fail", async () => {
    const cwd = scratch({ a: "x\n" });
    const host = await ready({
      cwd,
      args: ["--auto-approve"],
      responses: [{ call: { tool: "Edit", args: { file_path: "a", old_string: "x", new_string: "y" }, id: "t1" } }, { say: "ok" }],
    });
    host.message("m1");
    await host.stream("m1");
    expect(host.of("tool_result")).toMatchObject([{ status: "error", output_type: "text", output: expect.stringContaining("Read") }]);
  });

  it("whose process cannot start are tool_error beside their error result", async () => {
    const cwd = scratch();
    const workspace = join(cwd, "in");
    mkdirSync(workspace);
    const host = await ready({
      cwd,
      args: ["--workspace", workspace, "--auto-approve"],
      responses: [{ call: bash("true", "t1") }, { say: "ok" }],
    });
    rmSync(workspace, { recursive: true });
    host.message("m1");
    await host.stream("m1");
    expect(host.of("error")).toMatchObject([{ msg_id: "m1", error: { code: "tool_error", retryable: false } }]);
    expect(host.of("tool_result")).toMatchObject([{ call_id: "t1", status: "error" }]);
    expect(host.text("m1")).toBe("ok");
  });

  it("stop at --max-turns: info, then stream_end", async () => {
    const host = await ready({
      args: ["--auto-approve", "--max-turns", "2"],
      then: "repeat",
      responses: [{ call: { tool: "Bash", args: { command: "true" } } }],
    });
    host.message("m1");
    await host.stream("m1");
    expect(host.of("tool_result")).toHaveLength(2);
    expect(host.events.slice(-2)).toMatchObject([
      { type: "info", msg_id: "m1", message: expect.stringContaining("--max-turns") },
      { type: "stream_end" },
    ]);
    expect(host.of("error")).toEqual([]);
  });
});

describe("a sub-agent", () => {
  it("asks as part of its parent's message; what it says stays off the wire", async () => {
    const cwd = scratch({ a: "1\n" });
    const host = await ready({
      cwd,
      config: { allowTools: ["Read"] },
      responses: [
        { call: { tool: "Spawn", args: { tasks: [{ name: "helper", prompt: "do it" }] }, id: "t1" } },
        { expect: { lastUser: "do it" }, say: "child speaks", calls: [read("a", "c1"), write("b", "c2"), write("c", "c3")] },
        { say: "child is done" },
        { expect: { toolResult: "child is done" }, say: "parent is done" },
      ],
    });
    host.message("m1");
    expect((await host.asks("t1")).tool).toMatchObject({ name: "Spawn", category: "exec" });
    host.approve("t1");
    await host.asks("c3");
    host.approve("c2");
    host.deny("c3", "no");
    await host.stream("m1");
    expect(host.text("m1")).toBe("parent is done");
    expect(["c1", "c2", "c3", "t1"].map((id) => host.story(id))).toEqual([
      "",
      "tool_request tool_running tool_result",
      "tool_request tool_cancelled",
      "tool_request tool_running tool_result",
    ]);
    expect(host.of("tool_request").every(({ msg_id }) => msg_id === "m1")).toBe(true);
    expect(existsSync(join(cwd, "b"))).toBe(true);
  });
});

describe("an MCP server of the config", () => {
  it("that never answers holds up the first turn no longer than its time, and not its stop", async () => {
    const slow = { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"], timeoutMs: 5000 };
    const host = await ready({ config: { mcpServers: { slow } }, responses: [{ say: "never" }, { say: "there" }] });
    host.message("m1");
    await host.next("info", ({ message }) => message.startsWith("Warming up"));
    host.send({ type: "stop" });
    await host.stream("m1");
    host.message("m2");
    await host.stream("m2");
    expect([host.text("m1"), host.text("m2")]).toEqual(["", "never"]);
    expect(host.of("info").map(({ message }) => message)).toContainEqual(expect.stringMatching(/^slow: .*not ready/));
  });

  it("that was lost and is being connected anew holds up no later turn", async () => {
    const server = join(import.meta.dirname, "../fixtures/mcp/raw.mjs");
    const dying = { command: process.execPath, args: [server, "dies-for-good", join(scratch(), "dead")] };
    const act = { tool: "mcp__s__act", args: {}, id: "t1" };
    const host = await ready({ config: { mcpServers: { s: dying } }, responses: [{ call: act }, "lost", "still here"] });
    host.message("m1");
    await host.asks("t1");
    host.approve("t1");
    await host.stream("m1");
    host.message("m2");
    await host.stream("m2");
    expect([host.text("m1"), host.text("m2")]).toEqual(["lost", "still here"]);
  });
});

describe("attachments", () => {
  it("may be folders, and may lie outside the workspace", async () => {
    const outside = scratch({ "letter.txt": "dear heron\n" });
    const host = await ready({ responses: [{ expect: { lastUser: "/letter\\.txt[^]*dear heron/" }, say: "seen" }] });
    host.message("m1", "look", [outside, join(outside, "letter.txt")]);
    await host.stream("m1");
    expect([host.text("m1"), host.of("error")]).toEqual(["seen", []]);
  });

  it("over 20 MiB are told and left out; the turn goes on", async () => {
    const cwd = scratch({ big: "" });
    truncateSync(join(cwd, "big"), 20 * 1024 * 1024 + 1);
    const host = await ready({ cwd, responses: [{ expect: { lastUser: "/^look$/" }, say: "nothing" }] });
    host.message("m1", "look", ["big"]);
    await host.stream("m1");
    expect(host.of("error")).toMatchObject([{ msg_id: "m1", error: { code: "tool_error", message: expect.stringContaining("big") } }]);
    expect(host.text("m1")).toBe("nothing");
  });
});

describe("the end of input", () => {
  it("denies what waits for an approval, finishes the turn and the queue, and leaves with 0", async () => {
    const host = await ready({
      responses: [
        { call: write("a", "t1") },
        { expect: { toolResult: "closed its input" }, call: write("b", "t2") },
        { say: "one" },
        { say: "two" },
      ],
    });
    host.message("m1");
    host.message("m2");
    await host.asks("t1");
    expect(await host.finish()).toBe(0);
    expect([host.text("m1"), host.text("m2")]).toEqual(["one", "two"]);
    expect(host.of("tool_cancelled").map(({ reason }) => reason)).toEqual(Array(2).fill("the host closed its input"));
  });

  it("before anything was said is a quiet exit after ready", async () => {
    const host = launch();
    expect(await host.finish()).toBe(0);
    expect([host.events.map(({ type }) => type), host.stderr]).toEqual([["ready"], ""]);
  });

  it("of output ends the agent at once, quietly, with its children", async () => {
    const tag = mark();
    const host = await ready({ args: ["--auto-approve"], responses: [{ steps: [{ call: bash(`export MARK=${tag}; sleep 60`, "t1") }] }] });
    host.message("m1");
    await until(() => processesWith(tag).length > 0);
    host.hangUp();
    host.raw("{}\n");
    host.raw("{}\n");
    await host.exited;
    expect(host.stderr).toBe("");
    await until(() => processesWith(tag).length === 0);
  });
});

describe("sessions", () => {
  it("--resume latest is the session last used in this workspace", async () => {
    const home = scratch();
    const [here, there] = [realpathSync(scratch()), realpathSync(scratch())];
    for (const [cwd, id] of [
      [here, "one"],
      [here, "two"],
      [there, "three"],
    ] as const) {
      const host = await ready({ home, cwd, args: ["--session-id", id] });
      host.message("m", "say hi");
      await host.stream("m");
      await host.finish();
    }
    const latest = async (cwd: string) => (await ready({ home, cwd, args: ["--resume", "latest"] })).of("ready")[0]?.session_id;
    expect([await latest(here), await latest(there)]).toEqual(["two", "three"]);
  });

  it("that are not there, or that another process has, are config_error and exit 1", async () => {
    const [home, cwd] = [scratch(), scratch()];
    const refused = async (args: string[]): Promise<string> => {
      const host = launch({ home, cwd, args });
      // It does not wait for ready: what it asks has no answer but the reason.
      host.message("m1");
      expect((await host.exited).code).toBe(1);
      const [event] = host.of("error");
      expect(host.events).toEqual([
        { type: "error", msg_id: null, error: { code: "config_error", message: event?.error.message, retryable: false } },
      ]);
      return event?.error.message ?? "";
    };
    expect(await refused(["--resume", "nope"])).toContain("'nope' not found");
    expect(await refused(["--resume", "latest"])).toContain("No session");
    const holder = await ready({ home, cwd, args: ["--session-id", "mine"] });
    expect(await refused(["--resume", "mine"])).toContain(`process ${holder.child.pid}`);
    expect(await refused(["--session-id", "mine"])).toContain("'mine'");
    expect(await refused(["--resume", "mine", "--no-session"])).toMatch(/switched off/);
  });

  it("take an init_history in front of the first message of a resumed one as well", async () => {
    const [home, cwd] = [scratch(), scratch()];
    const first = await ready({ home, cwd, args: ["--session-id", "s"] });
    first.message("m1", "say hi");
    await first.stream("m1");
    await first.finish();
    const host = await ready({ home, cwd, args: ["--resume", "s"], responses: [{ expect: { messages: 5 }, say: "both" }] });
    host.send({ type: "init_history", text: "and this" });
    host.message("m2");
    await host.stream("m2");
    expect([host.text("m2"), host.of("info"), host.of("error")]).toEqual(["both", [], []]);
  });

  it("outlive a kill: the next run knows what was said, and is told that the last one was cut", async () => {
    const [home, cwd] = [scratch(), scratch()];
    const first = await ready({
      home,
      cwd,
      args: ["--session-id", "s", "--auto-approve"],
      responses: [{ say: "heron", call: bash("sleep 60", "t1") }],
    });
    first.message("m1");
    await first.next("tool_running");
    first.child.kill("SIGKILL");
    await first.exited;
    const host = await ready({ home, cwd, args: ["--resume", "s"], responses: [{ say: "and on" }] });
    expect(await host.next("info")).toMatchObject({ msg_id: "", message: expect.stringContaining("sleep 60") });
    host.message("m2");
    await host.stream("m2");
    expect([host.text("m2"), host.of("error")]).toEqual(["and on", []]);
  });

  it("resumed without --auto-approve ask again, whatever the last run was allowed", async () => {
    const [home, cwd] = [scratch(), scratch()];
    const first = await ready({
      home,
      cwd,
      args: ["--session-id", "s", "--auto-approve"],
      responses: [{ call: write("a", "t1") }, { say: "ok" }],
    });
    first.message("m1");
    await first.stream("m1");
    expect(first.of("tool_request")).toEqual([]);
    await first.finish();
    const host = await ready({ home, cwd, args: ["--resume", "s"], responses: [{ call: write("b", "t2") }, { say: "ok" }] });
    host.message("m2");
    expect(await host.next("tool_request")).toMatchObject({ call_id: "t2" });
    host.send({ type: "stop" });
    await host.stream("m2");
  });

  it("are refused where the home cannot be written, and go on without a memory where none is wanted", async () => {
    const refused = launch({ home: "/proc/nowhere" });
    expect(await refused.next("error")).toMatchObject({ error: { message: expect.stringContaining("cannot be saved"), retryable: false } });
    const host = launch({ home: "/proc/nowhere", args: ["--no-session"] });
    expect(Object.keys(await host.next("ready"))).not.toContain("session_id");
    host.message("m1", "say hi");
    await host.stream("m1");
  });
});
