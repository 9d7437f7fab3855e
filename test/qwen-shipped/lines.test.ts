/** Lines that are wrong, odd or empty: each is answered, none ends the process, and one result comes for each prompt in its order. */
import { describe, expect, it } from "vitest";
import { modelServer } from "../support/model-server.js";
import { initialized, launch } from "./host.js";

describe("bad lines", () => {
  it.each([
    ["S10: what is no JSON", "{not json", "not JSON"],
    ["S11: an object without a type", '{"foo":1}', "type"],
    ["S11: a list", "[1,2,3]", "an array"],
    ["S11: null", "null", "null"],
    ["S12: a line of the RFC", '{"model":"m","messages":[{"role":"user","content":"hi"}]}', "type"],
    ["a prompt without a message", '{"type":"user"}', "message"],
    ["a prompt with a block that nobody knows", '{"type":"user","message":{"role":"user","content":[{"type":"sound"}]}}', "type"],
  ])("%s is told on both streams without a result, and the next prompt works", async (_name, line, says) => {
    const host = launch({ responses: [{ say: "still here" }] });
    host.raw(`${line}\n`);
    expect(await host.next("system", ({ subtype }) => subtype === "error")).toMatchObject({
      data: { message: expect.stringContaining(says) },
    });
    expect(await host.ask("go")).toMatchObject({ subtype: "success", result: "still here" });
    expect(await host.finish()).toBe(0);
    expect(host.of("result")).toHaveLength(1);
    expect(host.stderr).toContain(says);
  });

  it("a bad line within a turn is told at once, and the turn goes on to its own result", async () => {
    const host = await initialized({ responses: [{ call: { tool: "Bash", args: { command: "true" }, id: "t1" } }, { say: "done" }] });
    host.user("a");
    const { id } = await host.permission("t1");
    host.raw("{not json\n");
    await host.next("system", ({ subtype }) => subtype === "error");
    host.reply(id, { behavior: "allow" });
    expect(await host.result()).toMatchObject({ subtype: "success", result: "done" });
    expect(await host.finish()).toBe(0);
    expect(host.of("result")).toHaveLength(1);
  });

  it("S17: an empty prompt is an error result", async () => {
    const host = launch({ responses: [{ say: "ok" }] });
    expect(await host.ask("")).toMatchObject({ is_error: true, error: { message: "The message is empty" }, num_turns: 0 });
    expect(await host.ask([])).toMatchObject({ is_error: true });
    expect(await host.ask("x")).toMatchObject({ result: "ok" });
  });

  it("S6, S7: a type that nobody knows is told as a notice, before and after initialize, and changes nothing", async () => {
    const host = launch({ responses: [{ say: "ok" }] });
    host.send({ type: "ping", nonce: 1 });
    await host.next("system", (line) => line.subtype === "notice" && line.data.notice.includes("ping"));
    await host.initialize();
    host.send({ type: "pong" });
    expect(await host.ask()).toMatchObject({ subtype: "success", result: "ok" });
    expect(host.story()).toEqual(["notice", "answer:success", "notice", "init", "text", "result:success"]);
  });

  it("S5: a control request first is answered, and a prompt without initialize works", async () => {
    const host = launch({ responses: [{ say: "ok" }] });
    expect(await host.control("supported_commands")).toMatchObject({
      response: { subtype: "supported_commands", commands: expect.arrayContaining(["help", "compact"]) },
    });
    expect(await host.ask()).toMatchObject({ result: "ok" });
  });

  it("S28: answers that nobody waits for are nothing", async () => {
    const host = await initialized({ responses: [{ call: { tool: "Bash", args: { command: "true" }, id: "t1" } }, { say: "ok" }] });
    host.reply("never-asked", { behavior: "allow" });
    host.user();
    const { id } = await host.permission("t1");
    host.reply(id, { behavior: "allow" });
    host.reply(id, { behavior: "deny", message: "too late" });
    await host.result();
    expect(host.toolResult("t1")).toMatchObject({ is_error: false });
  });

  it("S52: cancelling what nobody knows is nothing", async () => {
    const host = await initialized({ responses: [{ say: "ok" }] });
    host.send({ type: "control_cancel_request", request_id: "unknown" }, { type: "control_cancel_request" });
    await host.ask();
    expect(host.story().filter((word) => word.startsWith("answer"))).toEqual(["answer:success"]);
  });

  it("a control request without an id is told; one that is malformed is refused by its id", async () => {
    const host = await initialized();
    host.send({ type: "control_request", request: { subtype: "interrupt" } });
    await host.next("system", (line) => line.subtype === "notice");
    expect(await host.control("set_model", { model: 7 })).toMatchObject({ subtype: "error" });
    expect(await host.control("get_usage_info", { range: "century" })).toMatchObject({
      subtype: "error",
      error: expect.stringContaining("range"),
    });
  });
});

