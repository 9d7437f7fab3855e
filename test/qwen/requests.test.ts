/** The RFC from the outside: what a chat request can say, by origin, parts, options, continuation and tool request. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import { modelServer, type Reply } from "../support/model-server.js";
import { received, story, type QwenHost } from "./host.js";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A model that checks what it is asked. */
function expecting(expected: Record<string, unknown>): { responses: unknown[] } {
  return { responses: [{ expect: expected, say: "seen" }] };
}

describe("parts", () => {
  it("Q29: texts are one text, in order", async () => {
    const host = await received(expecting({ lastUser: "/^Please fix the bug$/" }));
    host.send({ input: { origin: "user", parts: [{ type: "text", text: "Please fix " }, { text: "the bug" }] } });
    await host.next("summary");
    expect(host.text()).toBe("seen");
  });

  it("Q28: a plain string is one as well", async () => {
    const host = await received(expecting({ lastUser: "/^hello$/" }));
    host.send({ input: { parts: "hello" } });
    await host.next("summary");
    expect(host.text()).toBe("seen");
  });

  it.each([
    ["file_data", { type: "file_data", file_data: { file_uri: "note.txt" } }],
    ["fileData", { fileData: { fileUri: "note.txt", mimeType: "text/plain" } }],
  ])("Q28: %s attaches a file by its path", async (_name, part) => {
    const host = await received({
      cwd: scratch({ "note.txt": "the sea" }),
      ...expecting({ lastUser: "Attached file note.txt:\nthe sea" }),
    });
    host.send({ input: { parts: [{ type: "text", text: "read" }, part] } });
    await host.next("summary");
    expect(host.text()).toBe("seen");
  });

  it("Q28: a file: address is a path, too", async () => {
    const file = join(scratch({ "my note.txt": "the sky" }), "my note.txt");
    const host = await received(expecting({ lastUser: "the sky" }));
    host.send({ input: { parts: [{ type: "file_data", file_data: { file_uri: `file://${file.replaceAll(" ", "%20")}` } }] } });
    await host.next("summary");
    expect(host.text()).toBe("seen");
  });

  it.each([
    ["inline_data", { type: "inline_data", inline_data: { mime_type: "image/png", data: PNG } }],
    ["inlineData", { inlineData: { mimeType: "image/png", data: PNG } }],
    ["image_url", { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } }],
  ])("Q28: %s shows the model an image", async (_name, part) => {
    const { host, body } = await asked([{ text: ["an image"] }]);
    host.send({ input: { parts: [{ text: "what is this?" }, part] } });
    await host.next("summary");
    expect(JSON.stringify(body(0))).toContain(`data:image/png;base64,${PNG}`);
  });

  it("Q28: an unknown part is refused by its place, and the process lives", async () => {
    const host = await received({ responses: [{ say: "ok" }] });
    host.send({ prompt_id: "p-1", input: { parts: [{ text: "a" }, { type: "hologram", text: "b" }] } });
    expect((await host.next("error")).metadata.error).toMatchObject({ type: "invalid_request_error", param: "input.parts[1]" });
    expect(host.text(await host.turn())).toBe("ok");
  });

  it("Q28: what is inline and no image is read as a file is; a link that leads nowhere is told", async () => {
    const host = await received(expecting({ lastUser: "/inline words[^]*binary[^]*could not be read/" }));
    const inline = (mime_type: string, words: string): unknown => ({
      type: "inline_data",
      inline_data: { mime_type, data: Buffer.from(words).toString("base64") },
    });
    const link = { type: "image_url", image_url: { url: "http://127.0.0.1:1/a.png" } };
    const parts = [{ text: "a" }, inline("text/plain", "inline words"), inline("application/pdf", "%PDF\0"), link];
    const lines = await host.turn("", { input: { parts } });
    expect(lines[0]).toMatchObject({ word: "error", metadata: { error: { message: expect.stringContaining("127.0.0.1") } } });
    expect(host.text(lines)).toBe("seen");
  });

  it("a file that is not there is told, and the turn goes on", async () => {
    const host = await received({ responses: [{ say: "without it" }] });
    const lines = await host.turn("look", { input: { parts: [{ text: "look" }, { fileData: { fileUri: "nowhere.txt" } }] } });
    expect(lines[0]).toMatchObject({ word: "error", metadata: { error: { param: "nowhere.txt" } } });
    expect(host.text(lines)).toBe("without it");
  });

  it("a request that says nothing is refused", async () => {
    const host = await received();
    host.send({ input: { parts: [] } });
    expect((await host.next("error")).metadata.error).toMatchObject({ param: "input.parts" });
  });
});

