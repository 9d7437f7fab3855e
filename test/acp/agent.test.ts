/** `parley acp` with the official SDK's client at the other end. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type * as acp from "@agentclientprotocol/sdk/unstable";
import { describe, expect, it, onTestFinished } from "vitest";
import { environment, processesWith, scratch, until } from "../process/harness.js";
import { modelServer } from "../support/model-server.js";
import { Editor } from "./editor.js";

const MODES = ["default", "auto_edit", "plan", "yolo"];

describe("a conversation", () => {
  it("text and thinking come in pieces, and the answer tells what was used", async () => {
    const server = await modelServer("openai-chat", [
      { thinking: ["let me ", "see"], text: ["hel", "lo"], usage: { input: 10, output: 5 } },
    ]);
    const editor = new Editor({
      args: ["--provider", "openai", "--model", "gpt-5.1", "--base-url", `${server.url}/v1`],
      env: { OPENAI_API_KEY: server.key },
    });
    const { sessionId, modes, configOptions } = await editor.open();
    expect(editor.hello).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: "parley" },
      agentCapabilities: { loadSession: true, promptCapabilities: { image: true, embeddedContext: true } },
      authMethods: [{ id: "environment" }],
    });
    expect(modes).toMatchObject({ currentModeId: "default", availableModes: MODES.map((id) => ({ id })) });
    expect(configOptions?.map(({ id, category }) => [id, category])).toEqual(
      expect.arrayContaining([
        ["mode", "mode"],
        ["model", "model"],
      ]),
    );
    const answer = await editor.prompt(sessionId, "hello");
    expect(answer).toMatchObject({ stopReason: "end_turn", usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } });
    expect(editor.text()).toBe("hello");
    expect(editor.text(undefined, "agent_thought_chunk")).toBe("let me see");
    await editor.finish();
  });

  it("a tool is asked about and run when it is allowed, and not when it is denied", async () => {
    const answers = ["allow", "reject"];
    const editor = new Editor({ permit: () => answers.shift() });
    const { sessionId } = await editor.open();
    await editor.prompt(sessionId, "write 'x' to a.txt");
    expect(readFileSync(join(editor.cwd, "a.txt"), "utf8")).toContain("x");
    expect(editor.asked[0]).toMatchObject({
      sessionId,
      toolCall: { name: "Write", kind: "edit", status: "pending", locations: [{ path: join(editor.cwd, "a.txt") }] },
      options: [{ kind: "allow_once" }, { kind: "allow_always" }, { kind: "allow_always" }, { kind: "reject_once" }],
    });
    expect(editor.asked[0]?.toolCall.content).toMatchObject([{ type: "diff", path: join(editor.cwd, "a.txt"), oldText: null }]);
    await editor.prompt(sessionId, "write 'x' to b.txt");
    expect(existsSync(join(editor.cwd, "b.txt"))).toBe(false);
    expect(editor.calls().map(({ status }) => status)).toEqual(["completed", "failed"]);
    await editor.finish();
  });

  it("a yes for the tool covers the next call of it", async () => {
    const editor = new Editor({ permit: () => "allow-tool" });
    const { sessionId } = await editor.open();
    await editor.prompt(sessionId, "write 'x' to a.txt");
    await editor.prompt(sessionId, "write 'x' to b.txt");
    expect(editor.asked).toHaveLength(1);
    expect(existsSync(join(editor.cwd, "b.txt"))).toBe(true);
  });

  it("a permission that nobody answers is denied at its deadline, and taken back", async () => {
    const config = scratch({ "config.yaml": "limits: { approvalSeconds: 1 }\n" });
    const editor = new Editor({ permit: () => undefined, env: { PARLEY_HOME: config } });
    const { sessionId } = await editor.open();
    expect(await editor.prompt(sessionId, "write 'x' to a.txt")).toMatchObject({ stopReason: "end_turn" });
    expect(editor.of("tool_call_update").at(-1)).toMatchObject({
      status: "failed",
      content: [{ content: { text: expect.stringContaining("timed out") } }],
    });
    expect(existsSync(join(editor.cwd, "a.txt"))).toBe(false);
  });

  it("a todo list is a plan", async () => {
    const todos = [
      { content: "one", status: "completed" },
      { content: "two", status: "in_progress" },
    ];
    const editor = new Editor({ responses: [{ calls: [{ tool: "TodoWrite", args: { todos } }] }, { say: "listed" }] });
    const { sessionId } = await editor.open();
    await editor.prompt(sessionId, "plan");
    expect(editor.of("plan")).toMatchObject([{ entries: todos.map((todo) => ({ ...todo, priority: "medium" })) }]);
  });

  it("a turn that fails is an error of its prompt, and the next one works", async () => {
    const editor = new Editor();
    const { sessionId } = await editor.open();
    await expect(editor.prompt(sessionId, "fail with a 429")).rejects.toMatchObject({
      code: -32603,
      data: { retryable: true, status: 429 },
    });
    await editor.prompt(sessionId, "say better");
    expect(editor.text()).toContain("better");
  });

  it("commands are told, and one that needs no model is answered as a message", async () => {
    const editor = new Editor();
    const { sessionId } = await editor.open();
    await editor.told(() => editor.of("available_commands_update").length > 0);
    const [told] = editor.of("available_commands_update");
    expect(told?.availableCommands.map(({ name }) => name)).toContain("todo");
    expect(await editor.prompt(sessionId, "/nowhere is a word")).toMatchObject({ stopReason: "end_turn" });
    const before = editor.text().length;
    expect(await editor.prompt(sessionId, "/help")).toMatchObject({ stopReason: "end_turn" });
    expect(editor.text().length).toBeGreaterThan(before);
  });
});

describe("cancel", () => {
  it("ends a turn that streams, one that waits for a permission, and nothing when nothing runs", async () => {
    const editor = new Editor({ permit: () => undefined });
    const { sessionId } = await editor.open();
    const cancel = (): Promise<void> => editor.agent.notify("session/cancel", { sessionId });
    await cancel();
    const streams = editor.prompt(sessionId, "count to 3 then wait forever");
    await editor.told(() => editor.text() !== "");
    await cancel();
    expect(await streams).toMatchObject({ stopReason: "cancelled" });
    const waits = editor.prompt(sessionId, "write 'x' to a.txt");
    await editor.told(() => editor.asked.length === 1);
    await cancel();
    expect(await waits).toMatchObject({ stopReason: "cancelled" });
    expect(existsSync(join(editor.cwd, "a.txt"))).toBe(false);
    await editor.prompt(sessionId, "say on we go");
    expect(editor.text()).toContain("on we go");
    await editor.finish();
  });

  it("ends a running command with its processes, and the prompt that waits behind it", async () => {
    const mark = `acp-${Math.random().toString(36).slice(2)}`;
    const editor = new Editor();
    const { sessionId } = await editor.open();
    const runs = editor.prompt(sessionId, `run \`export TOOL=${mark}; sleep 300\``);
    const queued = editor.prompt(sessionId, "say never");
    await until(() => processesWith(mark).length > 0);
    await editor.agent.notify("session/cancel", { sessionId });
    expect(await Promise.all([runs, queued])).toMatchObject([{ stopReason: "cancelled" }, { stopReason: "cancelled" }]);
    await until(() => processesWith(mark).length === 0);
    expect(editor.calls()).toMatchObject([{ status: "failed" }]);
  });

  it("is what a cancelled question and a cancelled request mean, too", async () => {
    const editor = new Editor({ permit: () => "cancelled" });
    const { sessionId } = await editor.open();
    expect(await editor.prompt(sessionId, "write 'x' to a.txt")).toMatchObject({ stopReason: "cancelled" });
    const abort = new AbortController();
    const prompt = [{ type: "text" as const, text: "count to 3 then wait forever" }];
    const gone = editor.agent.request("session/prompt", { sessionId, prompt }, { cancellationSignal: abort.signal });
    await editor.told(() => editor.text() !== "");
    abort.abort();
    await expect(gone).resolves.toMatchObject({ stopReason: "cancelled" });
  });
});

describe("sessions", () => {
  it("several run at once, each with its own words", async () => {
    const editor = new Editor();
    const [one, two] = [await editor.open(), await editor.open()];
    const [first, second] = [editor.prompt(one.sessionId, "count to 30"), editor.prompt(two.sessionId, "say two here")];
    expect(await Promise.all([first, second])).toMatchObject([{ stopReason: "end_turn" }, { stopReason: "end_turn" }]);
    expect(editor.text(two.sessionId)).toBe("two here");
    expect(editor.text(one.sessionId)).toContain("30");
    await editor.agent.request("session/close", { sessionId: one.sessionId });
    await expect(editor.prompt(one.sessionId, "say gone")).rejects.toMatchObject({ code: -32002 });
    await editor.prompt(two.sessionId, "say still here");
    expect(editor.text(two.sessionId)).toContain("still here");
    await editor.finish();
  });

  it("are listed, loaded with their past, resumed without it, and forked", async () => {
    const home = scratch();
    const first = new Editor({ env: { PARLEY_HOME: home } });
    const { sessionId } = await first.open();
    await first.prompt(sessionId, "remember the word otter");
    await first.prompt(sessionId, "write 'x' to a.txt");
    await first.finish();
    const again = new Editor({ env: { PARLEY_HOME: home } });
    await again.greet();
    const place = { cwd: first.cwd, mcpServers: [] };
    const { sessions } = await again.agent.request("session/list", { cwd: first.cwd });
    expect(sessions).toMatchObject([{ sessionId, cwd: first.cwd, title: expect.stringContaining("otter"), updatedAt: expect.any(String) }]);
    expect((await again.agent.request("session/list", { cwd: "/nowhere" })).sessions).toEqual([]);
    expect(await again.agent.request("session/status", { sessionId })).toMatchObject({ status: "saved" });
    const loaded = await again.agent.request("session/load", { sessionId, ...place });
    expect(loaded.modes?.currentModeId).toBe("default");
    expect(again.text(sessionId, "user_message_chunk")).toContain("otter");
    expect(again.calls()).toMatchObject([{ status: "completed" }]);
    expect(again.asked).toEqual([]);
    expect(await again.agent.request("session/status", { sessionId })).toMatchObject({ status: "open" });
    await again.prompt(sessionId, "what word did I tell you to remember?");
    expect(again.text(sessionId)).toMatch(/otter/i);
    const copy = await again.agent.request("session/fork", { sessionId, ...place });
    expect(copy.sessionId).not.toBe(sessionId);
    await again.prompt(copy.sessionId, "what word did I tell you to remember?");
    expect(again.text(copy.sessionId)).toMatch(/otter/i);
    const told = again.updates.length;
    await again.agent.request("session/close", { sessionId });
    await again.agent.request("session/resume", { sessionId, ...place });
    expect(again.updates.slice(told).filter(({ update }) => update.sessionUpdate === "user_message_chunk")).toEqual([]);
    await again.prompt(sessionId, "what word did I tell you to remember?");
    await expect(again.agent.request("session/load", { sessionId: "nobody", ...place })).rejects.toMatchObject({ code: -32002 });
    await again.finish();
  });

  it("are removed for good, also one that is open", async () => {
    const editor = new Editor();
    const [one, two] = [await editor.open(), await editor.open()];
    for (const { sessionId } of [one, two]) await editor.prompt(sessionId, "say hello");
    await editor.agent.request("session/close", { sessionId: one.sessionId });
    for (const { sessionId } of [one, two]) {
      await editor.agent.request("session/delete", { sessionId });
      await expect(editor.prompt(sessionId, "say gone")).rejects.toMatchObject({ code: -32002 });
      const place = { sessionId, cwd: editor.cwd, mcpServers: [] };
      await expect(editor.agent.request("session/load", place)).rejects.toMatchObject({ code: -32002 });
    }
    expect((await editor.agent.request("session/list", {})).sessions).toEqual([]);
    await editor.finish();
  });

  it("do not begin behind a logout, until the client has logged in again", async () => {
    const editor = new Editor();
    const { sessionId } = await editor.open();
    await editor.agent.request("logout", {});
    await expect(editor.open()).rejects.toMatchObject({ code: -32000 });
    await editor.prompt(sessionId, "say still here");
    expect(editor.text(sessionId)).toBe("still here");
    await editor.agent.request("authenticate", { methodId: "environment" });
    await editor.open();
  });

  it("change their mode and their options, and are told when a mode changes by itself", async () => {
    const editor = new Editor();
    const { sessionId } = await editor.open();
    await editor.agent.request("session/set_mode", { sessionId, modeId: "yolo" });
    await editor.prompt(sessionId, "write 'x' to a.txt");
    expect(editor.asked).toEqual([]);
    const set = await editor.agent.request("session/set_config_option", { sessionId, configId: "mode", value: "default" });
    expect(set.configOptions.find(({ id }) => id === "mode")).toMatchObject({ currentValue: "default" });
    await editor.prompt(sessionId, "write 'x' to b.txt");
    expect(editor.asked).toHaveLength(1);
    expect(editor.of("current_mode_update")).toMatchObject([{ currentModeId: "default" }]);
    expect(editor.of("config_option_update")).toHaveLength(1);
    await expect(editor.agent.request("session/set_mode", { sessionId, modeId: "wild" })).rejects.toMatchObject({ code: -32602 });
  });

  it("have the folders, servers and system prompt that they were opened with", async () => {
    const more = scratch({ "far.txt": "far away\n" });
    const server = await modelServer("openai-chat", [{ text: ["ok"] }]);
    const editor = new Editor({
      args: ["--provider", "openai", "--model", "gpt-5.1", "--base-url", `${server.url}/v1`],
      env: { OPENAI_API_KEY: server.key },
    });
    const fixture = join(import.meta.dirname, "../fixtures/mcp/official.mjs");
    const { sessionId } = await editor.open({
      additionalDirectories: [more],
      mcpServers: [{ name: "calc", command: process.execPath, args: [fixture], env: [] }],
      systemPrompt: { mode: "append", content: [{ type: "text", text: "Answer in verse." }] },
    });
    await editor.prompt(sessionId, "hello");
    const [asked] = server.requests;
    expect(JSON.stringify(asked?.body)).toContain("Answer in verse.");
    expect(JSON.stringify(asked?.body)).toContain("mcp__calc__");
    expect(JSON.stringify(asked?.body)).toContain(more);
  });

  it("use the client's MCP servers over HTTP and SSE, with their headers", async () => {
    const servers = await Promise.all((["http", "sse"] as const).map(remoteServer));
    const editor = new Editor();
    const { sessionId } = await editor.open({ mcpServers: servers });
    for (const { name } of servers) await editor.prompt(sessionId, `call mcp__${name}__echo with {"text":"over ${name}"}`);
    expect(editor.text()).toContain("echo: over http");
    expect(editor.text()).toContain("echo: over sse");
    expect(editor.asked.map(({ toolCall }) => toolCall.name)).toEqual(["mcp__http__echo", "mcp__sse__echo"]);
    await editor.finish();
  });

  it("cannot begin without a key: that is a login that is missing", async () => {
    const editor = new Editor({ args: ["--provider", "openai"] });
    await editor.greet();
    await expect(editor.open()).rejects.toMatchObject({ code: -32000, message: expect.stringContaining("OPENAI_API_KEY") });
    await expect(editor.agent.request("authenticate", { methodId: "environment" })).resolves.toEqual({});
    await editor.finish();
  });
});

describe("a question of the agent", () => {
  const questions = [{ question: "Which one?", header: "One", options: [{ label: "red" }, { label: "blue" }] }];
  const responses = [{ calls: [{ tool: "AskUser", args: { questions } }] }, { say: "thanks" }];

  it("is a form of the client's, and what is filled in goes to the model", async () => {
    const forms: acp.CreateElicitationRequest[] = [];
    const editor = new Editor({
      responses,
      capabilities: { elicitation: { form: {} } },
      fill(form) {
        forms.push(form);
        return { action: "accept", content: { answer1: "blue" } };
      },
    });
    const { sessionId } = await editor.open();
    await editor.prompt(sessionId, "ask");
    expect(forms).toMatchObject([{ mode: "form", sessionId, message: "Which one?" }]);
    expect(JSON.stringify(editor.of("tool_call_update").at(-1)?.content)).toContain("blue");
    expect(editor.calls()).toMatchObject([{ status: "completed" }]);
  });

  it("is not asked where the client has no forms", async () => {
    const editor = new Editor({ responses });
    const { sessionId } = await editor.open();
    expect(await editor.prompt(sessionId, "ask")).toMatchObject({ stopReason: "end_turn" });
    expect(editor.calls()).toMatchObject([{ status: "failed" }]);
  });
});

describe("what the editor does itself", () => {
  const fs = { readTextFile: true, writeTextFile: true };

  it("files that it has not saved count, and what is written goes to it", async () => {
    const buffers = new Map<string, string>();
    const editor = new Editor({ buffers, capabilities: { fs } });
    const path = join(editor.cwd, "a.txt");
    writeFileSync(path, "on disk\n");
    buffers.set(path, "in the editor\n");
    const { sessionId } = await editor.open();
    await editor.prompt(sessionId, "read a.txt and tell me what it says");
    expect(editor.text()).toContain("in the editor");
    await editor.prompt(sessionId, "write 'new' to b.txt");
    expect(buffers.get(join(editor.cwd, "b.txt"))).toContain("new");
    expect(existsSync(join(editor.cwd, "b.txt"))).toBe(false);
  });

  it("commands run in its terminals, which the call shows", async () => {
    const editor = new Editor({ capabilities: { terminal: true } });
    const { sessionId } = await editor.open();
    await editor.prompt(sessionId, "run `echo from $PWD`");
    expect(editor.commands).toEqual(["bash -c echo from $PWD", "release"]);
    const updates = editor.of("tool_call_update");
    const shown = updates.flatMap(({ content }) => (content == null ? [] : [content]));
    for (const content of shown) expect(content).toEqual([{ type: "terminal", terminalId: "terminal-0" }]);
    expect(updates.at(-1)?.rawOutput).toEqual({ output: expect.stringContaining(`from ${editor.cwd}`) });
    expect(editor.calls()).toMatchObject([{ status: "completed" }]);
  });

  it("a command in its terminal is killed when the turn is cancelled", async () => {
    const editor = new Editor({ capabilities: { terminal: true } });
    const { sessionId } = await editor.open();
    const runs = editor.prompt(sessionId, "run `sleep 300`");
    await until(() => editor.commands.length > 0);
    await editor.agent.notify("session/cancel", { sessionId });
    expect(await runs).toMatchObject({ stopReason: "cancelled" });
    await until(() => editor.commands.includes("release"));
    expect(editor.commands).toEqual(["bash -c sleep 300", "kill", "release"]);
    await editor.prompt(sessionId, "say fine");
    await editor.finish();
  });
});

/** A server on the official SDK that wants a header. */
async function remoteServer(type: "http" | "sse"): Promise<acp.McpServerHttp & { type: "http" | "sse" }> {
  const path = join(import.meta.dirname, "../fixtures/mcp/official.mjs");
  const child = spawn(process.execPath, [path, type, "a-key"], { env: environment(), stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  await until(() => said.includes("\n"));
  const [, port = ""] = /port (\d+)/.exec(said) ?? [];
  return { type, name: type, url: `http://127.0.0.1:${port}/mcp`, headers: [{ name: "X-Key", value: "a-key" }] };
}

describe("the end", () => {
  it("an agent that is killed leaves nothing of its commands behind", async () => {
    const mark = `acp-${Math.random().toString(36).slice(2)}`;
    const editor = new Editor();
    const { sessionId } = await editor.open();
    const doomed = editor.prompt(sessionId, `run \`export TOOL=${mark}; sleep 300\``);
    doomed.catch(() => {});
    await until(() => processesWith(mark).length > 0);
    editor.child.kill("SIGKILL");
    await expect(doomed).rejects.toThrow("closed");
    await until(() => processesWith(mark).length === 0);
  });

  it("the end of input lets the running turn finish", async () => {
    const editor = new Editor({ env: environment() });
    const { sessionId } = await editor.open();
    const last = editor.prompt(sessionId, "count to 30");
    await editor.told(() => editor.text() !== "");
    editor.child.stdin.end();
    expect(await last).toMatchObject({ stopReason: "end_turn" });
    expect(await editor.exited).toBe(0);
  });
});