describe("prompts", () => {
  it("each gets one result, however many come at once and whether they were taken", async () => {
    const host = launch({ responses: [{ say: "yes" }], then: "repeat" });
    for (let at = 0; at < 150; at++) host.user(`prompt ${at}`);
    expect(await host.finish()).toBe(0);
    const results = host.of("result");
    expect(results).toHaveLength(150);
    expect(results.filter(({ is_error }) => !is_error).length).toBeGreaterThanOrEqual(64);
    for (const result of results) if (result.subtype !== "success") expect(result.error?.message).toContain("wait already");
  });

  it("each gets one result, beyond all measure too", async () => {
    const responses = [{ steps: [{ say: "well" }, { wait: "forever" }] }, { say: "ok" }];
    const host = await initialized({ responses, args: ["--include-partial-messages"] });
    host.user("wait");
    await host.next("stream_event");
    const many = 1500;
    for (let sent = 1; sent < many; sent++) host.user("");
    host.request("interrupt");
    await host.result(many);
    expect(await host.ask("one more")).toMatchObject({ result: "ok" });
    expect(host.of("result")).toHaveLength(many + 1);
  });

  it("S16: an image reaches the model as an image", async () => {
    const server = await modelServer("openai-chat", [{ text: ["a dot"] }]);
    const host = launch({ model: ["--provider", "openai", "--model", "gpt-4o", "--base-url", server.url, "--api-key", server.key] });
    const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    await host.ask([
      { type: "text", text: "what is this?" },
      { type: "image", source: { type: "base64", media_type: "image/png", data } },
    ]);
    expect(JSON.stringify(server.requests[0]?.body)).toContain(`"url":"data:image/png;base64,${data}"`);
  });

  it("S18: a command is answered by an assistant message and a result without a model call", async () => {
    const host = launch({ responses: [{ say: "never" }] });
    const result = await host.ask("/stats");
    expect(result).toMatchObject({ subtype: "success", num_turns: 0, result: expect.stringContaining("Tool calls") });
    expect(host.story()).toEqual(["init", "text", "result:success"]);
  });

  it("S19: a command that nobody knows goes to the model", async () => {
    const host = launch({ responses: [{ expect: { lastUser: "/nosuchcommand please" }, say: "as words" }] });
    expect(await host.ask("/nosuchcommand please")).toMatchObject({ result: "as words", num_turns: 1 });
  });

  it("a command during a turn is answered behind it", async () => {
    const host = await initialized({ responses: [{ call: { tool: "Bash", args: { command: "true" }, id: "t1" } }, { say: "done" }] });
    host.user();
    const { id } = await host.permission("t1");
    host.user("/stats");
    await host.control("supported_commands");
    expect(host.of("result")).toEqual([]);
    host.reply(id, { behavior: "allow" });
    await host.result(2);
    expect(host.of("result").map(({ num_turns }) => num_turns)).toEqual([2, 0]);
  });

  it("commands, known or not, are done and answered in their place", async () => {
    const answers = ["first", "second", "unknown", "last"].map((say) => ({ say }));
    const host = await initialized({ responses: answers });
    for (const words of ["one", "two", "/stats", "/nosuchcommand", "/stats", "four"]) host.user(words);
    await host.result(6);
    const results = host.of("result").map((line) => (line.subtype === "success" ? line.result : ""));
    const counted = (count: number) => expect.stringMatching(new RegExp(`Messages of the user +${count}\\n`));
    expect(results).toEqual(["first", "second", counted(2), "unknown", counted(3), "last"]);
  });

  it("@missing.txt is plain text for the model", async () => {
    const host = launch({ responses: [{ expect: { lastUser: "@missing.txt" }, say: "seen" }] });
    expect(await host.ask("look at @missing.txt")).toMatchObject({ result: "seen" });
  });
});
