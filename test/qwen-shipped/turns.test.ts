/** Turns on the shipped wire: init, messages, one result for each prompt, in order, and the pieces where they are wanted. */
import { describe, expect, it } from "vitest";
import { initialized, launch } from "./host.js";

describe("a turn", () => {
  it("S1: a prompt first: init, the answer, the result", async () => {
    const host = launch({ responses: [{ say: "Hello from the model.", usage: { input: 60, output: 7, cacheRead: 40 } }] });
    const result = await host.ask("Say hello");
    expect(host.story()).toEqual(["init", "text", "result:success"]);
    const [init] = host.of("system");
    expect(init).toMatchObject({ subtype: "init", permission_mode: "default", mcp_servers: [], qwen_code_version: "0.24.4" });
    expect(init).toMatchObject({ tools: expect.arrayContaining(["read_file", "run_shell_command", "edit", "agent"]) });
    expect(init).toMatchObject({ slash_commands: expect.arrayContaining(["help", "stats"]), agents: ["general", "explore"] });
    const usage = { input_tokens: 100, output_tokens: 7, cache_read_input_tokens: 40, total_tokens: 107 };
    expect(host.of("assistant")[0]?.message.usage).toEqual(usage);
    expect(result).toMatchObject({ result: "Hello from the model.", num_turns: 1, usage, permission_denials: [], is_error: false });
    expect(result.duration_ms).toBeGreaterThanOrEqual(result.duration_api_ms);
    expect(await host.finish()).toBe(0);
  });

  it("S2, S3: initialize and a prompt, without waiting: the answer, then the turn", async () => {
    const host = launch({ responses: [{ say: "hi" }] });
    const id = host.request("initialize", { hooks: null });
    host.user("Say hello");
    await host.result();
    expect(host.story()).toEqual(["answer:success", "init", "text", "result:success"]);
    const answer = await host.answerTo(id);
    const init = host.of("system")[0];
    expect(answer).toMatchObject({
      response: {
        subtype: "initialize",
        session_id: init?.session_id,
        capabilities: { can_handle_can_use_tool: true, can_handle_hook_callback: false, can_handle_mcp_message: true },
      },
    });
  });

  it("S4: initialize twice: two answers", async () => {
    const host = await initialized();
    expect(await host.initialize()).toMatchObject({ subtype: "success", response: { subtype: "initialize" } });
  });

  it("S13, S14: blank lines and CRLF are nothing, and a last line without an end counts", async () => {
    const host = launch({ responses: [{ say: "one" }, { say: "two" }] });
    host.raw("\n  \n\r\n");
    host.raw('{"type":"user","message":{"role":"user","content":"a"}}\r\n');
    host.raw('{"type":"user","message":{"role":"user","content":"b"}}');
    expect(await host.finish()).toBe(0);
    expect(host.of("result").map((line) => line.subtype === "success" && line.result)).toEqual(["one", "two"]);
  });

  it("S15: the end of input at once: nothing is said, exit 0", async () => {
    const host = launch();
    expect(await host.finish()).toBe(0);
    expect(host.lines).toEqual([]);
  });

  it("S44: three prompts and the end of input: three whole turns", async () => {
    const host = launch({ responses: [{ say: "1" }, { say: "2" }, { say: "3" }] });
    for (const word of ["a", "b", "c"]) host.user(word);
    expect(await host.finish()).toBe(0);
    const turn = ["init", "text", "result:success"];
    expect(host.story()).toEqual([...turn, ...turn, ...turn]);
    expect(host.of("result").map(({ usage }) => usage.input_tokens > 0)).toEqual([true, true, true]);
  });

  it("S43: the end of input in the middle of a turn: the turn is finished", async () => {
    const host = await initialized({
      responses: [{ call: { tool: "Bash", args: { command: "echo made" }, id: "t1" } }, { say: "done" }],
      args: ["--yolo"],
    });
    host.user();
    await host.next("assistant");
    expect(await host.finish()).toBe(0);
    expect(host.of("result")).toMatchObject([{ subtype: "success", result: "done", num_turns: 2 }]);
    expect(host.toolResult("t1")).toMatchObject({ is_error: false, content: expect.stringContaining("made") });
  });

  it("counts usage for the whole process", async () => {
    const usage = { input: 10, output: 5 };
    const host = launch({
      responses: [
        { say: "1", usage },
        { say: "2", usage },
      ],
    });
    await host.ask("a");
    expect((await host.ask("b")).usage).toMatchObject({ input_tokens: 20, output_tokens: 10, total_tokens: 30 });
  });
});

