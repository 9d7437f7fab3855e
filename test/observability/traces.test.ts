import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import * as v from "valibot";
import { describe, expect, onTestFinished, test } from "vitest";
import { Grammar } from "../../src/core/grammar.js";
import { createEngine } from "../../src/engine/index.js";
import { otelTracer } from "../../src/engine/trace/otel-tracer.js";
import { raw, settled, outputText } from "../extensions/mcp-harness.js";
import { environment, NativeHost, PARLEY, run, scratch, script, start, type StartOptions } from "../process/harness.js";
import { collector, named, traceparentOf, treeOf, type CollectedSpan, type Collector } from "../support/collector.js";
import { modelServer } from "../support/model-server.js";

const HOST_TRACE = "0af7651916cd43dd8448eb211c80319c";
const HOST_SPAN = "b7ad6b7169203331";
const TRACEPARENT = `00-${HOST_TRACE}-${HOST_SPAN}-01`;

/** What is said in these tests and must not be in any trace. */
const PRIVATE = ["marmalade", "hunter2-hunter2", "squirrel", "walnut"];

function traced(to: Collector | string, options: StartOptions = {}): NativeHost {
  const url = typeof to === "string" ? to : to.url;
  return start({ ...options, env: { OTEL_EXPORTER_OTLP_ENDPOINT: url, ...options.env } });
}

function prompt(host: NativeHost, text: string, trace?: string): void {
  host.send({ type: "turn.prompt", session: "s", turn: "t1", parts: [{ type: "text", text }], ...(trace !== undefined && { trace }) });
}

async function allowNext(host: NativeHost, tool: string): Promise<void> {
  const { calls } = await host.next("approval.requested", (event) => event.calls.some(({ name }) => name === tool));
  for (const call of calls) if (call.name === tool) host.allow(call.id, { grant: "call" });
}

/** The script's path is the name of a rehearsed model. */
function modelless(tree: readonly string[]): string[] {
  return tree.map((line) => line.replace(/chat .*/, "chat"));
}