/** With a real wire behind it, whose requests can be read. */
async function asked(replies: Reply[]): Promise<{ host: QwenHost; body: (at: number) => Record<string, unknown> }> {
  const server = await modelServer("openai-chat", replies);
  const model = ["--provider", "openai", "--model", "gpt-4o", "--base-url", server.url];
  const host = await received({ model, env: { OPENAI_API_KEY: server.key } });
  return { host, body: (at) => server.requests[at]?.body as Record<string, unknown> };
}

const toolNames = (body: Record<string, unknown>): string[] =>
  ((body["tools"] ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name);

describe("options are for that request only", () => {
  it("Q37: options.model before model before the session's", async () => {
    const { host, body } = await asked([{ text: ["a"] }, { text: ["b"] }, { text: ["c"] }]);
    await host.turn("a", { model: "gpt-4o-mini" });
    await host.turn("b", { model: "gpt-4o-mini", options: { model: "gpt-4.1" } });
    await host.turn("c");
    expect([0, 1, 2].map((at) => body(at)["model"])).toEqual(["gpt-4o-mini", "gpt-4.1", "gpt-4o"]);
    expect(host.all("text").map(({ model }) => model)).toEqual(["gpt-4o-mini", "gpt-4.1", "gpt-4o"]);
  });

  it("temperature, top_p, max_tokens and stop", async () => {
    const { host, body } = await asked([{ text: ["a"] }, { text: ["b"] }]);
    await host.turn("a", { options: { temperature: 0.2, top_p: 0.5, max_tokens: 77, stop: "END" } });
    await host.turn("b");
    expect(body(0)).toMatchObject({ temperature: 0.2, top_p: 0.5, max_tokens: 77, stop: ["END"] });
    for (const key of ["temperature", "top_p", "stop"]) expect(body(1)[key]).toBeUndefined();
  });

  it("an unknown name among tool_overrides is told, and the turn goes on with the others", async () => {
    const host = await received({ responses: [{ expect: { tools: ["Read"] }, say: "ok" }] });
    const lines = await host.turn("a", { options: { tool_overrides: ["NoSuchTool", "read_file", "mcp__none__*"] } });
    expect(lines[0]).toMatchObject({
      word: "error",
      metadata: {
        prompt_id: expect.any(String),
        error: {
          code: "unknown_tool",
          type: "invalid_request_error",
          param: "options.tool_overrides",
          message: expect.stringMatching(/'NoSuchTool', 'mcp__none__\*'/),
        },
      },
    });
    expect(host.text(lines)).toBe("ok");
  });

  it("R40, Q36: tool_overrides is a list of what there is, by any name; an empty one leaves nothing", async () => {
    const { host, body } = await asked([{ text: ["a"] }, { text: ["b"] }, { text: ["c"] }]);
    await host.turn("a", { options: { tool_overrides: [] } });
    await host.turn("b", { options: { tool_overrides: ["EditTool", "read_file"] } });
    await host.turn("c");
    expect(toolNames(body(0))).toEqual([]);
    expect(toolNames(body(1)).sort()).toEqual(["Edit", "Read"]);
    expect(toolNames(body(2))).toEqual(expect.arrayContaining(["Read", "Write", "Edit", "Bash"]));
  });
});

describe("messages", () => {
  it("Q3: system text lasts for the session, earlier ones are its history, the last is the prompt", async () => {
    const { host, body } = await asked([{ text: ["a"] }, { text: ["b"] }, { text: ["c"] }]);
    host.send({
      messages: [
        { role: "system", content: "You are a parrot." },
        { role: "user", content: "My name is Ada." },
        { role: "assistant", content: "Hello Ada." },
        { role: "user", content: [{ type: "text", text: "Who am I?" }] },
      ],
    });
    await host.nth("summary", 1);
    await host.turn("and now?");
    host.send({
      session_id: host.session,
      messages: [
        { role: "user", content: "not again" },
        { role: "user", content: "the third" },
      ],
    });
    await host.nth("summary", 3);
    const said = (at: number): string => JSON.stringify(body(at)["messages"]);
    for (const words of ["You are a parrot.", "My name is Ada.", "Hello Ada.", "Who am I?"]) expect(said(0)).toContain(words);
    expect(said(1)).toContain("You are a parrot.");
    expect(said(2)).toContain("the third");
    expect(said(2)).not.toContain("not again");
  });

  it("the last one must be the user's", async () => {
    const host = await received();
    host.send({ messages: [{ role: "assistant", content: "hm" }] });
    expect((await host.next("error")).metadata.error).toMatchObject({ type: "invalid_request_error", param: "messages" });
  });
});

describe("origins", () => {
  it("Q35: words of the system guide the session, and are answered by a summary without a model call", async () => {
    const host = await received({
      responses: [
        { expect: { system: "Answer in French." }, say: "oui" },
        { expect: { system: "Be brief." }, say: "oui" },
      ],
    });
    host.send({
      session_id: host.session,
      prompt_id: "g-1",
      input: { origin: "system", parts: [{ type: "instruction", text: "Answer in French." }] },
    });
    const summary = await host.next("summary");
    expect(story(host.heard.slice(1))).toBe("summary");
    expect(summary.metadata).toMatchObject({ prompt_id: "g-1", summary: { prompt_id: "g-1", num_turns: 0, is_error: false } });
    expect(host.text(await host.turn())).toBe("oui");
    host.send({ session_id: host.session, input: { origin: "system", parts: [{ text: "Be brief." }] } });
    await host.nth("summary", 3);
    expect(host.text((await host.turn()).slice(0))).toBe("oui");
  });

  it("Q35: a command of the system is a command", async () => {
    const host = await received();
    host.send({ session_id: host.session, input: { origin: "system", parts: [{ text: "/mode yolo" }] } });
    expect((await host.next("result/command")).raw["result"]).toMatchObject({ type: "message", level: "info" });
  });

  it("R29: a tool_response without its call is refused", async () => {
    const host = await received();
    host.send({ session_id: host.session, input: { origin: "tool_response", parts: [] } });
    expect((await host.next("error")).metadata.error).toMatchObject({ type: "invalid_request_error", param: "tool_call_id" });
  });

  it("R30, Q34: so is one to a call that is not the host's", async () => {
    const host = await received({ responses: [{ call: { tool: "Write", args: { file_path: "a", content: "a" } } }] });
    host.say("go");
    const request = await host.next("control_request:can_use_tool");
    for (const call of ["nobody", String(request.raw["tool_call_id"])])
      host.send({ session_id: host.session, tool_call_id: call, input: { origin: "tool_response", parts: [{ text: "x" }] } });
    await host.nth("error", 2);
    for (const { metadata } of host.all("error"))
      expect(metadata.error).toMatchObject({ code: "unknown_tool_call_id", param: "tool_call_id" });
    host.send({ session_id: "elsewhere", tool_call_id: "x", input: { origin: "tool_response", parts: [] } });
    expect((await host.nth("error", 3)).metadata.error).toMatchObject({ code: "session_not_found", param: "session_id" });
  });
});

describe("continuation", () => {
  it("goes on where the last turn stopped, without a new message and under its name", async () => {
    const host = await received({
      args: ["--max-turns", "1"],
      responses: [{ call: { tool: "Glob", args: { pattern: "*" } } }, { expect: { messages: 3 }, say: "finished" }],
    });
    await host.turn("go", { prompt_id: "p-1" });
    const lines = await host.turn("", { input: { parts: [] }, continuation: true });
    expect(host.text(lines)).toBe("finished");
    expect(lines.at(-1)?.metadata.prompt_id).toBe("p-1");
  });

  it("in a turn that runs it is said into that turn", async () => {
    const host = await received({
      responses: [
        { call: { tool: "Write", args: { file_path: "a", content: "a" } } },
        { expect: { lastUser: "one more thing" }, say: "both" },
      ],
    });
    host.say("go");
    const request = await host.next("control_request:can_use_tool");
    host.say("one more thing", { continuation: true });
    await host.settled();
    host.approve(request);
    await host.next("summary");
    expect(host.text()).toBe("both");
    expect(host.all("summary")).toHaveLength(1);
  });
});

describe("tool_request", () => {
  const write = (name: string): Record<string, unknown> => ({ name: "write_file", args: { file_path: name, content: `${name}\n` } });

  it("is run as if the model had asked, approval included, and fed to it with the words", async () => {
    const cwd = scratch();
    const host = await received({ cwd, responses: [{ expect: { toolResult: "Created a.txt", lastUser: "what now?" }, say: "well done" }] });
    host.say("what now?", { tool_request: { call_id: "call-1", ...write("a.txt") } });
    const request = await host.next("control_request:can_use_tool");
    expect(request.raw["tool_call_id"]).toBe("call-1");
    host.approve(request);
    await host.next("summary");
    expect(story(host.heard.slice(1))).toBe(
      "tool_calls display:confirming control_request:can_use_tool display:executing display:success text event:Finished summary",
    );
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("a.txt\n");
  });

  it("may be several at once", async () => {
    const cwd = scratch();
    const host = await received({ cwd, args: ["--yolo"], responses: [{ say: "both" }] });
    const calls = ["a", "b"].map((name) => ({ callId: `c-${name}`, ...write(name) }));
    await host.turn("", { input: { parts: [] }, tool_request: calls });
    expect(["a", "b"].map((name) => existsSync(join(cwd, name)))).toEqual([true, true]);
  });

  it.each([
    ["arguments that are no object", { name: "Write", args: "x" }, "tool_request.args"],
    ["arguments that the tool does not take", { name: "Write", args: { file_path: 7, content: "" } }, "tool_request.args.file_path"],
    ["those of one of several", [write("a"), { name: "Write", args: { file_path: 7, content: "" } }], "tool_request[1].args.file_path"],
    ["those of the first of several", [{ name: "Write", args: {} }], "tool_request[0].args.file_path"],
    ["those in a list", { name: "TodoWrite", args: { todos: [{ content: "a" }] } }, "tool_request.args.todos[0].status"],
  ])("%s are refused with QWEN_INVALID_TOOL_ARGS, and the process lives", async (_name, tool_request, param) => {
    const host = await received({ responses: [{ say: "ok" }] });
    host.say("go", { tool_request, prompt_id: "p-1" });
    expect((await host.next("error")).metadata.error).toMatchObject({
      code: "QWEN_INVALID_TOOL_ARGS",
      type: "invalid_request_error",
      param,
    });
    expect(host.text(await host.turn())).toBe("ok");
  });
});

describe("`@` in the words", () => {
  it("attaches the file", async () => {
    const host = await received({ cwd: scratch({ "main.py": "print()" }), ...expecting({ lastUser: "Attached file main.py:\nprint()" }) });
    expect(host.text(await host.turn("Please fix the bug in @main.py"))).toBe("seen");
  });

  it("R28: a file that is not there is told, and the turn goes on", async () => {
    const host = await received({ responses: [{ say: "hm" }] });
    const lines = await host.turn("@missing.txt explain");
    expect(lines[0]).toMatchObject({ word: "error", metadata: { error: { message: expect.stringContaining("missing.txt") } } });
    expect(host.text(lines)).toBe("hm");
  });

  it("declared as a command it is told as one", async () => {
    const cwd = scratch();
    writeFileSync(join(cwd, "main.py"), "print()");
    const host = await received({ cwd, ...expecting({ lastUser: "print()" }) });
    const lines = await host.turn("", { input: { parts: [{ text: "fix it" }], command: { kind: "at", path: ["main.py"], args: "" } } });
    expect(story(lines)).toBe("result/command text event:Finished summary");
    expect(lines[0]?.raw).toMatchObject({
      command: { kind: "at", path: ["main.py"] },
      result: { type: "submit_prompt", auto_submitted: true },
    });
  });
});
