/** MCP servers that the host adds: real ones over each transport, between ready and the first message, and what comes of the others. */
import { describe, expect, it } from "vitest";
import type { CommandOf } from "../../src/dialects/aionrs/wire/records.js";
import { ready, type AionrsHost, type AionrsOptions } from "../aionrs/host.js";
import { listening, OFFICIAL } from "../extensions/mcp-harness.js";

const STDIO: CommandOf<"add_mcp_server"> = {
  type: "add_mcp_server",
  name: "files",
  transport: "stdio",
  command: process.execPath,
  args: [OFFICIAL, "stdio"],
};
const echo = (server: string) => ({ tool: `mcp__${server}__echo`, args: { text: "hello" }, id: "t1" });

function wayland(options: AionrsOptions = {}): Promise<AionrsHost> {
  return ready({ dialect: "wayland", ...options });
}

async function echoes(host: AionrsHost): Promise<string> {
  host.message("m1");
  expect((await host.asks("t1")).tool).toMatchObject({ category: "mcp" });
  host.approve("t1");
  await host.stream("m1");
  return host.of("tool_result")[0]?.output ?? "";
}

describe.each(["wayland", "aionrs@0.2"] as const)("%s", (dialect) => {
  it("D36: stdio: mcp_ready lists the tools, and the first message has them", async () => {
    const host = await ready({ dialect, responses: [{ call: echo("files") }, { say: "ok" }] });
    host.send({ ...STDIO, env: { GREETING: "x" } });
    const { name, tools } = await host.next("mcp_ready");
    expect([name, tools.includes("echo")]).toEqual(["files", true]);
    expect(await echoes(host)).toBe("echo: hello");
    expect(await host.finish()).toBe(0);
  });

  it("D36: after the first message it is rejected, and the session goes on", async () => {
    const host = await ready({ dialect });
    host.message("m1", "say hi");
    await host.stream("m1");
    host.send(STDIO);
    expect((await host.next("error")).error).toMatchObject({ code: "protocol_error", message: expect.stringContaining("'files'") });
    if (dialect === "wayland") expect(await host.next("mcp_failed")).toMatchObject({ name: "files" });
    host.message("m2", "say on");
    await host.stream("m2");
    expect([host.text("m2"), host.of("mcp_ready")]).toEqual(["on", []]);
  });
});

describe("wayland", () => {
  it.each([
    ["streamable-http", "http"],
    ["sse", "sse"],
  ] as const)("%s", async (transport, kind) => {
    const { port } = await listening(OFFICIAL, [kind, "secret-key"]);
    const host = await wayland({ responses: [{ call: echo("web") }, { say: "ok" }] });
    const url = `http://127.0.0.1:${port}/mcp`;
    host.send({ type: "add_mcp_server", name: "web", transport, url, headers: { "X-Key": "secret-key" } });
    await host.next("mcp_ready");
    expect(await echoes(host)).toBe("echo: hello");
    expect(host.lines.join("\n")).not.toContain("secret-key");
  });

  it("several at once, and commands between them: only a message closes the window", async () => {
    const host = await wayland();
    host.send(
      STDIO,
      { type: "ping" },
      { type: "set_mode", mode: "force" },
      { type: "init_history", text: "Earlier" },
      { ...STDIO, name: "more" },
    );
    await host.next("mcp_ready", ({ name }) => name === "files");
    await host.next("mcp_ready", ({ name }) => name === "more");
    expect(host.of("error")).toEqual([]);
  });

  it("one that cannot be started is mcp_failed with the reason, and can be added again", async () => {
    const host = await wayland();
    host.send({ ...STDIO, command: "/nonexistent/server" });
    expect(await host.next("mcp_failed")).toMatchObject({ name: "files", reason: expect.stringContaining("/nonexistent/server") });
    host.send(STDIO);
    await host.next("mcp_ready");
    expect(host.of("error")).toEqual([]);
  });

  it("one that never answers holds up neither the others nor the first message", async () => {
    const host = await wayland({ responses: [{ call: echo("files") }, { say: "ok" }] });
    host.send({ ...STDIO, name: "silent", args: ["-e", "setInterval(() => {}, 60_000)"] }, STDIO);
    await host.next("mcp_ready", ({ name }) => name === "files");
    expect(await echoes(host)).toBe("echo: hello");
    expect(host.of("mcp_failed")).toEqual([]);
    expect(await host.finish()).toBe(0);
  });

  it("nor does one that is connected to together with others", async () => {
    const silent = { command: process.execPath, args: ["-e", "setInterval(() => {}, 60_000)"] };
    const host = await wayland({ config: { mcpServers: { silent, own: { command: process.execPath, args: [OFFICIAL, "stdio"] } } } });
    expect(await host.next("mcp_ready")).toMatchObject({ name: "own" });
    expect(host.of("mcp_failed")).toEqual([]);
    expect(await host.finish()).toBe(0);
  });

  it("the same one once more is connected anew, and told again", async () => {
    const host = await wayland();
    const missing = { ...STDIO, name: "missing", command: "/nonexistent/server" };
    host.send(missing, STDIO);
    const failed = await host.next("mcp_failed");
    const connected = await host.next("mcp_ready");
    host.send(missing, STDIO);
    expect(await host.next("mcp_failed", (event) => event !== failed)).toEqual(failed);
    expect(await host.next("mcp_ready", (event) => event !== connected)).toEqual(connected);
    expect([host.of("error"), host.of("config_changed")]).toEqual([[], []]);
  });

  it.each([
    ["a transport that is none", { transport: "pigeon" }, /transport.*pigeon/],
    ["stdio without a command", { command: "" }, /needs a command/],
    ["sse without an address", { transport: "sse" }, /needs a url/],
    ["no name", { name: "" }, /needs a name/],
  ])("%s is protocol_error", async (_, change, words) => {
    const host = await wayland();
    host.raw(`${JSON.stringify({ ...STDIO, ...change })}\n`);
    expect((await host.next("error")).error).toMatchObject({ code: "protocol_error", message: expect.stringMatching(words) });
  });

  it("servers of the user's own config are told too, once they are there; aionrs tells only what was added", async () => {
    const config = { mcpServers: { own: { command: process.execPath, args: [OFFICIAL, "stdio"] } } };
    const host = await wayland({ config });
    expect(await host.next("mcp_ready")).toMatchObject({ name: "own" });
    const aionrs = await ready({ dialect: "aionrs@0.2", config });
    aionrs.send(STDIO);
    await aionrs.next("mcp_ready");
    expect(aionrs.of("mcp_ready").map(({ name }) => name)).toEqual(["files"]);
  });
});