describe("the spans of a turn", () => {
  test("tools, an approval, an MCP call and a sub-agent, each below what asked for it", async () => {
    const to = await collector();
    const host = traced(to, {
      cwd: scratch({ "notes.txt": "marmalade\n" }),
      env: { SOME_API_KEY: "hunter2-hunter2" },
      responses: [
        {
          calls: [
            { tool: "Read", args: { file_path: "notes.txt" } },
            { tool: "Write", args: { file_path: "out.txt", content: "walnut" } },
          ],
        },
        { call: { tool: "mcp__raw__act", args: { word: "squirrel" } } },
        { call: { tool: "Spawn", args: { tasks: [{ name: "squirrel", prompt: "read marmalade", agent: "explore" }] } } },
        { call: { tool: "Read", args: { file_path: "notes.txt" } } },
        { say: "the walnut" },
        { say: "done with marmalade, hunter2-hunter2", usage: { input: 3, output: 4, cacheRead: 5, cacheWrite: 6, reasoning: 7 } },
      ],
    });
    await host.open({ mcpServers: { raw: raw("tells-meta") } });
    await settled(host);
    prompt(host, "marmalade, please", TRACEPARENT);
    await allowNext(host, "Write");
    await allowNext(host, "mcp__raw__act");
    await allowNext(host, "Spawn");
    expect((await host.turnEnded()).outcome).toBe("completed");
    expect(await host.finish()).toBe(0);
    expect(host.stderr).toBe("");

    expect(modelless(treeOf(to.spans))).toEqual([
      "invoke_agent parley",
      "  chat",
      "  chat",
      "  chat",
      "  chat",
      "  execute_tool Read",
      "  execute_tool Spawn",
      "    approval Spawn",
      "    invoke_agent explore",
      "      chat",
      "      chat",
      "      execute_tool Read",
      "  execute_tool Write",
      "    approval Write",
      "  execute_tool mcp__raw__act",
      "    approval mcp__raw__act",
      "    tools/call act",
    ]);
    const turn = named(to.spans, "invoke_agent parley");
    expect(turn).toMatchObject({ traceId: HOST_TRACE, parentSpanId: HOST_SPAN, status: { code: 0 } });
    expect(turn.attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "parley",
      "gen_ai.provider.name": "rehearsal",
      "gen_ai.response.finish_reasons": ["stop"],
      "parley.turn.id": "t1",
      "parley.turn.outcome": "completed",
    });
    expect(new Set(to.spans.map(({ traceId }) => traceId))).toEqual(new Set([HOST_TRACE]));
    for (const span of to.spans) {
      expect(span.attributes).toMatchObject({ "session.id": "s", "parley.turn.id": "t1" });
      expect(span.events).toEqual([]);
      expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
    }
    expect(to.spans.filter(({ name }) => name.startsWith("chat ")).at(-1)).toMatchObject({
      kind: 3,
      attributes: {
        "gen_ai.usage.input_tokens": 14,
        "gen_ai.usage.output_tokens": 11,
        "gen_ai.usage.cache_read.input_tokens": 5,
        "gen_ai.usage.cache_creation.input_tokens": 6,
        "gen_ai.usage.reasoning.output_tokens": 7,
      },
    });
    expect(named(to.spans, "execute_tool Write").attributes).toMatchObject({
      "gen_ai.tool.name": "Write",
      "parley.tool.category": "edit",
      "parley.tool.judged": "ask",
      "parley.tool.status": "ok",
    });
    expect(named(to.spans, "execute_tool Read").attributes).toMatchObject({ "parley.tool.judged": "allow" });
    expect(named(to.spans, "approval Write").attributes).toMatchObject({
      "parley.approval.decision": "allow",
      "parley.approval.grant": "call",
    });
    const mcp = named(to.spans, "tools/call act");
    expect(mcp).toMatchObject({ kind: 3, attributes: { "mcp.method.name": "tools/call", "parley.mcp.server": "raw" } });
    const answered = await host.next(
      "tool.ended",
      ({ call }) => call === named(to.spans, "execute_tool mcp__raw__act").attributes["gen_ai.tool.call.id"],
    );
    expect(JSON.parse(outputText(answered))).toMatchObject({ traceparent: traceparentOf(mcp) });
    expect(to.resources[0]).toMatchObject({ "service.name": "parley" });
    for (const word of PRIVATE) expect(to.text).not.toContain(word);
  });

  test("what fails, is denied, unknown or interrupted says so, and only failures are errors", async () => {
    const to = await collector();
    const host = traced(to, {
      responses: [
        {
          calls: [
            { tool: "Write", args: { file_path: "a.txt", content: "x" } },
            { tool: "Marmalade", args: {} },
            { tool: "Read", args: { file_path: "nowhere.txt" } },
          ],
        },
        { call: { tool: "mcp__raw__act" } },
        { steps: [{ call: { tool: "Write", args: { file_path: "b.txt", content: "x" } } }] },
      ],
    });
    await host.open({ mcpServers: { raw: raw("fails-in-call") } });
    await settled(host);
    prompt(host, "go");
    const first = await host.next("approval.requested");
    host.deny(first.calls[0]?.id ?? "", "marmalade");
    await allowNext(host, "mcp__raw__act");
    await host.next("approval.requested", ({ calls }) => calls.some(({ args }) => args?.["file_path"] === "b.txt"));
    host.send({ type: "turn.interrupt", session: "s" });
    expect((await host.turnEnded()).outcome).toBe("interrupted");
    await host.finish();

    const state = ({ attributes, status }: CollectedSpan): string => {
      const words = ["parley.turn.outcome", "parley.tool.status", "parley.approval.decision"].map((name) => attributes[name] ?? "");
      return ` ${words.join("")}${status.code === 2 ? `, error ${String(attributes["error.type"])}` : ""}`;
    };
    expect(modelless(treeOf(to.spans, state))).toEqual([
      "invoke_agent parley interrupted",
      "  chat",
      "  chat",
      "  chat",
      "  execute_tool Read failed, error tool_error",
      "  execute_tool Write cancelled",
      "    approval Write void",
      "  execute_tool Write denied",
      "    approval Write deny",
      "  execute_tool mcp__raw__act failed, error tool_error",
      "    approval mcp__raw__act allow",
      "    tools/call act , error tool_error",
      "  execute_tool unknown failed, error tool_error",
    ]);
    for (const word of PRIVATE) expect(to.text.toLowerCase()).not.toContain(word);
  });

  test("a model that fails: its status, the tries, and a failed turn", async () => {
    const to = await collector();
    const host = traced(to, { responses: [{ fail: { status: 429, retryAfter: 0, times: 1 }, say: "hello" }, { fail: 401 }] });
    await host.open();
    host.prompt("one");
    await host.turnEnded();
    host.prompt("two");
    await host.turnEnded(2);
    await host.finish();
    const [first, second] = to.spans.filter(({ name }) => name.startsWith("chat "));
    expect(first).toMatchObject({ status: { code: 0 }, attributes: { "parley.model.retries": 1 } });
    expect(second).toMatchObject({ status: { code: 2 }, attributes: { "error.type": "401" } });
    expect(new Set(to.spans.map(({ traceId }) => traceId)).size).toBe(2);
    const failed = to.spans.find(({ attributes }) => attributes["parley.turn.outcome"] === "failed");
    expect(failed).toMatchObject({ name: "invoke_agent parley", status: { code: 2 } });
  });
});

