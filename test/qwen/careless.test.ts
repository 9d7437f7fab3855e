/** The RFC from the outside: hosts that say things twice, in the wrong words or too much of it. None is met with silence, or by a call that nobody allowed. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { agentSide } from "../../src/dialects/qwen/agent/side.js";
import { AnsiReader, styledPatch } from "../../src/dialects/qwen/agent/terminal.js";
import { sideEnv } from "../../src/link/stamp.js";
import { scratch } from "../process/harness.js";
import { received, requestId } from "./host.js";

const TOOL = { name: "lookup", parameters: { type: "object" } };

describe("hooks of the host", () => {
  it.each(["deny", "reject", "perhaps"])("one that answers behavior '%s' has not let the call through", async (behavior) => {
    const cwd = scratch();
    const host = await received({
      cwd,
      args: ["--yolo"],
      responses: [{ call: { tool: "Bash", args: { command: "touch ran" } } }, { expect: { toolResult: "not here" }, say: "ok" }],
    });
    host.say("go", { metadata: { host_hooks: { pre_tool_use: "guard" } } });
    const asked = await host.next("control_request:hook_callback");
    host.respond(requestId(asked), { subtype: "success", result: { behavior, message: "not here" } });
    await host.next("summary");
    expect(host.all("display:canceled")).toHaveLength(1);
    expect(existsSync(join(cwd, "ran"))).toBe(false);
  });

  it("one that approves as an approval does is no word against it", async () => {
    const host = await received({ args: ["--yolo"], responses: [{ call: { tool: "Bash", args: { command: "true" } } }, "ok"] });
    host.say("go", { metadata: { host_hooks: { pre_tool_use: "guard" } } });
    host.approve(await host.next("control_request:hook_callback"));
    await host.next("summary");
    expect(host.all("display:success")).toHaveLength(1);
  });

  it("for an event that there is not: the request is refused, not run unguarded", async () => {
    const host = await received({ responses: ["said"] });
    host.say("go", { prompt_id: "p", metadata: { host_hooks: { PreToolUse: "guard" } } });
    const refused = await host.next("error");
    expect(refused.metadata.error).toMatchObject({
      param: "metadata.host_hooks.PreToolUse",
      message: expect.stringContaining("pre_tool_use"),
    });
    await host.settled();
    expect(host.all("text")).toEqual([]);
  });
});

describe("servers of the host", () => {
  it.each(["", "constructor", "__proto__"])("'%s' is no name for one, and the request is told so", async (name) => {
    const host = await received({ responses: ["said"] });
    host.say("go", { metadata: { host_mcp_servers: [name] } });
    expect((await host.next("error")).metadata.error).toMatchObject({ param: "metadata.host_mcp_servers[0]" });
    expect(host.all("control_request:mcp_message")).toEqual([]);
  });
});

describe("answers that come twice", () => {
  it("a second result of one call is refused, and the first one counts", async () => {
    const host = await received({ responses: [{ call: { tool: "lookup", args: {} } }, { expect: { toolResult: "first" }, say: "ok" }] });
    host.say("go", { metadata: { host_tools: [TOOL] } });
    const running = await host.next("display:executing");
    await host.settled();
    const call = running.displays[0]?.tool_call_id ?? "";
    for (const text of ["first", "second"])
      host.send({ session_id: host.session, tool_call_id: call, input: { origin: "tool_response", parts: [{ text }] } });
    expect((await host.next("error")).metadata.error).toMatchObject({ code: "unknown_tool_call_id" });
    await host.next("summary");
    expect(host.text()).toBe("ok");
  });
});

describe("a request that is cancelled before its session knows of it", () => {
  it("has a name, and its end is told like that of any other", async () => {
    const host = await received();
    host.say("say hello", { metadata: { host_mcp_servers: ["slow"] } });
    await host.next("control_request:mcp_message");
    host.cancel();
    const end = await host.next("summary");
    const name = `${host.session}########1`;
    expect(end.metadata).toMatchObject({ prompt_id: name, cancelled: true, summary: { prompt_id: name, is_error: true } });
    expect(host.all("result/cancel")[0]?.raw).toMatchObject({ status: "ok", prompt_id: name });
    expect(host.all("event:USER_CANCELLED")[0]?.raw).toMatchObject({ prompt_id: name });
  });
});

describe("too much", () => {
  it("answers to nothing: the newest are told, and no line is as long as they are", async () => {
    const host = await received();
    for (let at = 0; at < 200; at++)
      host.send({ type: "control_response", request_id: `${at}-${"x".repeat(50_000)}`, response: { subtype: "success" } });
    const said = await host.turn("say hello");
    const errors = said.flatMap(({ metadata }) => metadata.control_errors ?? []);
    expect(errors.length).toBeLessThanOrEqual(64);
    expect(errors.at(-1)?.request_id).toMatch(/^199-x+…$/);
    expect(Math.max(...host.lines.map((line) => line.length))).toBeLessThan(100_000);
  });

  it("a prompt_id that every line would repeat is refused", async () => {
    const host = await received();
    host.say("say hello", { prompt_id: "p".repeat(100_000) });
    expect((await host.next("error")).metadata.error).toMatchObject({ param: "prompt_id" });
    expect(host.text(await host.turn("say hello"))).toBe("hello");
  });

  it("what a session cannot hold while it opens does not leave a session behind that never opens", () => {
    const side = agentSide(sideEnv);
    const opened = side.read({ launch: { argv: [], env: {} } }).in[0];
    side.write({ type: "session.ready", session: opened?.session ?? "", parent: opened?.id ?? "" });
    const request = (session_id: string, text: string) => ({ rec: { session_id, input: { parts: text } } });
    const big = "x".repeat(7 * 1024 * 1024);
    const steps = ["a", "b", "c"].map((name) => side.read(request(name, big)));
    expect(steps.map(({ in: ops }) => ops.map(({ type }) => type))).toEqual([["session.open"], ["session.open"], []]);
    expect(steps[2]?.out).toHaveLength(1);
    // Once there is room it opens as any other does.
    for (const { in: ops } of steps.slice(0, 2))
      for (const { id = "", session = "" } of ops) side.write({ type: "session.ready", session, parent: id });
    expect(side.read(request("c", "small")).in.map(({ type }) => type)).toEqual(["session.open"]);
  });

  it("nor does a session hold more than that while the host's servers are connected", () => {
    const side = agentSide(sideEnv);
    const opened = side.read({ launch: { argv: [], env: {} } }).in[0];
    side.write({ type: "session.ready", session: opened?.session ?? "", parent: opened?.id ?? "" });
    const big = "x".repeat(7 * 1024 * 1024);
    const said = [1, 2, 3, 4].map(() =>
      side.read({ rec: { session_id: opened?.session, input: { parts: big }, metadata: { host_mcp_servers: ["m"] } } }),
    );
    expect(said.map(({ out }) => out.length)).toEqual([0, 0, 0, 1]);
  });
});

describe("usage", () => {
  it("of a call before it is not that of a call which has none", async () => {
    const host = await received({
      output: "stream-chunk-json",
      args: ["--yolo"],
      responses: [
        { steps: [{ say: "one" }, { wait: 300 }], usage: { input: 100, output: 10 } },
        { call: { tool: "Bash", args: { command: "true" } }, usage: false },
        { say: "three", usage: { input: 5, output: 1 } },
      ],
    });
    host.say("go", { prompt_id: "p" });
    await host.next("delta");
    host.say("and more", { prompt_id: "p" });
    const end = await host.next("summary");
    expect(host.all("tool_calls").map(({ usage }) => usage)).toEqual([undefined]);
    expect(end.metadata.summary?.num_turns).toBe(3);
    expect(end.usage).toMatchObject({ prompt_tokens: 105, completion_tokens: 11 });
  });
});

describe("a turn that ends without an answer says why", () => {
  it.each([
    ["refusal", "SAFETY", /refused/],
    ["content_filter", "SAFETY", /filter/],
  ])("finish %s", async (finish, name, message) => {
    const host = await received({ responses: [{ say: "", finish }] });
    await host.turn();
    expect(host.all(`event:${name}`)[0]?.raw).toMatchObject({ message: expect.stringMatching(message) });
  });

  it("the limit of tool calls", async () => {
    const call = { call: { tool: "Bash", args: { command: "true" } } };
    const host = await received({ args: ["--yolo", "--max-tool-calls", "1"], responses: [call, call, "ok"] });
    await host.turn();
    expect(host.all("event:MaxSessionTurns")[0]?.raw).toMatchObject({ message: expect.stringContaining("tool calls") });
  });
});

describe("terminal styling", () => {
  it.each([
    ["\u001b[38;5;31mx", undefined],
    ["\u001b[48;5;32mx", undefined],
    ["\u001b[38;2;32;34;36mx", undefined],
    ["\u001b[48;2;32;34;36;31mx", "AccentRed"],
    ["\u001b[32m\u001b[38;5;200mx", undefined],
    ["\u001b[32m\u001b[48;5;31mx", "AccentGreen"],
    ["\u001b[1;32mx", "AccentGreen"],
    ["\u001b[32m\u001b[mx", undefined],
  ])("%j is a colour of the theme only where it says one", (text, token) => {
    expect(new AnsiReader().read(text).spans.at(-1)?.style?.theme_token).toBe(token);
  });

  it("a removed line that looks like a header is a removed line", () => {
    const { spans } = styledPatch("--- a/x.sql\n+++ b/x.sql\n@@ -1 +1 @@\n--- old\n+++ new\n");
    expect(spans.map(({ style }) => style?.theme_token)).toEqual(["Comment", "Comment", "AccentCyan", "DiffRemoved", "DiffAdded"]);
  });
});
