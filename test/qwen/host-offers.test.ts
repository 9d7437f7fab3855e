/** The RFC from the outside: what a host brings along: tools that it runs itself, MCP servers, hooks. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import type { Heard } from "./heard.js";
import { launch, received, requestId, story, type QwenHost } from "./host.js";

const WEATHER = {
  name: "get_weather",
  description: "The weather",
  parameters: { type: "object", properties: { city: { type: "string" } } },
};
const CALL = { call: { tool: "get_weather", args: { city: "Oslo" } } };

describe("tools of the host", () => {
  function respond(host: QwenHost, call: string, parts: unknown[]): void {
    host.send({ session_id: host.session, tool_call_id: call, input: { origin: "tool_response", parts } });
  }

  it.each([
    ["function_response", [{ type: "function_response", function_response: { name: "get_weather", response: { output: "rain" } } }]],
    ["functionResponse", [{ functionResponse: { response: { output: "rain" } } }]],
    ["text", [{ type: "text", text: "rain" }]],
  ])("Q34: a call of one is answered by the host, with %s", async (_name, parts) => {
    const host = await received({ responses: [CALL, { expect: { toolResult: "rain" }, say: "It rains" }] });
    host.say("how is it?", { metadata: { host_tools: [WEATHER] } });
    const running = await host.next("display:executing");
    const call = running.displays[0]?.tool_call_id ?? "";
    expect(host.all("tool_calls")[0]?.calls).toMatchObject([{ id: call, function: { name: "get_weather", arguments: '{"city":"Oslo"}' } }]);
    respond(host, call, parts);
    await host.next("summary");
    expect(story(host.heard.slice(1))).toBe("tool_calls display:pending display:executing display:success text event:Finished summary");
    expect(host.text()).toBe("It rains");
  });

  it("declared as OpenAI does, and answered before we asked", async () => {
    const tools = [{ type: "function", function: WEATHER }];
    const host = await received({ responses: [CALL, { expect: { toolResult: "sun" }, say: "It shines" }] });
    host.say("how is it?", { options: { tools } });
    const named = await host.next("tool_calls");
    respond(host, named.calls[0]?.id ?? "", [{ text: "sun" }]);
    await host.next("summary");
    expect(host.text()).toBe("It shines");
  });

  it("an error of it is a failed call", async () => {
    const host = await received({ responses: [CALL, { expect: { toolResult: "no such city" }, say: "Hm" }] });
    host.say("how is it?", { metadata: { host_tools: [WEATHER] } });
    const { displays } = await host.next("display:executing");
    respond(host, displays[0]?.tool_call_id ?? "", [{ functionResponse: { response: { error: { message: "no such city" } } } }]);
    await host.next("summary");
    expect(host.all("display:error")).toHaveLength(1);
  });

  it("are there for that request only, and are given up at the deadline", async () => {
    const host = await received({
      config: { limits: { approvalSeconds: 1 } },
      responses: [
        CALL,
        { expect: { toolResult: "did not answer" }, say: "Nobody knows" },
        CALL,
        { expect: { toolResult: "Unknown tool" }, say: "No tool" },
      ],
    });
    await host.turn("how is it?", { metadata: { host_tools: [WEATHER] } });
    expect(host.text()).toBe("Nobody knows");
    await host.turn("and now?");
    expect(host.text()).toBe("Nobody knowsNo tool");
  });
});

/** A small MCP server with one tool, as its host would have it. */
function mcpAnswer(message: { id?: number; method: string; params?: { arguments?: { text?: string } } }): unknown {
  const { id, method, params } = message;
  if (id === undefined) return null;
  const result = {
    initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "box", version: "1" } },
    "tools/list": {
      tools: [{ name: "shout", description: "Louder", inputSchema: { type: "object", properties: { text: { type: "string" } } } }],
    },
    "tools/call": { content: [{ type: "text", text: String(params?.arguments?.text).toUpperCase() }] },
  }[method];
  return result === undefined ? { jsonrpc: "2.0", id, error: { code: -32601, message: "no" } } : { jsonrpc: "2.0", id, result };
}

