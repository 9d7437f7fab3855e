/** Hosts of the Claude Agent SDK with Parley as its program: answers, permissions, sessions, modes, hooks, servers, failures. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  createSdkMcpServer,
  query,
  type CanUseTool,
  type HookCallback,
  type Options,
  type Query,
  type SDKMessage,
} from "@anthropic-ai/claude-agent-sdk";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { describe, expect, test } from "vitest";
import { until } from "../process/harness.js";
import type { Reply } from "../support/model-server.js";
import { ask, Conversation, heard, host, MODEL, textOf } from "./sdk.js";

const USAGE = { input: 11, cacheRead: 3, cacheWrite: 2, output: 7 };
const touch = (file: string): Reply => ({ text: ["I will."], calls: [{ name: "Bash", args: { command: `touch ${file}` } }], usage: USAGE });
const done: Reply = { text: ["Done."], usage: USAGE };
const metas = (all: readonly SDKMessage[]): unknown[] =>
  all.flatMap((message) => ("tool_result_meta" in message && Array.isArray(message.tool_result_meta) ? message.tool_result_meta : []));
const allow: CanUseTool = (_tool, input) => Promise.resolve({ behavior: "allow", updatedInput: input });

describe("answers", () => {
  test("a prompt is answered by messages and a result with the turn's usage", async () => {
    const sdk = await host([{ thinking: ["hm"], signature: "c2ln", text: ["Hel", "lo"], usage: USAGE }, done]);
    const conversation = new Conversation();
    conversation.say("hi");
    const { all, results, types } = await heard(query({ prompt: conversation.input(), options: sdk.options }), (message) => {
      if (message.type !== "result") return;
      if (sdk.server.requests.length === 1) conversation.say("again");
      else conversation.end();
    });
    expect(types).toEqual(["system/init", "assistant", "assistant", "result", "system/init", "assistant", "result"]);
    expect(all[0]).toMatchObject({ model: MODEL, permissionMode: "default", tools: expect.arrayContaining(["Read", "Bash", "Task"]) });
    const usage = { input_tokens: 11, output_tokens: 7, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 };
    // The usage of a result is its turn's; that of the models, and the cost, is the whole process's: Sonnet's list prices.
    const cost = (11 * 3 + 3 * 0.3 + 2 * 3.75 + 7 * 15) / 1_000_000;
    expect(results).toMatchObject([
      {
        subtype: "success",
        result: "Hello",
        is_error: false,
        usage,
        terminal_reason: "completed",
        modelUsage: { [MODEL]: { inputTokens: 11, contextWindow: expect.any(Number), costUSD: expect.closeTo(cost, 9) } },
        total_cost_usd: expect.closeTo(cost, 9),
      },
      {
        subtype: "success",
        result: "Done.",
        usage,
        modelUsage: { [MODEL]: { inputTokens: 22, outputTokens: 14 } },
        total_cost_usd: expect.closeTo(2 * cost, 9),
      },
    ]);
  });

  test("with partial messages the pieces come first, and are those of one API message", async () => {
    const sdk = await host([{ text: ["Hel", "lo"], calls: [{ name: "Glob", args: { pattern: "*" } }], usage: USAGE }, done]);
    const { all } = await ask(sdk, "hi", { includePartialMessages: true });
    const pieces = all.flatMap((message) => (message.type === "stream_event" ? [message.event] : []));
    const first = pieces.slice(0, pieces.findIndex(({ type }) => type === "message_stop") + 1);
    expect(first.map(({ type }) => type)).toEqual([
      "message_start",
      "content_block_start",
      ...first
        .filter(({ type }) => type === "content_block_delta")
        .slice(1)
        .map(() => "content_block_delta"),
      "content_block_stop",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    expect(first.flatMap((piece) => (piece.type === "content_block_start" ? [piece.index] : []))).toEqual([0, 1]);
    const answers = all.flatMap((message) => (message.type === "assistant" ? [message.message.id] : []));
    expect(first[0]).toMatchObject({ message: { id: answers[0], type: "message", usage: { input_tokens: 0, output_tokens: 0 } } });
    expect(first).toContainEqual(
      expect.objectContaining({ type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null } }),
    );
  });

  test("the result of a schema is structured output", async () => {
    const schema = { type: "object", properties: { answer: { type: "number" } }, required: ["answer"] };
    const sdk = await host([{ calls: [{ name: "StructuredOutput", args: { answer: 42 } }] }]);
    const { results } = await ask(sdk, "compute", { outputFormat: { type: "json_schema", schema } });
    expect(results).toMatchObject([{ subtype: "success", structured_output: { answer: 42 } }]);
  });

  test("a failure of the API is an answer, an error result, and an error of the SDK", async () => {
    const sdk = await host([{ error: { status: 400, message: "scripted" } }]);
    const { all, results, failure } = await ask(sdk, "hi");
    expect(all.map(textOf).join("")).toContain("API Error");
    expect(results).toMatchObject([{ subtype: "success", is_error: true, api_error_status: 400, terminal_reason: "api_error" }]);
    expect(failure).toContain("returned an error result");
  });

  test("the most turns end a prompt with error_max_turns", async () => {
    const sdk = await host([touch("a"), touch("b")]);
    const { results, failure } = await ask(sdk, "loop", { maxTurns: 2, canUseTool: allow });
    expect(results).toMatchObject([
      { subtype: "error_max_turns", terminal_reason: "max_turns", errors: ["Reached maximum number of turns (2)"] },
    ]);
    expect(failure).toContain("Reached maximum number of turns");
  });
});

describe("permissions", () => {
  test("a call runs once it is allowed, with the arguments of the answer", async () => {
    const sdk = await host([touch("original"), done]);
    const asked: unknown[] = [];
    const { all, results } = await ask(sdk, "go", {
      canUseTool(tool, input, { suggestions, toolUseID }) {
        asked.push({ tool, input, suggestions, isNamed: toolUseID !== "" });
        return Promise.resolve({ behavior: "allow", updatedInput: { command: "touch changed" } });
      },
    });
    expect(asked).toEqual([
      {
        tool: "Bash",
        input: { command: "touch original" },
        suggestions: [
          {
            type: "addRules",
            rules: [{ toolName: "Bash", ruleContent: expect.stringMatching(/^touch.*:\*$/) }],
            behavior: "allow",
            destination: "session",
          },
        ],
        isNamed: true,
      },
    ]);
    expect([existsSync(join(sdk.cwd, "original")), existsSync(join(sdk.cwd, "changed"))]).toEqual([false, true]);
    expect(results).toMatchObject([{ subtype: "success", permission_denials: [] }]);
    expect(metas(all)).toMatchObject([{ permission_decision: { decision: "accept", source: "user_temporary" } }]);
  });

  test("a denied call is not run, and the model hears why", async () => {
    const sdk = await host([touch("a.txt"), done]);
    const { all, results } = await ask(sdk, "go", { canUseTool: () => Promise.resolve({ behavior: "deny", message: "not on a Friday" }) });
    expect(existsSync(join(sdk.cwd, "a.txt"))).toBe(false);
    expect(results).toMatchObject([{ permission_denials: [{ tool_name: "Bash", tool_input: { command: "touch a.txt" } }] }]);
    expect(all).toContainEqual(
      expect.objectContaining({
        type: "user",
        message: { role: "user", content: [expect.objectContaining({ type: "tool_result", content: "not on a Friday", is_error: true })] },
      }),
    );
    expect(JSON.stringify(sdk.server.requests[1]?.body)).toContain("not on a Friday");
  });

  test("a denial that interrupts ends the turn", async () => {
    const sdk = await host([touch("a.txt")]);
    const { results } = await ask(sdk, "go", { canUseTool: () => Promise.resolve({ behavior: "deny", message: "stop", interrupt: true }) });
    expect(results).toMatchObject([{ subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_tools" }]);
    expect(sdk.server.requests).toHaveLength(1);
  });

  test("an accepted rule covers the next call of the tool", async () => {
    const sdk = await host([touch("a"), touch("b"), done]);
    let asked = 0;
    await ask(sdk, "go", {
      canUseTool(_tool, input) {
        asked++;
        const rule = {
          type: "addRules" as const,
          rules: [{ toolName: "Bash" }],
          behavior: "allow" as const,
          destination: "session" as const,
        };
        return Promise.resolve({ behavior: "allow", updatedInput: input, updatedPermissions: [rule] });
      },
    });
    expect(asked).toBe(1);
    expect(existsSync(join(sdk.cwd, "b"))).toBe(true);
  });

  test("a question to the user is asked as a permission, and answered with it", async () => {
    const questions = [
      {
        question: "Which?",
        header: "Pick",
        options: [
          { label: "A", description: "a" },
          { label: "B", description: "b" },
        ],
      },
    ];
    const sdk = await host([{ calls: [{ name: "AskUserQuestion", args: { questions } }] }, done]);
    await ask(sdk, "go", {
      canUseTool: (_tool, input) => Promise.resolve({ behavior: "allow", updatedInput: { ...input, answers: { "Which?": "B" } } }),
    });
    expect(JSON.stringify(sdk.server.requests[1]?.body)).toMatch(/Which\?.{1,12}B/);
  });

  test("bypassPermissions asks nothing, and dontAsk denies what would be asked", async () => {
    const sdk = await host([touch("a"), done, touch("b"), done]);
    const bypass = await ask(sdk, "go", { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true });
    expect(bypass.all[0]).toMatchObject({ permissionMode: "bypassPermissions" });
    const careful = await ask(sdk, "go", { permissionMode: "dontAsk", canUseTool: allow });
    expect(careful.results).toMatchObject([{ permission_denials: [{ tool_name: "Bash" }] }]);
    expect([existsSync(join(sdk.cwd, "a")), existsSync(join(sdk.cwd, "b"))]).toEqual([true, false]);
    expect(careful.all).toContainEqual(expect.objectContaining({ subtype: "permission_denied", tool_name: "Bash" }));
    expect(metas(careful.all)).toMatchObject([{ permission_decision: { decision: "reject", source: "config" } }]);
  });
});

describe("the control channel", () => {
  test("an interrupt ends the turn, and the next prompt is answered", async () => {
    const sdk = await host([{ text: ["tick"], hold: "end" }, done]);
    const conversation = new Conversation();
    conversation.say("wait");
    const running = query({ prompt: conversation.input(), options: { ...sdk.options, includePartialMessages: true } });
    let interrupted: Promise<unknown> | undefined;
    const { all, results } = await heard(running, (message) => {
      if (message.type === "stream_event" && message.event.type === "content_block_delta") interrupted ??= running.interrupt();
      if (message.type !== "result") return;
      if (message.is_error) conversation.say("again");
      else conversation.end();
    });
    expect(await interrupted).toEqual({ still_queued: [] });
    const stops = all.flatMap((message) =>
      message.type === "stream_event" && message.event.type === "message_delta" ? [message.event.delta.stop_reason] : [],
    );
    expect(stops).toEqual([null, "end_turn"]);
    expect(results).toMatchObject([
      { subtype: "error_during_execution", terminal_reason: "aborted_streaming" },
      { subtype: "success", result: "Done." },
    ]);
  });

  test("an interrupt takes the open question back, and the call counts as denied", async () => {
    const sdk = await host([touch("a"), done]);
    const conversation = new Conversation();
    conversation.say("go");
    let running: Query | undefined;
    let takenBack = false;
    const options: Options = {
      ...sdk.options,
      canUseTool: (_tool, _input, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            takenBack = true;
            resolve({ behavior: "deny", message: "too late" });
          });
          void running?.interrupt();
        }),
    };
    running = query({ prompt: conversation.input(), options });
    const { results } = await heard(running, (message) => {
      if (message.type !== "result") return;
      // The signal of a question that was not taken back fires when the program leaves.
      if (message.is_error) conversation.say(takenBack ? "again" : "never");
      else conversation.end();
    });
    expect(results).toMatchObject([
      { subtype: "error_during_execution", terminal_reason: "aborted_tools", permission_denials: [{ tool_name: "Bash" }] },
      { subtype: "success", result: "Done." },
    ]);
    expect(JSON.stringify(sdk.server.requests[1]?.body)).toContain("again");
  });

  test("prompts are said again, and states told, where the host asks for that", async () => {
    const sdk = await host([touch("a"), done]);
    const { all } = await ask(sdk, "go", {
      canUseTool: allow,
      extraArgs: { "replay-user-messages": null },
      env: { ...sdk.options.env, CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: "1" },
    });
    expect(all.find((message) => message.type === "user")).toMatchObject({ isReplay: true, message: { content: [{ text: "go" }] } });
    const states = all.flatMap((message) =>
      message.type === "system" && message.subtype === "session_state_changed" ? [message.state] : [],
    );
    expect(states).toEqual(["running", "requires_action", "running", "idle"]);
  });

  test("modes, models, thinking, servers and lists are asked for and answered", async () => {
    const sdk = await host([done]);
    const conversation = new Conversation();
    const running = query({ prompt: conversation.input(), options: sdk.options });
    const listening = heard(running, (message) => {
      if (message.type === "result") conversation.end();
    });
    expect((await running.supportedCommands()).map(({ name }) => name)).toContain("context");
    expect(await running.supportedModels()).toMatchObject([{ value: "default", resolvedModel: MODEL }]);
    expect((await running.supportedAgents()).map(({ name }) => name)).toContain("general");
    expect(await running.mcpServerStatus()).toEqual([]);
    expect(await running.getContextUsage()).toMatchObject({ maxTokens: 200_000, model: MODEL });
    await running.setPermissionMode("manual" as "default");
    await running.setPermissionMode("plan");
    await expect(running.setPermissionMode("nonsense" as "plan")).rejects.toThrow("must be one of acceptEdits");
    await running.setModel("claude-haiku-4-5");
    await running.setMaxThinkingTokens(2048);
    await running.applyFlagSettings({ model: MODEL });
    expect(await running.setMcpServers({})).toEqual({ added: [], removed: [], errors: {} });
    await expect(running.rewindFiles("x")).rejects.toThrow("No file checkpoint found for this message.");
    conversation.say("hi");
    const { all } = await listening;
    expect(all.find((message) => message.type === "system" && message.subtype === "init")).toMatchObject({
      model: MODEL,
      permissionMode: "plan",
    });
    expect(sdk.server.requests[0]?.body).toMatchObject({ thinking: { type: "enabled", budget_tokens: 2048 } });
  });

  test("hooks are asked at their moments, and a guard denies a call", async () => {
    const sdk = await host([touch("a"), { text: ["No."] }]);
    const events: string[] = [];
    const listens: HookCallback = (input) => {
      events.push(input.hook_event_name);
      return Promise.resolve({});
    };
    const denies: HookCallback = () =>
      Promise.resolve({
        hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "guarded" },
      });
    const { results } = await ask(sdk, "go", {
      canUseTool: allow,
      hooks: {
        UserPromptSubmit: [{ hooks: [listens] }],
        PreToolUse: [
          { matcher: "Bash", hooks: [listens, denies] },
          { matcher: "Write", hooks: [listens] },
        ],
        Stop: [{ hooks: [listens] }],
      },
    });
    expect(events).toEqual(["UserPromptSubmit", "PreToolUse", "Stop"]);
    expect(existsSync(join(sdk.cwd, "a"))).toBe(false);
    expect(JSON.stringify(sdk.server.requests[1]?.body)).toContain("guarded");
    expect(results).toMatchObject([{ subtype: "success", result: "No." }]);
  });

  test("a hook that allows a call spares its host the question, and one that asks has it asked", async () => {
    const sdk = await host([touch("a"), { calls: [{ name: "Glob", args: { pattern: "*" } }] }, done]);
    const asked: string[] = [];
    const decides: HookCallback = (input) =>
      Promise.resolve({
        hookSpecificOutput: {
          hookEventName: "PreToolUse",
          permissionDecision: input.hook_event_name === "PreToolUse" && input.tool_name === "Bash" ? "allow" : "ask",
        },
      });
    await ask(sdk, "go", {
      hooks: { PreToolUse: [{ hooks: [decides] }] },
      canUseTool(tool, input) {
        asked.push(tool);
        return Promise.resolve({ behavior: "allow", updatedInput: input });
      },
    });
    expect(asked).toEqual(["Glob"]);
    expect(existsSync(join(sdk.cwd, "a"))).toBe(true);
  });

  test("tools of an MCP server in the host's process are called", async () => {
    const sdk = await host([{ calls: [{ name: "mcp__mine__greet", args: {} }] }, done]);
    const instance = new McpServer({ name: "mine", version: "1" });
    instance.registerTool("greet", { description: "Greets" }, () => ({ content: [{ type: "text", text: "good morning" }] }));
    const { all } = await ask(sdk, "go", {
      mcpServers: { mine: { ...createSdkMcpServer({ name: "mine" }), instance } },
      canUseTool: allow,
    });
    expect(all[0]).toMatchObject({
      mcp_servers: [{ name: "mine", status: "connected" }],
      tools: expect.arrayContaining(["mcp__mine__greet"]),
    });
    expect(JSON.stringify(sdk.server.requests[1]?.body)).toContain("good morning");
  });

  test("sub-agents of the host work under their call, with Claude Code's names", async () => {
    const task = { tasks: [{ name: "look", prompt: "Look around", agent: "helper" }] };
    const sdk = await host([{ calls: [{ name: "Spawn", args: task }] }, { text: ["Found."] }, done]);
    const { all } = await ask(sdk, "go", {
      canUseTool: allow,
      agents: { helper: { description: "helps", prompt: "You help", tools: ["Read"] } },
    });
    const call = all
      .flatMap((message) => (message.type === "assistant" ? message.message.content : []))
      .find(({ type }) => type === "tool_use");
    expect(call).toMatchObject({ name: "Agent", input: { description: "look", prompt: "Look around", subagent_type: "helper" } });
    expect(all.filter((message) => message.type === "assistant" && message.parent_tool_use_id !== null).map(textOf)).toEqual(["Found."]);
    expect(JSON.stringify(sdk.server.requests[1]?.body)).toContain("You help");
  });
});

describe("sessions", () => {
  test("a session has the id of its host, is resumed, forked and continued", async () => {
    const sdk = await host([{ text: ["one"] }, { text: ["two"] }, { text: ["three"] }, { text: ["four"] }, { text: ["five"] }]);
    const sessionId = "11111111-1111-4111-8111-111111111111";
    const ids = [];
    const named = "22222222-2222-4222-8222-222222222222";
    const copies = { resume: sessionId, forkSession: true };
    for (const more of [{ sessionId }, { resume: sessionId }, copies, { continue: true }, { ...copies, sessionId: named }])
      ids.push((await ask(sdk, "hi", more)).results[0]?.session_id);
    const [first, second, fork, latest, own] = ids;
    expect([first, second, own]).toEqual([sessionId, sessionId, named]);
    expect(fork).not.toBe(sessionId);
    expect(latest).toBe(fork);
    expect(sdk.server.requests.map(({ body }) => JSON.stringify(body).match(/"role":"user"/g)?.length)).toEqual([1, 2, 3, 4, 3]);
  });

  test("a session that is not stored is refused in a result", async () => {
    const sdk = await host([]);
    const { results, failure } = await ask(sdk, "hi", { resume: "00000000-0000-4000-8000-000000000000" });
    expect(results).toMatchObject([{ subtype: "error_during_execution", errors: [expect.stringContaining("not found")] }]);
    expect(failure).toContain("not found");
  });

  test("closing a query in the middle of a turn leaves no process behind", async () => {
    const sdk = await host([{ text: ["tick"], hold: "end" }]);
    const running = query({ prompt: "wait", options: { ...sdk.options, includePartialMessages: true } });
    await heard(running, (message) => {
      if (message.type === "stream_event" && message.event.type === "content_block_delta") running.close();
    });
    await until(() => sdk.processes.alive().length === 0);
    expect(sdk.server.requests).toHaveLength(1);
  });
});
