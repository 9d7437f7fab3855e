/** The RFC from the outside: commands, declared and read off the words, and the hints for them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import { received, story, type QwenHost } from "./host.js";

function command(host: QwenHost, path: string[], args = "", more: Record<string, unknown> = {}): void {
  host.send({
    session_id: host.session,
    input: { origin: "user", parts: [{ type: "text", text: "" }], command: { kind: "slash", path, args } },
    ...more,
  });
}

const SKILL = "---\nname: greet\ndescription: Greets\n---\nSay hello to $ARGUMENTS\n";

describe("commands", () => {
  it("R25, Q38: declared, it is answered by its own result and nothing else", async () => {
    const host = await received();
    command(host, ["chat", "list"], "", { prompt_id: "p-8" });
    expect((await host.next("result/command")).raw).toEqual({
      type: "result/command",
      session_id: host.session,
      prompt_id: "p-8",
      command: { kind: "slash", path: ["chat", "list"], args: "" },
      result: { type: "message", level: "info", content: expect.stringContaining("No chat is saved") },
    });
    await host.settled();
    expect(story(host.heard.slice(1))).toBe("result/command result/heartbeat");
  });

  it("read off the words it is the same", async () => {
    const host = await received();
    host.say("/chat list");
    expect((await host.next("result/command")).raw).toMatchObject({
      prompt_id: `${host.session}########1`,
      command: { kind: "slash", path: ["chat", "list"], args: "" },
      result: { type: "message", content: expect.stringContaining("No chat is saved") },
    });
  });

  it.each([
    ["/chat save  one", ["chat", "save"], "one", /is empty/],
    ["/chat resume one two", ["chat", "resume"], "one two", /takes one name/],
    ["/chat delete", ["chat", "delete"], "", /takes one name/],
    ["/chat nonsense", ["chat"], "nonsense", /not 'nonsense'/],
    ["/chat", ["chat"], "", /No chat is saved/],
    ["/mcp login nobody", ["mcp", "login"], "nobody", /no MCP server 'nobody'/],
    ["/mcp nobody", ["mcp"], "nobody", /no MCP server 'nobody'/],
    ["/copy list", ["copy"], "list", /./],
  ] as const)("a sub-command is a part of the path, its arguments are not: %s", async (text, path, args, content) => {
    const host = await received();
    host.say(text);
    expect((await host.next("result/command")).raw).toMatchObject({
      command: { kind: "slash", path, args },
      result: { type: "message", content: expect.stringMatching(content) },
    });
  });

  it("R26, Q39: an unknown one is an error of its own, without a model call", async () => {
    const host = await received({ responses: [{ say: "the model" }] });
    host.say("/nope now");
    expect((await host.next("result/command")).raw).toMatchObject({
      command: { path: ["nope"], args: "now" },
      result: { type: "message", level: "error", content: expect.stringContaining("nope") },
    });
    expect(host.text(await host.turn())).toBe("the model");
  });

  it.each(["?", "/help", "/?"])("R27, Q42: %s is help, a dialog that the host shows", async (text) => {
    const host = await received();
    host.say(text);
    const { result } = (await host.next("result/command")).raw;
    expect(result).toMatchObject({
      type: "dialog",
      dialog: "help",
      choices: expect.arrayContaining([expect.objectContaining({ value: "clear" })]),
    });
  });

  it.each([
    ["/model", "model"],
    ["/mode", "mode"],
    ["/theme", "theme"],
  ])("%s without an argument is the dialog %s", async (text, dialog) => {
    const host = await received();
    host.say(text);
    expect((await host.next("result/command")).raw["result"]).toMatchObject({ type: "dialog", dialog });
  });

  it("Q41: levels are info, warning and error", async () => {
    const host = await received();
    for (const text of ["/mode yolo", "/copy", "/mode nonsense"]) host.say(text);
    await host.nth("result/command", 3);
    const levels = host.all("result/command").map(({ raw }) => (raw["result"] as { level: string }).level);
    expect(levels.sort()).toEqual(["error", "info", "warning"]);
  });

  it("/todo shows what a tool shows", async () => {
    const todos = [{ content: "paint", status: "in_progress" }];
    const host = await received({ responses: [{ call: { tool: "TodoWrite", args: { todos } } }, { say: "ok" }] });
    await host.turn();
    host.say("/todo");
    expect((await host.next("result/command")).raw["result"]).toEqual({
      type: "tool",
      tool_name: "TodoWrite",
      result_display: { kind: "todo_list", todos: [{ id: "1", content: "paint", status: "in_progress" }] },
    });
  });

  it("Q40, Q43: a skill becomes a prompt, which goes on by itself, its result first", async () => {
    const cwd = scratch();
    mkdirSync(join(cwd, ".parley/skills/greet"), { recursive: true });
    writeFileSync(join(cwd, ".parley/skills/greet/SKILL.md"), SKILL);
    const host = await received({ cwd, responses: [{ expect: { lastUser: "Say hello to Ada" }, say: "Hello Ada" }] });
    const lines = await host.turn("/greet Ada", { prompt_id: "p-1" });
    expect(story(lines)).toBe("result/command text event:Finished summary");
    expect(lines[0]?.raw).toMatchObject({ prompt_id: "p-1", result: { type: "submit_prompt", auto_submitted: true } });
    expect(lines.at(-1)?.metadata.prompt_id).toBe("p-1");
  });

  it("/compress and /copy are there; the former is also told as a session event with its numbers", async () => {
    const host = await received({ then: "repeat", responses: [{ say: `an answer ${"word ".repeat(200)}` }] });
    await host.turn();
    await host.turn();
    await host.turn();
    host.say("/copy");
    expect((await host.nth("result/command", 1)).raw["result"]).toMatchObject({ content: expect.stringContaining("an answer") });
    host.say("/compress");
    const result = (await host.nth("result/command", 2)).raw["result"];
    expect(result).toMatchObject({ type: "message", content: expect.stringContaining("tokens before") });
    const event = host.all("event:ChatCompressed")[0]?.raw;
    expect(event).toMatchObject({
      type: "x-qwen-session-event",
      session_id: host.session,
      metrics: { original_tokens: expect.any(Number) },
    });
  });

  it("a path, and a comment, are no commands", async () => {
    const host = await received({ then: "repeat", responses: [{ say: "read" }] });
    for (const text of ["/etc/hosts is what?", "// a comment", "/* another */"])
      expect(story(await host.turn(text))).toBe("text event:Finished summary");
  });

  it("runs beside a turn where it changes nothing", async () => {
    const host = await received({ responses: [{ call: { tool: "Write", args: { file_path: "a", content: "a" } } }, { say: "done" }] });
    host.say("go");
    await host.next("control_request:can_use_tool");
    host.say("/help");
    await host.next("result/command");
    expect(host.all("summary")).toEqual([]);
  });
});

