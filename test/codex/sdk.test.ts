/** The official Codex SDK, as it is: it starts the launcher `codex` in place of Codex, and a scripted model answers. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Codex, type ThreadEvent, type ThreadOptions } from "@openai/codex-sdk";
import { describe, expect, it } from "vitest";
import { environment, processesWith, scratch, until } from "../process/harness.js";
import { launchers } from "../support/launchers.js";
import { modelServer, type ModelServer, type Reply } from "../support/model-server.js";

interface Bench {
  codex: Codex;
  server: ModelServer;
  options: ThreadOptions;
  cwd: string;
  mark: string;
}

async function bench(replies: Reply[], options: ThreadOptions = {}): Promise<Bench> {
  const server = await modelServer("openai-chat", replies);
  const cwd = scratch();
  const mark = `codex-sdk-${cwd}`;
  const codex = new Codex({
    codexPathOverride: join(await launchers(), "codex"),
    baseUrl: `${server.url}/v1`,
    apiKey: server.key,
    env: { ...environment(), CODEX_SDK_TEST: mark },
  });
  return { codex, server, cwd, mark, options: { model: "gpt-5.1", workingDirectory: cwd, skipGitRepoCheck: true, ...options } };
}

const bash = (command: string): Reply => ({ calls: [{ name: "Bash", args: { command } }] });

describe("the Codex SDK with codexPathOverride set to the launcher", () => {
  it("hears the answer, its items and its usage, and names the thread", async () => {
    const { codex, server, options } = await bench([{ text: ["Hel", "lo"], usage: { input: 7, output: 2 } }]);
    const thread = codex.startThread(options);
    const turn = await thread.run("hi");
    expect(turn).toEqual({
      items: [{ id: "item_0", type: "agent_message", text: "Hello" }],
      finalResponse: "Hello",
      usage: { input_tokens: 7, cached_input_tokens: 0, cache_write_input_tokens: 0, output_tokens: 2, reasoning_output_tokens: 0 },
    });
    expect(thread.id).toEqual(expect.any(String));
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${server.key}`);
  }, 60_000);

  it("hears a streamed turn in order, with thinking", async () => {
    const { codex, options } = await bench([{ thinking: ["Let me", " see"], text: ["done"] }]);
    const { events } = await codex.startThread(options).runStreamed("think");
    const heard: ThreadEvent[] = [];
    for await (const event of events) heard.push(event);
    expect(heard).toMatchObject([
      { type: "thread.started" },
      { type: "turn.started" },
      { type: "item.completed", item: { type: "reasoning", text: "Let me see" } },
      { type: "item.completed", item: { type: "agent_message", text: "done" } },
      { type: "turn.completed" },
    ]);
  }, 60_000);

  it("sees a command and a change of a file that the sandbox mode lets run", async () => {
    const write: Reply = { calls: [{ name: "Write", args: { file_path: "new.txt", content: "x\n" } }] };
    const { codex, options, cwd } = await bench([bash("echo out; exit 3"), write, { text: ["ok"] }], {
      sandboxMode: "danger-full-access",
      approvalPolicy: "never",
    });
    const { items } = await codex.startThread(options).run("go");
    expect(items).toMatchObject([
      { type: "command_execution", command: "echo out; exit 3", exit_code: 3, status: "failed" },
      { type: "file_change", changes: [{ path: "new.txt", kind: "add" }], status: "completed" },
      { type: "agent_message", text: "ok" },
    ]);
    expect(items[0]).toMatchObject({ aggregated_output: expect.stringContaining("out") });
    expect(readFileSync(join(cwd, "new.txt"), "utf8")).toBe("x\n");
  }, 60_000);

  it("sees that nothing runs unasked where the sandbox mode does not let it", async () => {
    const { codex, options, cwd } = await bench([bash("touch forbidden"), { text: ["I could not"] }], { sandboxMode: "workspace-write" });
    const { items, finalResponse } = await codex.startThread(options).run("go");
    expect(items[0]).toMatchObject({
      type: "command_execution",
      status: "failed",
      aggregated_output: expect.stringContaining("nobody can be asked"),
    });
    expect(finalResponse).toBe("I could not");
    expect(existsSync(join(cwd, "forbidden"))).toBe(false);
  }, 60_000);

  it("goes on with a thread by its id", async () => {
    const { codex, server, options } = await bench([{ text: ["one"] }, { text: ["two"] }, { text: ["three"] }]);
    const thread = codex.startThread(options);
    await thread.run("the word is heron");
    await thread.run("again");
    const resumed = codex.resumeThread(thread.id ?? "", options);
    expect((await resumed.run("and again")).finalResponse).toBe("three");
    expect(resumed.id).toBe(thread.id);
    expect(JSON.stringify(server.requests[2]?.body)).toContain("heron");
  }, 60_000);

  it("gets the result that a schema asks for as the last message", async () => {
    const outputSchema = { type: "object", properties: { answer: { type: "number" } }, required: ["answer"], additionalProperties: false };
    const { codex, options } = await bench([{ calls: [{ name: "structured_output", args: { answer: 42 } }] }]);
    const { finalResponse } = await codex.startThread(options).run("how much", { outputSchema });
    expect(JSON.parse(finalResponse)).toEqual({ answer: 42 });
  }, 60_000);

  it("hears that a turn failed where the model keeps to no schema", async () => {
    const outputSchema = { type: "object", properties: { answer: { type: "number" } } };
    const { codex, options } = await bench([{ text: ["forty-two"] }]);
    await expect(codex.startThread(options).run("how much", { outputSchema })).rejects.toThrow("without a result that has the schema");
  }, 60_000);

  it("shows the model a picture", async () => {
    const { codex, server, options, cwd } = await bench([{ text: ["a dot"] }]);
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    writeFileSync(join(cwd, "dot.png"), Buffer.from(png, "base64"));
    await codex.startThread(options).run([
      { type: "text", text: "what is this" },
      { type: "local_image", path: join(cwd, "dot.png") },
    ]);
    expect(JSON.stringify(server.requests[0]?.body)).toContain("data:image/png;base64,");
  }, 60_000);

  it("hears the provider's error as that of the turn", async () => {
    const { codex, options } = await bench([{ error: { status: 400, message: "no such thing" } }]);
    await expect(codex.startThread(options).run("hi")).rejects.toThrow("no such thing");
  }, 60_000);

  it("hears the reason when a thread cannot be resumed", async () => {
    const { codex, options } = await bench([]);
    await expect(codex.resumeThread("01JUNKNOWN0000000000000000", options).run("hi")).rejects.toThrow("01JUNKNOWN0000000000000000");
  }, 60_000);

  it("aborts a turn, and leaves no process behind", async () => {
    const { codex, server, options, mark } = await bench([{ text: ["for ever"], hold: "end" }]);
    const abort = new AbortController();
    const run = codex.startThread(options).run("wait", { signal: abort.signal });
    const failed = run.then(
      () => "it ended",
      (error: unknown) => String(error),
    );
    await server.received(1);
    abort.abort();
    expect(await failed).toMatch(/abort/i);
    await until(() => processesWith(mark).length === 0);
  }, 60_000);

  it("is told the reason of an option that Codex no longer takes", async () => {
    const { codex, options } = await bench([], { approvalPolicy: "untrusted" });
    await expect(codex.startThread(options).run("hi")).rejects.toThrow('approval_policy = "untrusted" is no longer supported');
  }, 60_000);
});
