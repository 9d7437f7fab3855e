/** Codex's app-server, served: what a client of it may ask, and what it hears, over the pipe of the built command. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { processesWith, scratch, until } from "../process/harness.js";
import { greetedClient, startClient } from "./client.js";

describe("the greeting", () => {
  it("comes first, and once", async () => {
    const client = await startClient();
    expect(await client.ask("thread/start", {})).toMatchObject({ error: { code: -32_600, message: "Not initialized" } });
    const greeting = { clientInfo: { name: "probe", version: "0" } };
    expect(await client.ask("initialize", greeting)).toMatchObject({ result: { userAgent: expect.stringMatching(/^probe\//) } });
    expect(await client.ask("initialize", greeting)).toMatchObject({ error: { message: "Already initialized" } });
    expect(await client.finish()).toBe(0);
  });

  it("lets a client mute notifications by their names", async () => {
    const client = await startClient();
    const capabilities = { experimentalApi: true, requestAttestation: false, optOutNotificationMethods: ["thread/started"] };
    await client.ask("initialize", { clientInfo: { name: "probe", version: "0" }, capabilities });
    const turn = await client.prompt(await client.thread(), "say hi");
    await client.completed(turn);
    expect(client.of("thread/started")).toEqual([]);
  });

  it("answers what it does not know by its name, and a line that is none, and lives on", async () => {
    const client = await greetedClient();
    expect(await client.ask("no/such/thing", {})).toMatchObject({
      error: { code: -32_600, message: expect.stringContaining("no/such/thing") },
    });
    expect(await client.ask("turn/start", { input: [] })).toMatchObject({ error: { message: expect.stringContaining("threadId") } });
    expect(await client.ask("turn/start", { threadId: "none", input: [] })).toMatchObject({
      error: { message: "thread not loaded: none" },
    });
    client.raw("{oops\n");
    await until(() => client.heard.some(({ id, error }) => id === null && error?.code === -32_700));
    await client.completed(await client.prompt(await client.thread(), "say alive"));
  });
});

describe("a turn", () => {
  it("is told as Codex tells it: status, items, deltas, usage and its end", async () => {
    const client = await greetedClient();
    const threadId = await client.thread();
    const turn = await client.prompt(threadId, "think about birds, then say done");
    const end = await client.completed(turn);
    expect(end.params).toMatchObject({
      threadId,
      turn: { id: turn, status: "completed", itemsView: "summary", items: [{ text: "done" }] },
    });
    const methods = client.heard.map(({ method }) => method).filter((method) => method !== undefined);
    expect([...new Set(methods)]).toEqual([
      "thread/started",
      "thread/status/changed",
      "turn/started",
      "item/started",
      "item/completed",
      "item/reasoning/summaryPartAdded",
      "item/reasoning/summaryTextDelta",
      "item/agentMessage/delta",
      "thread/tokenUsage/updated",
      "turn/completed",
    ]);
    expect(client.items(turn)).toMatchObject([
      { type: "userMessage", content: [{ text: "think about birds, then say done" }] },
      { type: "reasoning", summary: [expect.stringContaining("birds")] },
      { type: "agentMessage", text: "done" },
    ]);
  });

  it("asks before it changes a file, shows the change, and does it", async () => {
    const cwd = scratch();
    const client = await greetedClient({ cwd });
    const turn = await client.prompt(await client.thread(), "write 'first' to new.txt");
    const question = await client.next("item/fileChange/requestApproval");
    expect(existsSync(join(cwd, "new.txt"))).toBe(false);
    expect(client.of("item/started").at(-1)?.params["item"]).toMatchObject({
      type: "fileChange",
      changes: [{ path: "new.txt", kind: { type: "add" }, diff: "first" }],
      status: "inProgress",
    });
    expect(client.of("thread/status/changed").at(-1)?.params["status"]).toEqual({ type: "active", activeFlags: ["waitingOnApproval"] });
    client.answer(question, { decision: "accept" });
    await client.completed(turn);
    expect(client.of("serverRequest/resolved").map(({ params }) => params["requestId"])).toEqual([question.id]);
    expect(client.items(turn)).toContainEqual(expect.objectContaining({ type: "fileChange", status: "completed" }));
    expect(readFileSync(join(cwd, "new.txt"), "utf8")).toContain("first");
  });

  it("does not run a command that is declined", async () => {
    const cwd = scratch();
    const client = await greetedClient({ cwd });
    const turn = await client.prompt(await client.thread(), "run `touch no.txt`");
    const question = await client.next("item/commandExecution/requestApproval");
    expect(question.params).toMatchObject({ kind: "command", command: "touch no.txt" });
    client.answer(question, { decision: "decline" });
    expect((await client.completed(turn)).params).toMatchObject({ turn: { status: "completed" } });
    expect(client.items(turn)).toContainEqual(expect.objectContaining({ type: "commandExecution", status: "declined" }));
    expect(existsSync(join(cwd, "no.txt"))).toBe(false);
  });

  it("does not ask again for the very command that was accepted for the session, and asks for any other", async () => {
    const client = await greetedClient();
    const threadId = await client.thread();
    const first = await client.prompt(threadId, "run `echo same`");
    client.answer(await client.next("item/commandExecution/requestApproval"), { decision: "acceptForSession" });
    await client.completed(first);
    await client.completed(await client.prompt(threadId, "run `echo same`"));
    expect(client.of("item/commandExecution/requestApproval")).toHaveLength(1);
    const other = await client.prompt(threadId, "run `echo other`");
    client.answer(await client.next("item/commandExecution/requestApproval", 2), { decision: "accept" });
    await client.completed(other);
  });

  it("ends with a decision that cancels, and with an answer of no known form nothing runs", async () => {
    const cwd = scratch();
    const client = await greetedClient({ cwd });
    const threadId = await client.thread();
    const cancelled = await client.prompt(threadId, "run `touch a`");
    client.answer(await client.next("item/commandExecution/requestApproval"), { decision: "cancel" });
    expect((await client.completed(cancelled)).params).toMatchObject({ turn: { status: "interrupted" } });
    const odd = await client.prompt(threadId, "run `touch b`");
    client.answer(await client.next("item/commandExecution/requestApproval", 2), { verdict: "go ahead" });
    await client.completed(odd);
    expect([existsSync(join(cwd, "a")), existsSync(join(cwd, "b"))]).toEqual([false, false]);
  });

  it("asks nobody under the policy `never`: what would be asked is denied, or runs where the sandbox is off", async () => {
    const cwd = scratch();
    const client = await greetedClient({ cwd });
    const denied = await client.prompt(await client.thread({ approvalPolicy: "never" }), "run `touch a`");
    await client.completed(denied);
    expect(client.items(denied)).toContainEqual(expect.objectContaining({ type: "commandExecution", status: "declined" }));
    const open = await client.thread({ approvalPolicy: "never", sandbox: "danger-full-access" });
    await client.completed(await client.prompt(open, "run `touch b`"));
    expect([existsSync(join(cwd, "a")), existsSync(join(cwd, "b"))]).toEqual([false, true]);
    expect(client.of("item/commandExecution/requestApproval")).toEqual([]);
  });

  it("is interrupted while a command runs, which dies of it", async () => {
    const client = await greetedClient();
    const threadId = await client.thread();
    const mark = `codex-app-${threadId}`;
    const turn = await client.prompt(threadId, `run \`export TOOL=${mark}; sleep 300\``);
    client.answer(await client.next("item/commandExecution/requestApproval"), { decision: "accept" });
    await until(() => processesWith(mark).length > 0);
    expect(await client.ask("turn/interrupt", { threadId, turnId: "another" })).toMatchObject({
      error: { message: expect.stringContaining(turn) },
    });
    expect(await client.ask("turn/interrupt", { threadId, turnId: turn })).toMatchObject({ result: {} });
    expect((await client.completed(turn)).params).toMatchObject({ turn: { status: "interrupted" } });
    await until(() => processesWith(mark).length === 0);
    expect(await client.ask("turn/interrupt", { threadId, turnId: turn })).toMatchObject({ error: { message: "no active turn" } });
  });

  it("takes more words while it runs, for the turn that the client means", async () => {
    const client = await greetedClient({ responses: [{ call: { tool: "Bash", args: { command: "echo 1" } } }, { say: "steered" }] });
    const threadId = await client.thread();
    const turn = await client.prompt(threadId, "go");
    const question = await client.next("item/commandExecution/requestApproval");
    const input = [{ type: "text", text: "also this", text_elements: [] }];
    expect(await client.ask("turn/steer", { threadId, input, expectedTurnId: "another" })).toMatchObject({ error: { code: -32_600 } });
    expect(await client.ask("turn/steer", { threadId, input, expectedTurnId: turn })).toMatchObject({ result: { turnId: turn } });
    client.answer(question, { decision: "accept" });
    await client.completed(turn);
    expect(await client.ask("turn/steer", { threadId, input, expectedTurnId: turn })).toMatchObject({
      error: { message: "no active turn to steer" },
    });
  });

  it("fails with the provider's error, which says whether to try again", async () => {
    const client = await greetedClient();
    const turn = await client.prompt(await client.thread(), "say one, then fail with a 429");
    const { params } = await client.completed(turn);
    expect(params).toMatchObject({ turn: { status: "failed", error: { codexErrorInfo: "rateLimitExceeded" } } });
    expect(client.of("error").at(-1)?.params).toMatchObject({ willRetry: false, turnId: turn });
  });

  it("uses the client's own tools, and tells what they said", async () => {
    const call = { call: { tool: "look_up", args: { q: "x" } } };
    const client = await greetedClient({ responses: [call, { say: "found" }] });
    const tool = {
      type: "function",
      name: "look_up",
      description: "looks things up",
      inputSchema: { type: "object", properties: { q: { type: "string" } } },
    };
    const turn = await client.prompt(await client.thread({ dynamicTools: [tool] }), "go");
    const question = await client.next("item/tool/call");
    expect(question.params).toMatchObject({ tool: "look_up", arguments: { q: "x" } });
    client.answer(question, { contentItems: [{ type: "inputText", text: "it is y" }], success: true });
    await client.completed(turn);
    expect(client.items(turn)).toContainEqual(
      expect.objectContaining({
        type: "dynamicToolCall",
        tool: "look_up",
        status: "completed",
        contentItems: [{ type: "inputText", text: "it is y" }],
      }),
    );
  });

  it("hands its result over where the client asks for a schema", async () => {
    const client = await greetedClient({ responses: [{ call: { tool: "structured_output", args: { answer: 7 } } }] });
    const outputSchema = { type: "object", properties: { answer: { type: "number" } }, required: ["answer"] };
    const turn = await client.prompt(await client.thread(), "how much", { outputSchema });
    const { params } = await client.completed(turn);
    expect(params).toMatchObject({ turn: { status: "completed", items: [{ type: "agentMessage", text: '{"answer":7}' }] } });
  });

  it("tells a list of steps as the plan of the turn", async () => {
    const todos = [
      { content: "look", status: "completed" },
      { content: "act", status: "in_progress" },
    ];
    const client = await greetedClient({ responses: [{ call: { tool: "TodoWrite", args: { todos } } }, { say: "planned" }] });
    await client.completed(await client.prompt(await client.thread(), "plan"));
    expect(client.of("turn/plan/updated").map(({ params }) => params["plan"])).toEqual([
      [
        { step: "look", status: "completed" },
        { step: "act", status: "inProgress" },
      ],
    ]);
  });
});

describe("threads", () => {
  it("are listed, read, and resumed by another process with what was said in them", async () => {
    const [cwd, home] = [scratch(), scratch()];
    const first = await greetedClient({ cwd, home });
    const threadId = await first.thread();
    await first.completed(await first.prompt(threadId, "remember the word otter"));
    expect((await first.ask("thread/read", { threadId, includeTurns: true })).result).toMatchObject({
      thread: {
        id: threadId,
        preview: "remember the word otter",
        turns: [{ status: "completed", items: [{ type: "userMessage" }, { type: "agentMessage" }] }],
      },
    });
    expect(await first.finish()).toBe(0);

    const second = await greetedClient({ cwd, home });
    expect((await second.ask("thread/list", {})).result).toMatchObject({ data: [{ id: threadId, preview: "remember the word otter" }] });
    const resumed = await second.ask("thread/resume", { threadId });
    expect(resumed.result).toMatchObject({
      thread: {
        id: threadId,
        turns: [{ items: [{ type: "userMessage", content: [{ text: "remember the word otter" }] }, { type: "agentMessage" }] }],
      },
    });
    const turn = await second.prompt(threadId, "what word did I tell you to remember?");
    await second.completed(turn);
    expect(JSON.stringify(second.items(turn))).toContain("otter");
  });

  it("are forked into copies of their own, and closed one by one", async () => {
    const client = await greetedClient();
    const threadId = await client.thread();
    await client.completed(await client.prompt(threadId, "remember the word heron"));
    const { result } = await client.ask("thread/fork", { threadId, excludeTurns: true });
    const copy = String(
      Object.entries(Object.entries(result ?? {}).find(([key]) => key === "thread")?.[1] ?? {}).find(([key]) => key === "id")?.[1],
    );
    expect(copy).not.toBe(threadId);
    const turn = await client.prompt(copy, "what word did I tell you to remember?");
    await client.completed(turn);
    expect(JSON.stringify(client.items(turn))).toContain("heron");
    expect((await client.ask("thread/loaded/list")).result).toMatchObject({ data: [threadId, copy] });
    expect(await client.ask("thread/unsubscribe", { threadId })).toMatchObject({ result: { status: "unsubscribed" } });
    expect((await client.ask("thread/loaded/list")).result).toMatchObject({ data: [copy] });
  });

  it("change their settings for good, and run side by side", async () => {
    const cwd = scratch();
    const client = await greetedClient({ cwd });
    const [free, careful] = [await client.thread(), await client.thread()];
    const sandboxPolicy = { type: "dangerFullAccess" };
    expect(await client.ask("thread/settings/update", { threadId: free, approvalPolicy: "never", sandboxPolicy })).toMatchObject({
      result: {},
    });
    const asked = await client.prompt(careful, "run `touch asked`");
    await client.completed(await client.prompt(free, "run `touch free`"));
    const question = await client.next("item/commandExecution/requestApproval");
    expect(question.params).toMatchObject({ threadId: careful });
    client.answer(question, { decision: "decline" });
    await client.completed(asked);
    expect([existsSync(join(cwd, "free")), existsSync(join(cwd, "asked"))]).toEqual([true, false]);
  });

  it("that nobody stored are not found", async () => {
    const client = await greetedClient();
    expect(await client.ask("thread/resume", { threadId: "01JUNKNOWN0000000000000000" })).toMatchObject({
      error: { code: -32_600, message: expect.stringContaining("01JUNKNOWN0000000000000000") },
    });
  });
});

it("the end of input lets a turn end; a signal interrupts it and tells so", async () => {
  const draining = await greetedClient();
  const last = await draining.prompt(await draining.thread(), "say goodbye");
  expect(await draining.finish()).toBe(0);
  expect((await draining.completed(last)).params).toMatchObject({ turn: { status: "completed" } });

  const client = await greetedClient();
  const turn = await client.prompt(await client.thread(), "wait forever");
  await client.next("turn/started");
  client.child.kill("SIGTERM");
  expect(await client.exited).toEqual({ code: 143, signal: null });
  expect((await client.completed(turn)).params).toMatchObject({ turn: { status: "interrupted" } });
});