describe("trace context", () => {
  test("goes from the host's prompt over the model call into the request", async () => {
    const to = await collector();
    const server = await modelServer("anthropic", [{ text: ["hello"] }]);
    const host = traced(to, {
      provider: "anthropic",
      args: ["--model", "claude-sonnet-4-6"],
      env: { ANTHROPIC_API_KEY: server.key, ANTHROPIC_BASE_URL: server.url },
    });
    await host.open();
    prompt(host, "hi", TRACEPARENT);
    await host.turnEnded();
    await host.finish();
    const call = named(to.spans, "chat claude-sonnet-4-6");
    expect(call.traceId).toBe(HOST_TRACE);
    expect(call.attributes).toMatchObject({ "gen_ai.provider.name": "anthropic", "gen_ai.request.model": "claude-sonnet-4-6" });
    expect(server.requests[0]?.headers["traceparent"]).toBe(traceparentOf(call));
    expect(to.text).not.toContain(server.key);
  });

  test.each([
    "nonsense",
    `00-${"0".repeat(32)}-${HOST_SPAN}-01`,
    `ff-${HOST_TRACE}-${HOST_SPAN}-01`,
    `00-${HOST_TRACE}-${HOST_SPAN}-01-more`,
  ])("that is none (%s) is ignored, and said to whoever debugs", async (trace) => {
    const to = await collector();
    const host = traced(to, { responses: ["ok"] });
    await host.open();
    prompt(host, "hi", trace);
    expect((await host.turnEnded()).outcome).toBe("completed");
    await host.finish();
    const turn = named(to.spans, "invoke_agent parley");
    expect(turn.parentSpanId ?? "").toBe("");
    expect(turn.traceId).not.toBe(HOST_TRACE);
    expect(host.ofType("notice").filter(({ kind }) => kind === "trace")).toMatchObject([{ level: "debug" }]);
  });

  test("that the host does not want sampled is not collected", async () => {
    const to = await collector();
    const host = traced(to, { responses: ["ok"] });
    await host.open();
    prompt(host, "hi", `00-${HOST_TRACE}-${HOST_SPAN}-00`);
    await host.turnEnded();
    await host.finish();
    expect(to.spans).toEqual([]);
  });
});