describe("hints", () => {
  function hint(host: QwenHost, trigger: string, text: string, more: Record<string, unknown> = {}): void {
    host.send({
      type: "command_hint_request",
      session_id: host.session,
      prompt_id: `${host.session}########preview`,
      trigger,
      text,
      cursor: text.length,
      context: { cwd: "/workspace", selected_text: "" },
      ...more,
    });
  }

  it.each([
    ["slash", "/cl", "clear"],
    ["at", "@al", "alpha.txt"],
  ])("is answered though the input ends behind it: %s", async (trigger, text, value) => {
    const host = await received({ cwd: scratch({ "alpha.txt": "a" }) });
    hint(host, trigger, text);
    expect(await host.finish()).toBe(0);
    expect(host.all("result/command_hint").at(-1)?.raw).toMatchObject({ status: "ok", suggestions: [{ value }] });
  });

  it("R22: commands that begin so, and no model call", async () => {
    const host = await received({ responses: [{ expect: { messages: 1 }, say: "first" }] });
    hint(host, "slash", "/c");
    const { raw } = await host.next("result/command_hint");
    expect(raw).toMatchObject({
      session_id: host.session,
      prompt_id: `${host.session}########preview`,
      trigger: "slash",
      status: "ok",
      metadata: { is_perfect_match: false },
    });
    const suggestions = raw["suggestions"] as { label: string; value: string; description: string }[];
    const values = suggestions.map(({ value }) => value);
    expect(values).toEqual(expect.arrayContaining(["chat", "clear", "compact", "copy"]));
    expect(values.every((value) => value.startsWith("c"))).toBe(true);
    expect(suggestions.every(({ label, description }) => label !== "" && description !== "")).toBe(true);
    hint(host, "slash", "/clear");
    expect((await host.nth("result/command_hint", 2)).raw["metadata"]).toEqual({ is_perfect_match: true });
    // Nothing of it is in the history.
    expect(host.text(await host.turn())).toBe("first");
  });

  it("Q45: `?` is help", async () => {
    const host = await received();
    for (const text of ["?", "/?"]) hint(host, "slash", text, { prompt_id: text });
    await host.nth("result/command_hint", 2);
    for (const { raw } of host.all("result/command_hint"))
      expect((raw["suggestions"] as { value: string }[]).map(({ value }) => value)).toContain("help");
  });

  /** A ripgrep that waits until a file is there. */
  function slow(): { cwd: string; gate: string; env: Record<string, string> } {
    const cwd = scratch();
    mkdirSync(join(cwd, "src"));
    const folder = scratch();
    const [gate, program] = [join(folder, "open"), join(folder, "rg")];
    writeFileSync(program, `#!/bin/sh\nwhile [ ! -e ${gate} ]; do sleep 0.02; done\necho './src/my code.ts'\n`, { mode: 0o755 });
    return { cwd, gate, env: { PARLEY_RIPGREP: program } };
  }

  it("R23: files that take a while are `loading` first; blanks are escaped in the value", async () => {
    const { cwd, gate, env } = slow();
    const host = await received({ cwd, env });
    hint(host, "at", "@src/my", { request_id: "h-1" });
    expect((await host.next("result/command_hint")).raw).toMatchObject({
      status: "loading",
      trigger: "at",
      suggestions: [],
      request_id: "h-1",
    });
    writeFileSync(gate, "");
    expect((await host.nth("result/command_hint", 2)).raw).toMatchObject({
      status: "ok",
      request_id: "h-1",
      suggestions: [{ label: "src/my code.ts", value: "src/my\\ code.ts" }],
    });
  });

  it("R24, Q44, Q46: a later one takes the place of an earlier one, and a cancel is the end", async () => {
    const { cwd, gate, env } = slow();
    const host = await received({ cwd, env });
    hint(host, "at", "@s", { request_id: "one" });
    hint(host, "at", "@src", { request_id: "two" });
    await host.next("result/command_hint", ({ raw }) => raw["request_id"] === "two");
    host.send({ type: "command_hint_cancel", session_id: host.session, prompt_id: `${host.session}########preview`, trigger: "at" });
    await host.settled();
    writeFileSync(gate, "");
    hint(host, "at", "@src/my", { request_id: "three" });
    await host.next("result/command_hint", ({ raw }) => raw["request_id"] === "three" && raw["status"] === "ok");
    const told = host.all("result/command_hint").map(({ raw }) => `${String(raw["request_id"])} ${String(raw["status"])}`);
    expect(told.filter((line) => line.endsWith(" ok"))).toEqual(["three ok"]);
    expect(told.filter((line) => line.startsWith("one"))).toEqual([]);
  });

  it("Q44: one for another prompt is asked for beside it, and both are answered", async () => {
    const { cwd, gate, env } = slow();
    const host = await received({ cwd, env });
    for (const prompt_id of ["a", "b", "c"]) hint(host, "at", "@s", { prompt_id });
    await host.next("result/command_hint", ({ raw }) => raw["prompt_id"] === "c");
    writeFileSync(gate, "");
    for (const id of ["a", "b", "c"])
      await host.next("result/command_hint", ({ raw }) => raw["prompt_id"] === id && raw["status"] === "ok");
  });

  it("for a session that nobody knows they are answered all the same", async () => {
    const host = await received({ cwd: scratch({ "one.txt": "" }) });
    hint(host, "at", "@one", { session_id: "elsewhere" });
    expect((await host.next("result/command_hint", ({ raw }) => raw["status"] === "ok")).raw).toMatchObject({
      session_id: host.session,
      suggestions: [{ value: "one.txt" }],
    });
  });

  it("are answered while an approval waits", async () => {
    const host = await received({ responses: [{ call: { tool: "Write", args: { file_path: "a", content: "a" } } }] });
    host.say("go");
    await host.next("control_request:can_use_tool");
    hint(host, "slash", "/he");
    expect((await host.next("result/command_hint")).raw).toMatchObject({ status: "ok" });
  });
});
