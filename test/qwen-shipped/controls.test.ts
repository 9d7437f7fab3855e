/** The control requests that the SDK sends, each with its answer. */
import { describe, expect, it } from "vitest";
import { modelServer } from "../support/model-server.js";
import { PARLEY } from "../process/harness.js";
import { initialized, launch, start } from "./host.js";

describe("control requests", () => {
  it.each(["aionrs", "wayland"])("that %s has no word for are refused, and no turn is made of them", async (drive) => {
    const driven = [process.execPath, PARLEY, "--json-stream", "--dialect", drive, "--provider", "rehearsal"];
    const host = start(["relay", "--as", "qwen-shipped", "--drive", drive, "--", ...driven]);
    await host.initialize();
    // It never tells which commands it has.
    expect(await host.control("supported_commands")).toMatchObject({ subtype: "success", response: { commands: [] } });
    for (const subtype of ["get_context_usage", "get_available_models"])
      expect(await host.control(subtype)).toMatchObject({ subtype: "error", error: expect.stringContaining(subtype) });
    expect(await host.ask("say hello")).toMatchObject({ result: "hello" });
    expect(host.of("result")).toHaveLength(1);
    expect(await host.finish()).toBe(0);
  });

  it("S31: an interrupt while nothing runs is acknowledged and changes nothing", async () => {
    const host = await initialized({ responses: [{ say: "ok" }] });
    expect(await host.control("interrupt")).toMatchObject({ subtype: "success", response: { subtype: "interrupt" } });
    expect(await host.ask()).toMatchObject({ result: "ok" });
    expect(host.of("result")).toHaveLength(1);
  });

  it("an interrupt right behind its prompt stops that", async () => {
    const host = await initialized({ responses: [{ steps: [{ wait: "forever" }] }] });
    host.user("first");
    host.request("interrupt");
    expect(await host.result()).toMatchObject({ is_error: true, error: { message: "Operation cancelled." } });
    expect(await host.finish()).toBe(0);
  });

  it("S34: what is invalid is refused in words that name what is valid", async () => {
    const host = await initialized();
    expect(await host.control("set_permission_mode", { mode: "bogus" })).toMatchObject({
      subtype: "error",
      error: "Invalid permission mode: bogus. Valid values are: plan, default, auto-edit, auto, yolo",
    });
    expect(await host.control("set_model", { model: "" })).toMatchObject({ error: "Invalid model specified for set_model request" });
    expect(await host.control("set_effort", { effort: "tiny" })).toMatchObject({
      error: expect.stringContaining("low, medium, high, xhigh, max"),
    });
    expect(await host.control("bogus_subtype")).toMatchObject({ error: "Unknown control request subtype: bogus_subtype" });
    expect(await host.control("hook_callback", { callback_id: "h", input: {} })).toMatchObject({
      error: expect.stringContaining("hook_callback"),
    });
    expect(await host.control("mcp_message", { server_name: "x", message: {} })).toMatchObject({
      error: expect.stringContaining("mcp_message"),
    });
  });

  it.each(["plan", "default", "auto-edit", "auto", "yolo"])("set_permission_mode %s is told by the next init", async (mode) => {
    const host = await initialized({ responses: [{ say: "ok" }] });
    expect(await host.control("set_permission_mode", { mode })).toMatchObject({ response: { status: "updated", mode } });
    await host.ask();
    expect(host.of("system")[0]).toMatchObject({ permission_mode: mode });
  });

  it("set_model counts from the next turn on", async () => {
    const server = await modelServer("openai-chat", [{ text: ["one"] }, { text: ["two"] }]);
    const host = await initialized({
      model: ["--provider", "openai", "--model", "first-model", "--base-url", server.url, "--api-key", server.key],
    });
    await host.ask();
    expect(await host.control("set_model", { model: "other-model" })).toMatchObject({
      response: { subtype: "set_model", model: "other-model" },
    });
    await host.ask();
    expect(server.requests.map(({ body }) => body)).toMatchObject([{ model: "first-model" }, { model: "other-model" }]);
    expect(host.of("system").at(-1)).toMatchObject({ model: "other-model" });
    expect(host.of("assistant").map(({ message }) => message.model)).toEqual(["first-model", "other-model"]);
  });

  it("set_effort says whether the model takes it", async () => {
    const server = await modelServer("anthropic", [{ text: ["one"] }]);
    const claude = ["--provider", "anthropic", "--model", "claude-opus-4-6", "--base-url", server.url, "--api-key", server.key];
    const host = await initialized({ model: claude }, { effort: "low" });
    const [, ...answers] = await Promise.all([host.next("control_response"), host.control("set_effort", { effort: "high" })]);
    expect(answers).toMatchObject([{ response: { subtype: "set_effort", effort: "high", applied: true, override: null } }]);
    expect(host.of("control_response")[0]).toMatchObject({ response: { response: { effort_status: { effort: "low", applied: true } } } });
    await host.ask();
    expect(server.requests[0]?.body).toMatchObject({ output_config: { effort: "high" } });
    const other = await initialized();
    expect(await other.control("set_effort", { effort: "high" })).toMatchObject({
      response: { effort: "high", applied: expect.any(Boolean) },
    });
  });

  it("get_context_usage counts what fills the window", async () => {
    const host = await initialized({ responses: [{ say: "ok", usage: { input: 500, output: 20 } }] });
    expect(await host.control("get_context_usage")).toMatchObject({
      response: { subtype: "get_context_usage", totalTokens: 0, breakdown: { messages: 0 }, showDetails: false },
    });
    await host.ask();
    const answer = await host.control("get_context_usage", { show_details: true });
    expect(answer).toMatchObject({ response: { totalTokens: 520, showDetails: true, isEstimated: true } });
    const breakdown = (name: string): unknown =>
      answer.subtype === "success" ? Reflect.get(Object(Reflect.get(Object(answer.response), "breakdown")), name) : undefined;
    expect(breakdown("systemPrompt")).toBeGreaterThan(0);
    expect(breakdown("builtinTools")).toBeGreaterThan(0);
    expect(breakdown("messages")).toBeGreaterThan(0);
  });

  it("get_available_models, get_usage_info, mcp_server_status, supported_commands", async () => {
    const host = await initialized({
      responses: [{ say: "ok", usage: { input: 5, output: 2 } }],
      config: { providers: { lab: { kind: "openai-compatible", baseUrl: "http://127.0.0.1:9", models: { small: {} } } } },
    });
    await host.ask();
    expect(await host.control("get_available_models")).toMatchObject({
      response: { subtype: "get_available_models", models: expect.arrayContaining([expect.objectContaining({ id: "small" })]) },
    });
    expect(await host.control("get_usage_info", { range: "today" })).toMatchObject({
      response: { subtype: "get_usage_info", range: "today", summary: { totalTokens: 7, requests: 1, sessions: 1 } },
    });
    expect(await host.control("mcp_server_status")).toMatchObject({ response: { subtype: "mcp_server_status", status: {} } });
    expect(await host.control("supported_commands")).toMatchObject({ response: { commands: expect.arrayContaining(["help", "model"]) } });
  });

  it("can_use_tool of the host is answered by the mode", async () => {
    const host = await initialized();
    const verdict = async (tool_name: string): Promise<unknown> => host.control("can_use_tool", { tool_name, tool_use_id: "t", input: {} });
    expect(await verdict("run_shell_command")).toMatchObject({ response: { subtype: "can_use_tool", behavior: "deny" } });
    expect(await verdict("read_file")).toMatchObject({ response: { behavior: "allow" } });
    await host.control("set_permission_mode", { mode: "yolo" });
    expect(await verdict("run_shell_command")).toMatchObject({ response: { behavior: "allow" } });
  });

  it("a request can be cancelled while it waits", async () => {
    const host = launch();
    host.request("initialize", {}, "i1");
    host.send({ type: "control_cancel_request", request_id: "i1" });
    const answer = await host.answerTo("i1");
    expect(["success", "error"]).toContain(answer.subtype);
    expect(host.of("control_response")).toHaveLength(1);
  });

  it("continue_last_turn: nothing to go on with, then a turn that was interrupted", async () => {
    const host = await initialized({
      responses: [{ say: "done" }, { steps: [{ say: "half" }, { wait: "forever" }] }, { say: "the rest" }],
    });
    expect(await host.control("continue_last_turn")).toMatchObject({ response: { accepted: false, interruption: "none" } });
    await host.ask();
    expect(await host.control("continue_last_turn")).toMatchObject({ response: { accepted: false, interruption: "none" } });
    host.user("long");
    await host.next("system", (line) => host.of("system").indexOf(line) === 1);
    await host.control("interrupt");
    await host.result(2);
    expect(await host.control("continue_last_turn")).toMatchObject({ response: { accepted: true, interruption: "interrupted_turn" } });
    expect(await host.result(3)).toMatchObject({ subtype: "success", result: "the rest" });
  });
});