describe("other ways to run", () => {
  test("a relay tells the turns, tools and approvals of the agent that it drives", async () => {
    const to = await collector();
    const model = script([{ call: { tool: "Bash", args: { command: "echo marmalade" } } }, { say: "done" }]);
    const agent = [process.execPath, PARLEY, "--json-stream", "--provider", "rehearsal", "--model", model];
    // The agent itself tells nothing.
    const quiet = ["env", "-u", "OTEL_EXPORTER_OTLP_ENDPOINT", ...agent];
    const child = spawn(process.execPath, [PARLEY, "relay", "--as", "native", "--drive", "aionrs", "--", ...quiet], {
      cwd: scratch(),
      env: environment({ OTEL_EXPORTER_OTLP_ENDPOINT: to.url }),
    });
    const host = new NativeHost(child);
    await host.open();
    prompt(host, "go", TRACEPARENT);
    await allowNext(host, "Bash");
    await host.turnEnded();
    expect(await host.finish()).toBe(0);
    expect(treeOf(to.spans)).toEqual(["invoke_agent parley", "  execute_tool Bash", "    approval Bash"]);
    expect(named(to.spans, "invoke_agent parley")).toMatchObject({ traceId: HOST_TRACE, parentSpanId: HOST_SPAN });
    expect(named(to.spans, "approval Bash").attributes).toMatchObject({ "parley.approval.decision": "allow" });
    expect(named(to.spans, "execute_tool Bash").attributes).toMatchObject({ "parley.tool.status": "ok", "parley.tool.category": "exec" });
    expect(to.text).not.toContain("marmalade");
  });

  test.each([
    ["a single prompt", ["-p", "say hi"], ""],
    ["aionrs", ["--json-stream"], '{"type":"message","msg_id":"m","content":"say hi"}\n'],
  ])("%s is traced, too", async (_, args, input) => {
    const to = await collector();
    const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${to.url}/v1/traces` };
    const { code } = await run([...args, "--provider", "rehearsal"], { input, env });
    expect(code).toBe(0);
    expect(treeOf(to.spans)).toEqual(["invoke_agent parley", "  chat rehearsal"]);
  });

  test("a command that asks the model has its span below the host's, without a turn", async () => {
    const to = await collector();
    const story = { say: `a long story ${"word ".repeat(400)}` };
    const host = traced(to, { responses: [story, story, story, { say: "a summary" }] });
    await host.open();
    for (const turn of [1, 2, 3]) {
      host.prompt("tell me");
      await host.turnEnded(turn);
    }
    host.send({ type: "turn.prompt", session: "s", id: "c", parts: [], trace: TRACEPARENT, command: { name: "compact" } });
    await host.next("reply", ({ parent }) => parent === "c");
    await host.finish();
    const summary = to.spans.find(({ attributes }) => attributes["parley.purpose"] === "compaction");
    expect(summary).toMatchObject({ traceId: HOST_TRACE, parentSpanId: HOST_SPAN });
  });
});

describe("an engine in the caller's own process", () => {
  test("takes a tracer of OpenTelemetry", async () => {
    const exporter = new InMemorySpanExporter();
    const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const engine = createEngine({
      defaults: { cwd: scratch(), provider: "rehearsal" },
      env: {},
      openTracer: () => otelTracer(provider.getTracer("mine")),
    });
    await engine.send({ type: "session.open", session: "s", open: "new" });
    await engine.send({ type: "turn.prompt", session: "s", parts: [{ type: "text", text: "say hi" }] });
    const grammar = new Grammar();
    const violations: string[] = [];
    for await (const event of engine.events) {
      violations.push(...grammar.event(event));
      if (event.type === "turn.ended") void engine.close();
    }
    expect(violations).toEqual([]);
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(["chat rehearsal", "invoke_agent parley"]);
    await provider.shutdown();
  });
});

describe("off", () => {
  test.each([
    ["by default", {}],
    ["when OpenTelemetry is disabled", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", OTEL_SDK_DISABLED: "true" }],
    ["when no traces are wanted", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", OTEL_TRACES_EXPORTER: "none" }],
  ])("%s: nothing of it is loaded, and nobody is told of a trace", async (_, env: Record<string, string>) => {
    const server = await modelServer("anthropic", [{ calls: [{ name: "mcp__raw__act", args: {} }] }, { text: ["hello"] }]);
    const loaded = await loadedBy({ ...env, ANTHROPIC_API_KEY: server.key, ANTHROPIC_BASE_URL: server.url });
    expect(loaded.scripts.some((path) => basename(path).startsWith("start-"))).toBe(true);
    expect(loaded.scripts.filter(isOfTraces)).toEqual([]);
    for (const { headers } of server.requests) expect(headers["traceparent"]).toBeUndefined();
    expect(server.requests).toHaveLength(2);
    expect(loaded.meta).not.toContain("traceparent");
  });

  test("and this test could tell", async () => {
    const to = await collector();
    const server = await modelServer("anthropic", [{ calls: [{ name: "mcp__raw__act", args: {} }] }, { text: ["hello"] }]);
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: to.url, ANTHROPIC_API_KEY: server.key, ANTHROPIC_BASE_URL: server.url };
    const loaded = await loadedBy(env);
    expect(loaded.scripts.filter(isOfTraces).length).toBeGreaterThan(1);
    expect(loaded.meta).toContain("traceparent");
  });

  function isOfTraces(path: string): boolean {
    return /NodeTracerProvider|isSpanContextValid|invoke_agent/.test(readFileSync(path, "utf8"));
  }

  /** A turn with a model and an MCP server, and every script that the process loaded. */
  async function loadedBy(env: Record<string, string>): Promise<{ scripts: string[]; meta: string }> {
    const coverage = mkdtempSync(join(tmpdir(), "parley-coverage-"));
    onTestFinished(() => rmSync(coverage, { recursive: true, force: true }));
    const args = ["--model", "claude-sonnet-4-6", "--auto-approve"];
    const host = start({ provider: "anthropic", args, env: { ...env, NODE_V8_COVERAGE: coverage } });
    await host.open({ mcpServers: { raw: raw("tells-meta") } });
    await settled(host);
    host.prompt("hi");
    await host.turnEnded();
    await host.finish();
    const Coverage = v.object({ result: v.array(v.object({ url: v.string() })) });
    const scripts = readdirSync(coverage).flatMap((file) =>
      v
        .parse(Coverage, JSON.parse(readFileSync(join(coverage, file), "utf8")))
        .result.flatMap(({ url }) => (url.startsWith("file:") ? [fileURLToPath(url)] : [])),
    );
    const ended = await host.next("tool.ended");
    return { scripts, meta: outputText(ended) };
  }
});

describe("a collector", () => {
  test("that is not there costs no turn, and is told once", async () => {
    const port = await freePort();
    const host = traced(`http://127.0.0.1:${port}`, { responses: ["one", "two"] });
    await host.open();
    host.prompt("1");
    expect((await host.turnEnded()).outcome).toBe("completed");
    host.prompt("2");
    expect((await host.turnEnded(2)).outcome).toBe("completed");
    expect(await host.finish()).toBe(0);
    expect(host.stderr.match(/traces cannot be sent/g)).toHaveLength(1);
    expect(host.stderr).toContain(`http://127.0.0.1:${port}`);
  });

  test("that never answers holds up nothing, and is told once", async () => {
    const deaf = createServer((socket) => void socket.on("error", () => {}).resume());
    const sockets: { destroy(): void }[] = [];
    deaf.on("connection", (socket) => sockets.push(socket));
    await new Promise<void>((resolve) => deaf.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      deaf.close();
    });
    const address = deaf.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    const host = traced(`http://127.0.0.1:${address.port}`, { responses: ["one"] });
    await host.open();
    host.prompt("1");
    expect((await host.turnEnded()).outcome).toBe("completed");
    expect(await host.finish()).toBe(0);
    expect(host.stderr.match(/traces cannot be sent/g)).toHaveLength(1);
  });

  test("whose address is none is told to the host, and the turn goes on", async () => {
    const host = traced("collector:4318", { responses: ["one"] });
    await host.open();
    host.prompt("1");
    expect((await host.turnEnded()).outcome).toBe("completed");
    const notice = await host.next("notice", ({ kind }) => kind === "trace");
    expect(notice).toMatchObject({ level: "warning", text: expect.stringContaining("OTEL_EXPORTER_OTLP_ENDPOINT") });
    expect(await host.finish()).toBe(0);
  });

  test("gets its headers and names from the usual variables, and neither tools nor answers get the key in them", async () => {
    const to = await collector();
    const host = traced(to, {
      env: { OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20squirrel-nuts-42,x-team=blue", OTEL_SERVICE_NAME: "my-agent" },
      responses: [{ call: { tool: "Bash", args: { command: "echo [$OTEL_EXPORTER_OTLP_HEADERS]" } } }, { say: "squirrel-nuts-42" }],
      args: ["--auto-approve"],
    });
    await host.open();
    host.prompt("1");
    await host.turnEnded();
    await host.finish();
    expect(to.headers[0]).toMatchObject({ authorization: "Bearer squirrel-nuts-42", "x-team": "blue" });
    expect(to.resources[0]).toMatchObject({ "service.name": "my-agent" });
    expect(outputText(await host.next("tool.ended"))).not.toContain("squirrel");
    expect(host.text()).not.toContain("squirrel");
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
