/** MCP servers: those of the host, over the control channel, and those that it names. */
import { describe, expect, it } from "vitest";
import { fixture } from "../support/processes.js";
import type { QwenHost } from "./host.js";
import { initialized, launch } from "./host.js";

interface Rpc {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
}

/** A server of the host's own: one tool that adds. */
function serve(host: QwenHost, answer: (message: Rpc) => unknown): void {
  let at = 0;
  const look = (): void => {
    for (const requests = host.of("control_request"); at < requests.length; at++) {
      const line = requests[at];
      if (line?.request.subtype !== "mcp_message") continue;
      host.reply(line.request_id, { mcp_response: answer(line.request.message) });
    }
  };
  host.child.stdout.on("data", look);
}

function calculator({ id = 0, method, params }: Rpc): unknown {
  const result = (value: unknown): unknown => ({ jsonrpc: "2.0", id, result: value });
  switch (method) {
    case "initialize":
      return result({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "calc", version: "1" } });
    case "tools/list":
      return result({
        tools: [
          {
            name: "add",
            description: "Adds",
            inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
          },
        ],
      });
    case "tools/call": {
      const { a, b } = Object(params?.["arguments"]);
      return result({ content: [{ type: "text", text: String(Number(a) + Number(b)) }] });
    }
    default:
      return result({});
  }
}

const add = { call: { tool: "mcp__calc__add", args: { a: 2, b: 3 }, id: "t1" } };

describe("a server of the host", () => {
  it("that is named a second time holds nothing up", async () => {
    const host = launch({ responses: [{ say: "one" }, { say: "two" }] });
    serve(host, calculator);
    const servers = { sdkMcpServers: { calc: { type: "sdk", name: "calc" } } };
    await host.initialize(servers);
    expect(await host.ask()).toMatchObject({ result: "one" });
    await host.initialize(servers);
    expect(await host.ask()).toMatchObject({ result: "two" });
    expect(await host.finish()).toBe(0);
  });

  it("is there for the first prompt, even when nobody waits for initialize", async () => {
    const host = launch({ args: ["--yolo"], responses: [add, { expect: { toolResult: "5" }, say: "five" }] });
    serve(host, calculator);
    host.request("initialize", { sdkMcpServers: { calc: { type: "sdk", name: "calc" } } });
    expect(await host.ask("add")).toMatchObject({ subtype: "success", result: "five" });
    expect(host.of("system")[0]).toMatchObject({
      mcp_servers: [{ name: "calc", status: "connected" }],
      tools: expect.arrayContaining(["mcp__calc__add"]),
    });
    expect(host.toolResult("t1")).toEqual({ is_error: false, content: "5" });
    expect(await host.control("mcp_server_status")).toMatchObject({ response: { status: { calc: "connected" } } });
    const methods = host
      .of("control_request")
      .flatMap(({ request }) => (request.subtype === "mcp_message" ? [request.message["method"]] : []));
    expect(methods).toEqual(expect.arrayContaining(["initialize", "notifications/initialized", "tools/list", "tools/call"]));
  });

  it("a call of it is asked for", async () => {
    const host = launch({ responses: [add, { say: "done" }] });
    serve(host, calculator);
    await host.initialize({ sdkMcpServers: { calc: { type: "sdk", name: "calc" } } });
    host.user("add");
    const { id, request } = await host.permission("t1");
    expect(request).toMatchObject({
      tool_name: "mcp__calc__add",
      permission_suggestions: [{ type: "allow", label: "Allow MCP Tool" }, { type: "deny" }],
    });
    host.reply(id, { behavior: "allow" });
    await host.result();
    expect(host.toolResult("t1").content).toBe("5");
  });

  it("S45: one that answers wrongly does not keep the session from working", async () => {
    const host = launch({ args: ["--yolo"], responses: [add, { say: "without" }] });
    serve(host, (message) => ({ jsonrpc: "2.0", id: (message.id ?? 0) + 100, error: { code: -1, message: "wrong" } }));
    await host.initialize({ sdkMcpServers: { calc: { type: "sdk", name: "calc" } }, timeout: { canUseTool: 1500 } });
    expect(await host.ask("add")).toMatchObject({ subtype: "success", result: "without" });
    expect(host.of("system").find(({ subtype }) => subtype === "init")).toMatchObject({
      mcp_servers: [{ name: "calc", status: "disconnected" }],
    });
    expect(host.toolResult("t1").is_error).toBe(true);
  });

  it("an error for it fails it at once", async () => {
    const host = launch({ responses: [{ say: "ok" }] });
    host.child.stdout.on("data", () => {
      for (const { request_id, request } of host.of("control_request"))
        if (request.subtype === "mcp_message") host.replyError(request_id, "MCP server 'calc' not found in SDK-embedded servers");
    });
    await host.initialize({ sdkMcpServers: { calc: { type: "sdk", name: "calc" } } });
    await host.ask();
    expect(host.of("system").find(({ subtype }) => subtype === "init")).toMatchObject({
      mcp_servers: [{ name: "calc", status: "disconnected" }],
    });
  });

  it("the end of input ends what waits for it", async () => {
    const host = launch({ responses: [{ say: "ok" }] });
    host.request("initialize", { sdkMcpServers: { calc: { type: "sdk", name: "calc" } } });
    host.user();
    expect(await host.finish()).toBe(0);
    expect(host.of("result")).toMatchObject([{ subtype: "success", result: "ok" }]);
  });
});

describe("a server that the host names", () => {
  const server = { command: process.execPath, args: [fixture("mcp/official.mjs"), "stdio"] };

  it("in initialize is started, and there for the first prompt", async () => {
    const host = await initialized({ responses: [{ say: "ok" }] }, { mcpServers: { echo: server } });
    await host.ask();
    expect(host.of("system").find(({ subtype }) => subtype === "init")).toMatchObject({
      mcp_servers: [{ name: "echo", status: "connected" }],
    });
  });

  it("in --mcp-config, too; --allowed-mcp-server-names leaves out those of the configuration", async () => {
    const host = launch({
      args: ["--mcp-config", JSON.stringify({ mcpServers: { echo: server } }), "--allowed-mcp-server-names", "none"],
      config: { mcpServers: { other: server } },
      responses: [{ say: "ok" }],
    });
    await host.ask();
    expect(host.of("system")[0]).toMatchObject({ mcp_servers: [{ name: "echo", status: "connected" }] });
  });
});