describe("pieces", () => {
  it("S20: one message_start a model call, a message of each kind, indexes from 0, message_stop last", async () => {
    const host = await initialized({
      args: ["--include-partial-messages", "--approval-mode", "yolo"],
      responses: [
        {
          think: { pieces: ["Let me think", " about it."] },
          say: { pieces: ["Using a tool now."] },
          call: { tool: "Bash", args: { command: "echo hi-there" }, id: "t1" },
          usage: { input: 100, output: 7 },
        },
        { say: { pieces: ["Tool ", "finished"] } },
      ],
    });
    await host.ask();
    const story = host.story(1).filter((word) => word !== "tool_progress");
    expect(story.join(" ")).toBe(
      "init message_start content_block_start content_block_delta content_block_delta content_block_stop thinking " +
        "content_block_start content_block_delta content_block_stop text " +
        "content_block_start content_block_delta content_block_stop tool_use message_stop tool_result " +
        "message_start content_block_start content_block_delta content_block_delta content_block_stop text message_stop result:success",
    );
    const pieces = host.of("stream_event").map(({ event }) => event);
    expect(pieces.flatMap((event) => ("index" in event ? [event.index] : []))).not.toContain(1);
    const messages = host.of("assistant").map(({ message }) => message);
    expect(pieces.flatMap((event) => (event.type === "message_start" ? [event.message.id] : []))).toEqual([
      messages[0]?.id,
      messages[3]?.id,
    ]);
    const input = pieces.flatMap((event) =>
      event.type === "content_block_delta" && event.delta.type === "input_json_delta" ? [event.delta.partial_json] : [],
    );
    expect(input).toEqual([JSON.stringify({ command: "echo hi-there" })]);
    const zeros = { input_tokens: 0, output_tokens: 0 };
    expect(messages.map(({ usage }) => usage?.input_tokens === 0)).toEqual([true, true, false, false]);
    expect(messages[0]?.usage).toEqual(zeros);
    expect(messages.map((message) => message.stop_reason)).toEqual([null, null, "tool_use", null]);
    expect(messages[0]?.content).toEqual([{ type: "thinking", thinking: "Let me think about it.", signature: "" }]);
  });

  it("come only when they are asked for", async () => {
    const host = launch({ responses: [{ think: "hm", say: "yes" }] });
    await host.ask();
    expect(host.of("stream_event")).toEqual([]);
    expect(host.story()).toEqual(["init", "thinking", "text", "result:success"]);
  });

  it("S30: an interrupt closes the block and the message, the result is an error, and the next prompt works", async () => {
    const host = await initialized({
      args: ["--include-partial-messages"],
      responses: [{ steps: [{ say: "tick0 tick1 " }, { wait: "forever" }] }, { say: "Hello again" }],
    });
    host.user("SLOW please");
    await host.next("stream_event", ({ event }) => event.type === "content_block_delta");
    const from = host.heard.length;
    await host.control("interrupt");
    const result = await host.result();
    expect(host.story(from)).toEqual(["answer:success", "content_block_stop", "text", "message_stop", "result:error_during_execution"]);
    expect(result).toMatchObject({ is_error: true, error: { message: "Operation cancelled." }, num_turns: 1 });
    expect(host.of("assistant")[0]?.message.content).toEqual([{ type: "text", text: "tick0 tick1 " }]);
    expect(await host.ask("again")).toMatchObject({ subtype: "success", result: "Hello again" });
    expect(await host.finish()).toBe(0);
  });

  it("S53: a control request while an answer streams is answered between its pieces", async () => {
    const host = await initialized({
      args: ["--include-partial-messages"],
      responses: [{ steps: [{ say: "one " }, { wait: "forever" }] }],
    });
    host.user();
    await host.next("stream_event", ({ event }) => event.type === "content_block_delta");
    expect(await host.control("supported_commands")).toMatchObject({ subtype: "success" });
    expect(await host.control("set_permission_mode", { mode: "plan" })).toMatchObject({ response: { status: "updated", mode: "plan" } });
    expect(host.of("result")).toEqual([]);
    await host.control("interrupt");
    await host.result();
  });
});
