/** What goes wrong on the way: servers that fail, limits that are reached, signals. Each prompt still has exactly one result. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import { modelServer, type Reply } from "../support/model-server.js";
import { marked, until } from "../support/processes.js";
import { initialized, launch, modelFlags, start, type Options, type QwenHost } from "./host.js";

async function withServer(
  replies: Reply[],
  options: Options = {},
): Promise<{ host: QwenHost; server: Awaited<ReturnType<typeof modelServer>> }> {
  const server = await modelServer("openai-chat", replies);
  const model = ["--provider", "openai", "--model", "gpt-4o", "--base-url", server.url, "--api-key", server.key];
  return { host: await initialized({ model, ...options }), server };
}

describe("the model's server", () => {
  it.each([401, 400])("S35: status %i is an answer, an error result, and the session lives", async (status) => {
    const { host } = await withServer([{ error: { status, message: "fake provider error" } }, { text: ["ok"] }]);
    const result = await host.ask();
    expect(result).toMatchObject({ subtype: "error_during_execution", is_error: true, num_turns: 1 });
    const text = result.subtype === "success" ? "" : (result.error?.message ?? "");
    expect(text).toMatch(/^\[API Error: .*\]$/);
    expect(host.of("assistant")[0]?.message.content).toEqual([{ type: "text", text }]);
    expect(await host.ask()).toMatchObject({ subtype: "success", result: "ok" });
    expect(await host.finish()).toBe(0);
  });

  it("S36: every new try is told, they are few, and then it is an error result", async () => {
    const down: Reply = { error: { status: 500, message: "down", retryAfter: 0 } };
    const { host, server } = await withServer(Array.from({ length: 11 }, () => down));
    expect(await host.ask()).toMatchObject({ is_error: true, error: { message: expect.stringContaining("API Error") } });
    expect(server.requests).toHaveLength(11);
    const tries = host.of("system").flatMap((line) => (line.subtype === "retry" ? [line.data] : []));
    expect(tries).toMatchObject(
      Array.from({ length: 10 }, (_, at) => ({ reason: "retry", attempt: at + 1, maxRetries: 10, delayMs: 0, preserveText: false })),
    );
  });

  it("S37: a stream that is cut after something was said is asked for again, and the result is the whole answer", async () => {
    const { host } = await withServer([{ text: ["Hello"], cut: "after" }, { text: ["again"] }]);
    const result = await host.ask();
    expect(result).toMatchObject({ subtype: "success", result: "again" });
    expect(host.story()).toContain("retry");
    const texts = host.of("assistant").flatMap(({ message }) => message.content.map((block) => (block.type === "text" ? block.text : "")));
    expect(texts.filter((text) => text.includes("Hello"))).toEqual(["Hello"]);
  });

  it("a stream that is cut before anything was said is tried again, and told", async () => {
    const { host } = await withServer([{ cut: "before" }, { text: ["Hello"] }]);
    expect(await host.ask()).toMatchObject({ subtype: "success", result: "Hello" });
    expect(host.story()).toContain("retry");
    expect(host.of("assistant")).toHaveLength(1);
  });

  it("S38: an answer that is cut short by its length is gone on with, and has one result", async () => {
    const { host, server } = await withServer([{ text: ["half an ans"], stop: "length" }, { text: ["wer"] }]);
    expect(await host.ask()).toMatchObject({ subtype: "success", result: "wer" });
    expect([server.requests.length, host.of("result").length]).toEqual([2, 1]);
  });

  it("S39: an empty answer is asked for once more, and has one result", async () => {
    const { host, server } = await withServer([{ text: [] }, { text: [] }]);
    await host.ask();
    expect(server.requests).toHaveLength(2);
    expect(host.of("result")).toHaveLength(1);
  });

  it("another model answers where the first is overloaded, and that is told", async () => {
    const busy: Reply = { error: { status: 503, message: "overloaded", retryAfter: 0 } };
    const { host, server } = await withServer([busy, busy, busy, busy, { text: ["from the second"] }], {
      args: ["--fallback-model", "gpt-4o-mini"],
    });
    expect(await host.ask()).toMatchObject({ result: "from the second" });
    const told = host.of("system").find(({ subtype }) => subtype === "model_fallback");
    expect(told).toMatchObject({ data: { fromModel: "gpt-4o", toModel: "gpt-4o-mini", statusCode: 503, fallbackIndex: 0 } });
    expect(server.requests.at(-1)?.body).toMatchObject({ model: "gpt-4o-mini" });
  });
});

describe("limits", () => {
  const call = (id: string) => ({ call: { tool: "Bash", args: { command: `echo ${id}` }, id } });

  it("S40: too many model calls are error_max_turns, and the session lives", async () => {
    const host = await initialized({ args: ["--max-session-turns", "1", "--yolo"], responses: [call("a"), { say: "next" }] });
    const result = await host.ask();
    expect(result).toMatchObject({
      subtype: "error_max_turns",
      is_error: true,
      num_turns: 1,
      error: { message: expect.stringContaining("limit") },
    });
    expect(await host.ask()).toMatchObject({ subtype: "success", result: "next" });
    expect(await host.finish()).toBe(0);
  });

  it("S41: too many tool calls are an error result, and the session lives", async () => {
    const host = await initialized({
      args: ["--max-tool-calls", "2", "--yolo"],
      responses: [call("a"), call("b"), call("c"), { say: "next" }],
    });
    expect(await host.ask()).toMatchObject({
      subtype: "error_during_execution",
      error: { message: expect.stringContaining("tool calls") },
    });
    expect(host.toolResult("c")).toMatchObject({ is_error: true });
    expect(await host.ask()).toMatchObject({ result: "next" });
  });

  it("a turn that is out of time is an error result", async () => {
    const host = await initialized({ args: ["--max-wall-time", "1s"], responses: [{ steps: [{ wait: "forever" }] }] });
    expect(await host.ask()).toMatchObject({ is_error: true, error: { message: expect.stringMatching(/1 s.*--max-wall-time/) } });
  });

  it.each([
    [53, ["--max-session-turns", "1"], [call("a")]],
    [55, ["--max-tool-calls", "1"], [call("a"), call("b")]],
    [55, ["--max-wall-time", "1"], [{ steps: [{ wait: "forever" }] }]],
    [1, [], [{ fail: { status: 400, message: "no" } }]],
    [0, [], [{ say: "fine" }]],
  ])("a run of one prompt leaves with %i for %j", async (code, args, responses) => {
    const host = start([
      "-p",
      "go",
      "--output-format",
      "stream-json",
      "--dialect",
      "qwen-shipped",
      "--yolo",
      ...modelFlags({ responses }),
      ...args,
    ]);
    expect((await host.exited).code).toBe(code);
    expect(host.of("result")).toHaveLength(1);
  });
});

describe("signals", () => {
  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("S42, S57: %s stops the turn, tells so, and leaves no process behind", async (signal, code) => {
    const cwd = scratch();
    const { env, gone } = marked();
    const command = "touch started; sleep 300";
    const host = await initialized({
      cwd,
      env,
      args: ["--yolo"],
      responses: [{ call: { tool: "Bash", args: { command }, id: "t1" } }, { say: "never" }],
    });
    host.user();
    await host.next("assistant");
    await until(() => existsSync(join(cwd, "started")), "the command to begin");
    host.child.kill(signal);
    expect((await host.exited).code).toBe(code);
    expect(host.of("result")).toMatchObject([{ subtype: "error_during_execution", error: { message: "Operation cancelled." } }]);
    await gone();
  });

  it("queued prompts get their results, too", async () => {
    const host = launch({ responses: [{ steps: [{ say: "tick" }, { wait: "forever" }] }], args: ["--include-partial-messages"] });
    host.user("a");
    host.user("b");
    await host.next("stream_event", ({ event }) => event.type === "content_block_delta");
    host.child.kill("SIGTERM");
    await host.exited;
    expect(host.of("result").map(({ is_error }) => is_error)).toEqual([true, true]);
  });
});