describe("Q58, Q59: MCP servers of the host", () => {
  type Placing = (answer: unknown) => Record<string, unknown>;
  const inResult: Placing = (mcp_response) => ({ subtype: "success", result: { mcp_response } });
  const beside: Placing = (mcp_response) => ({ subtype: "success", mcp_response });

  /** Answers every message of the server from here on. */
  function serving(host: QwenHost, place: Placing, done: () => boolean): Promise<void> {
    const answered = new Set<string>();
    return (async () => {
      while (!done()) {
        const request = await Promise.race([
          host.next("control_request:mcp_message", (line) => !answered.has(requestId(line))),
          host.next("summary"),
        ]);
        if (request.word === "summary") return;
        answered.add(requestId(request));
        const { message } = request.raw["payload"] as { message: Parameters<typeof mcpAnswer>[0] };
        host.respond(requestId(request), place(mcpAnswer(message)));
      }
    })();
  }

  it.each([
    ["in the result", inResult],
    ["beside it", beside],
  ])("R42: connected before the turn, called in it; the answer stands %s", async (_name, place) => {
    const host = await received({
      args: ["--yolo"],
      responses: [{ call: { tool: "mcp__box__shout", args: { text: "hello" } } }, { expect: { toolResult: "HELLO" }, say: "loud" }],
    });
    host.say("go", { prompt_id: "p-1", metadata: { host_mcp_servers: ["box"] } });
    await serving(host, place, () => host.all("summary").length > 0);
    expect(host.text()).toBe("loud");
    const [first] = host.all("control_request:mcp_message");
    expect(first?.raw).toMatchObject({
      session_id: host.session,
      payload: { server_name: "box", message: { jsonrpc: "2.0", method: "initialize" } },
    });
    expect(host.all("control_request:mcp_message").some(({ raw }) => raw["prompt_id"] === "p-1")).toBe(true);
  });

  it("a confirmation names the server and the tool", async () => {
    const host = await received({ responses: [{ call: { tool: "mcp__box__shout", args: { text: "hello" } } }, { say: "ok" }] });
    host.say("go", { metadata: { host_mcp_servers: ["box"] } });
    void serving(host, inResult, () => host.all("display:confirming").length > 0).catch(() => {});
    const request = await host.next("control_request:can_use_tool");
    expect(host.all("display:confirming")[0]?.displays[0]?.confirmation).toMatchObject({
      type: "mcp",
      server_name: "box",
      tool_name: "shout",
    });
    expect(request.raw["metadata"]).toMatchObject({ reason: "call_mcp_tool" });
    host.deny(request);
    await host.next("summary");
  });

  it("a server that fails holds the turn up no longer, and the failure is told", async () => {
    const host = await received({ responses: [{ say: "without it" }] });
    host.say("go", { metadata: { host_mcp_servers: ["box"] } });
    const request = await host.next("control_request:mcp_message");
    host.respond(requestId(request), { subtype: "error", error: { message: "the box is shut", retryable: false } });
    await host.next("summary");
    expect(host.text()).toBe("without it");
    expect(host.heard.flatMap(({ metadata }) => metadata.control_errors ?? [])).toMatchObject([
      { request_id: requestId(request), subtype: "mcp_message", message: "the box is shut" },
    ]);
  });

  it("a request that waits for them can be cancelled", async () => {
    const host = await received({ responses: [{ say: "never" }] });
    host.say("go", { prompt_id: "p-1", metadata: { host_mcp_servers: ["box"] } });
    await host.next("control_request:mcp_message");
    host.cancel({ prompt_id: "p-1" });
    const summary = await host.next("summary");
    expect(story(host.heard.slice(-3))).toBe("result/cancel event:USER_CANCELLED summary");
    expect(summary.metadata).toMatchObject({ cancelled: true, summary: { num_turns: 0, is_error: true } });
  });

  it("the end of input ends the waiting, too", async () => {
    const host = launch({ responses: [{ say: "without it" }] });
    host.send({ metadata: { host_mcp_servers: ["box"] }, input: { parts: "go" } });
    expect(await host.finish()).toBe(0);
    expect(host.text()).toBe("without it");
  });
});

describe("Q58: hooks of the host", () => {
  const write = { call: { tool: "Write", args: { file_path: "a.txt", content: "a" } } };

  async function hooked(): Promise<{ host: QwenHost; cwd: string; request: Heard }> {
    const cwd = scratch();
    const host = await received({ cwd, args: ["--yolo"], responses: [write, { say: "ok" }] });
    host.say("go", { prompt_id: "p-1", metadata: { host_hooks: { pre_tool_use: "hook-1" } } });
    return { host, cwd, request: await host.next("control_request:hook_callback") };
  }

  it("is asked before the call, and may block it", async () => {
    const { host, cwd, request } = await hooked();
    expect(request.raw).toMatchObject({
      session_id: host.session,
      prompt_id: "p-1",
      payload: {
        callback_id: "hook-1",
        input: { event: "pre_tool_use", call: { name: "Write" } },
        tool_call_id: expect.stringMatching(/./),
      },
    });
    host.respond(requestId(request), { subtype: "success", result: { decision: "block", reason: "not on Sundays" } });
    await host.next("summary");
    expect(existsSync(join(cwd, "a.txt"))).toBe(false);
    expect(host.all("display:canceled")[0]?.displays[0]?.result_display).toMatchObject({ text: expect.stringContaining("not on Sundays") });
  });

  it("with no objection the call runs", async () => {
    const { host, cwd, request } = await hooked();
    host.respond(requestId(request), { subtype: "success", result: {} });
    await host.next("summary");
    expect(existsSync(join(cwd, "a.txt"))).toBe(true);
  });

  it("one that fails blocks, and is told as a control error", async () => {
    const { host, cwd, request } = await hooked();
    host.respond(requestId(request), { subtype: "error", error: { message: "crashed", retryable: false } });
    await host.next("summary");
    expect(existsSync(join(cwd, "a.txt"))).toBe(false);
    expect(host.heard.flatMap(({ metadata }) => metadata.control_errors ?? [])).toMatchObject([
      { subtype: "hook_callback", message: "crashed" },
    ]);
  });
});
