/** The RFC from the outside: how calls, terminals and sessions are shown beside the text. */
import { describe, expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import type { Heard } from "./heard.js";
import { received, story, type Format, type QwenHost } from "./host.js";

const FORMATS: Format[] = ["stream-json", "stream-chunk-json"];
const TERMINAL = { metadata: { required_capabilities: ["annotations.terminal"] } };

function results(lines: readonly Heard[]): unknown[] {
  return lines.flatMap(({ displays }) => displays.map(({ result_display }) => result_display)).filter((shown) => shown != null);
}

describe("x-qwen-tool-display", () => {
  it("file_diff: an edit with what was, what is and the lines", async () => {
    const cwd = scratch({ "main.py": "print('Hi')\nexit()\n" });
    const read = { tool: "Read", args: { file_path: "main.py" } };
    const edit = { tool: "Edit", args: { file_path: "main.py", old_string: "print('Hi')", new_string: "print('Hello')" } };
    const host = await received({ cwd, args: ["--yolo"], responses: [{ call: read }, { call: edit }, { say: "ok" }] });
    const [, shown] = results(await host.turn());
    expect(shown).toEqual({
      kind: "file_diff",
      file_name: "main.py",
      diff: expect.stringMatching(/^--- a\/main\.py\n\+\+\+ b\/main\.py\n@@ [^]*-print\('Hi'\)\n\+print\('Hello'\)\n/),
      original: "print('Hi')\nexit()\n",
      modified: "print('Hello')\nexit()\n",
      stat: { ai_added_lines: 1, ai_removed_lines: 1, user_added_lines: 0, user_removed_lines: 0 },
    });
  });

  it("Q16, Q20, Q22, Q23: string: what a tool says, and as a log of it while it runs", async () => {
    const bash = (command: string): unknown => ({ call: { tool: "Bash", args: { command } } });
    const host = await received({ args: ["--yolo"], responses: [bash("echo out; exit 3"), { say: "ok" }] });
    const lines = await host.turn();
    expect(results(lines)).toEqual([
      { kind: "string", text: "out\n", log_scope: "tool" },
      { kind: "string", text: expect.stringContaining("Exit code: 3") },
    ]);
    expect(lines.flatMap(({ displays }) => displays.map(({ status, pending }) => [status, pending]))).toEqual([
      ["pending", true],
      ["executing", false],
      ["executing", false],
      ["error", false],
    ]);
    const [first] = lines.flatMap(({ displays }) => displays);
    expect(Math.abs(Number(first?.timestamp) - Date.now() / 1000)).toBeLessThan(600);
  });

  it("todo_list: with the ids that the model gave, or numbers", async () => {
    const todos = [
      { content: "a", status: "completed", id: "x" },
      { content: "b", status: "pending" },
    ];
    const host = await received({ responses: [{ call: { tool: "TodoWrite", args: { todos } } }, { say: "ok" }] });
    expect(results(await host.turn())).toEqual([
      {
        kind: "todo_list",
        todos: [
          { id: "x", content: "a", status: "completed" },
          { id: "2", content: "b", status: "pending" },
        ],
      },
    ]);
  });

  it.each(FORMATS)("Q64: task_execution, %s: sub-agents, what they call, and whose lines are theirs", async (output) => {
    const spawn = { call: { tool: "Spawn", args: { tasks: [{ name: "finder", prompt: "find it" }] } } };
    const host = await received({
      output,
      args: ["--yolo"],
      responses: [spawn, { say: "looking", call: { tool: "Glob", args: { pattern: "*" } } }, { say: "found it" }, { say: "all done" }],
    });
    const lines = await host.turn();
    const ids = lines.flatMap(({ calls }) => calls.flatMap(({ id }) => id ?? []));
    const [parent, child] = ids;
    const under = lines.filter(({ metadata }) => metadata.parent_tool_call_id === parent);
    expect(story(under)).toBe(
      output === "stream-json"
        ? "text tool_calls display:pending display:executing display:success text"
        : "delta call tool_calls display:pending display:executing display:success delta",
    );
    expect(host.text(lines)).toBe("all done");
    const tasks = results(lines).filter((shown) => JSON.stringify(shown).includes("task_execution"));
    expect(tasks[0]).toMatchObject({ kind: "task_execution", status: "running", tool_calls: [] });
    expect(tasks.at(-1)).toMatchObject({
      kind: "task_execution",
      task_description: expect.stringContaining("finder"),
      status: "completed",
      tool_calls: [{ tool_call_id: child, name: "Glob", status: "success" }],
      result: expect.stringContaining("found it"),
    });
    // The usage of the whole turn counts the sub-agent's as well, its own model calls are two.
    expect(lines.at(-1)?.metadata.summary?.num_turns).toBe(2);
  });

  it("a sub-agent's call that must be asked for is asked for in the turn's name", async () => {
    const spawn = { call: { tool: "Spawn", args: { tasks: [{ name: "w", prompt: "write" }] } } };
    const write = { call: { tool: "Write", args: { file_path: "a", content: "a" } } };
    const host = await received({ args: ["--approve-tools", "Spawn"], responses: [spawn, write, { say: "wrote" }, { say: "ok" }] });
    host.say("go", { prompt_id: "p-1" });
    const request = await host.next("control_request:can_use_tool");
    expect(request.raw).toMatchObject({ prompt_id: "p-1", tool: { name: "Write" } });
    host.approve(request);
    await host.next("summary");
  });

  it.each([
    ["exec", { tool: "Bash", args: { command: "ls -l" } }, { type: "exec", command: "ls -l" }, "run_command"],
    ["info", { tool: "Spawn", args: { tasks: [{ name: "n", prompt: "p" }] } }, { type: "info", prompt: "Spawn: n" }, "run_command"],
    [
      "edit",
      { tool: "Write", args: { file_path: "x", content: "y\n" } },
      { type: "edit", file_name: "x", original: null, modified: "y\n" },
      "apply_diff",
    ],
  ])("a confirmation of the kind %s", async (_kind, call, confirmation, reason) => {
    const host = await received({ args: ["--approve-tools", "Read"], responses: [{ call }, { say: "ok" }] });
    host.say("go");
    const request = await host.next("control_request:can_use_tool");
    expect(host.all("display:confirming")[0]?.displays[0]?.confirmation).toMatchObject(confirmation);
    expect(request.raw["metadata"]).toMatchObject({ reason });
  });
});

describe("x-qwen-terminal", () => {
  const colours = "printf '\\033[32mgreen\\033[0m plain \\033[1;31mred\\033[0m\\n'; printf 'oops' >&2";

  it("Q26, Q65: comes only to whoever asks for it; else people read notices on stderr", async () => {
    const responses = [{ fail: { status: 529, times: 1, message: "busy" } }, { say: "ok" }];
    const plain = await received({ then: "repeat", responses });
    await plain.turn();
    expect(plain.lines.join("\n")).not.toContain("x-qwen-terminal");
    expect(plain.stderr).toContain("busy");
    const host = await received({ responses });
    const lines = await host.turn("go", TERMINAL);
    const console = lines.find(({ word }) => word === "terminal:console");
    expect(console?.content).toContain("busy");
    expect(console?.terminals).toEqual([
      expect.objectContaining({
        channel: "stderr",
        source: "console",
        console_level: "warn",
        exit_code: null,
        log_scope: "system",
        prompt_id: `${host.session}########1`,
      }),
    ]);
  });

  it.each(FORMATS)("Q17, Q18, Q19: %s: a tool's colours are spans and offsets over a text without them", async (output) => {
    const host = await received({
      output,
      args: ["--yolo"],
      responses: [{ call: { tool: "Bash", args: { command: colours } } }, { say: "ok" }],
    });
    const lines = await host.turn("go", TERMINAL);
    const tool = lines.filter(({ word }) => word === "terminal:tool");
    const stdout = tool.filter(({ terminals }) => terminals[0]?.channel === "stdout");
    expect(stdout.map(({ content }) => content).join("")).toBe("green plain red\n");
    const [first] = stdout;
    const [terminal] = first?.terminals ?? [];
    expect(terminal?.spans).toEqual([
      { start: 0, end: 5, style: { theme_token: "AccentGreen" } },
      { start: 12, end: 15, style: { theme_token: "AccentRed" } },
    ]);
    expect(terminal?.ansi).toEqual([
      { offset: 0, code: "\u001b[32m" },
      { offset: 5, code: "\u001b[0m" },
      { offset: 12, code: "\u001b[1;31m" },
      { offset: 15, code: "\u001b[0m" },
    ]);
    expect(terminal?.log_scope).toBe("tool");
    expect(tool.find(({ terminals }) => terminals[0]?.channel === "stderr")?.content).toBe("oops");
    // What a terminal shows is no part of the answer.
    expect(host.text(lines)).toBe("ok");
  });

  it.each(FORMATS)("R41: %s: the model's own colours, cut anywhere, with offsets in UTF-16", async (output) => {
    const text = "👍 \u001b[36mcyan\u001b[39m and \u001b[90mgrey\u001b[0m.";
    const host = await received({ output, responses: [{ say: { pieces: Array.from(text) } }] });
    const lines = await host.turn("go", TERMINAL);
    const said = lines.filter(({ word }) => word === "text" || word === "delta");
    expect(host.text(lines)).toBe("👍 cyan and grey.");
    let offset = 0;
    const spans: [number, number, string][] = [];
    for (const { content = "", terminals } of said) {
      for (const { start, end, style } of terminals[0]?.spans ?? []) spans.push([offset + start, offset + end, style.theme_token]);
      offset += content.length;
    }
    const merged = spans.reduce<[number, number, string][]>((all, [start, end, token]) => {
      const last = all.at(-1);
      if (last?.[1] === start && last[2] === token) last[1] = end;
      else all.push([start, end, token]);
      return all;
    }, []);
    expect(merged).toEqual([
      [3, 7, "AccentCyan"],
      [12, 16, "Comment"],
    ]);
    expect(said.flatMap(({ terminals }) => terminals).every(({ source }) => source === "assistant")).toBe(true);
  });

  it("a diff is shown as a terminal shows it", async () => {
    const host = await received({
      args: ["--yolo"],
      responses: [{ call: { tool: "Write", args: { file_path: "a", content: "x\n" } } }, { say: "ok" }],
    });
    const shown = (await host.turn("go", TERMINAL)).find(({ word }) => word === "terminal:tool");
    const tokens = shown?.terminals[0]?.spans?.map(({ start, end, style }) => [shown.content?.slice(start, end), style.theme_token]);
    expect(tokens).toContainEqual(["+x", "DiffAdded"]);
    expect(tokens).toContainEqual(["+++ b/a", "Comment"]);
  });

  it.each([
    [[{ say: "ok" }], [], 0],
    [[{ fail: { status: 400, message: "no" } }], [], 1],
    [[{ call: { tool: "Glob", args: { pattern: "*" } } }], ["--max-turns", "1"], 53],
  ])("the end of the turn has its exit code: %j %j is %d", async (responses, args, code) => {
    const host = await received({ args, responses });
    const lines = await host.turn("go", TERMINAL);
    expect(lines.find(({ word }) => word === "terminal:system")?.terminals).toEqual([
      expect.objectContaining({ channel: "stdout", source: "system", exit_code: code, console_level: null }),
    ]);
  });
});

describe("Q24, Q25: x-qwen-session-event", () => {
  async function events(host: QwenHost, text = "go"): Promise<string[]> {
    return (await host.turn(text)).filter(({ word }) => word.startsWith("event:")).map(({ word }) => word.slice(6));
  }

  it("Finished, MAX_TOKENS, MaxSessionTurns, SessionTokenLimitExceeded", async () => {
    const glob = { call: { tool: "Glob", args: { pattern: "*" } } };
    const overflow = { fail: { status: 400, code: "context_overflow", message: "too long" } };
    const host = await received({
      args: ["--max-turns", "2"],
      responses: [
        { say: "ok" },
        { say: "cut", finish: "length" },
        { say: "cut", finish: "length" },
        glob,
        glob,
        ...Array.from({ length: 6 }, () => overflow),
      ],
    });
    expect(await events(host)).toEqual(["Finished"]);
    expect(await events(host)).toEqual(["MAX_TOKENS", "Finished"]);
    expect(await events(host)).toEqual(["MaxSessionTurns", "Finished"]);
    expect((await events(host)).filter((name) => name !== "ChatCompressed")).toEqual(["SessionTokenLimitExceeded"]);
    const [first] = host.all("event:Finished");
    expect(first?.raw).toMatchObject({
      type: "x-qwen-session-event",
      session_id: host.session,
      prompt_id: `${host.session}########1`,
      message: expect.stringMatching(/\w/),
    });
  });

  it("LoopDetected: a model that asks for the same again and again is stopped", async () => {
    const host = await received({ then: "repeat", responses: [{ call: { tool: "Glob", args: { pattern: "*" } } }] });
    const lines = await host.turn();
    expect(lines.map(({ word }) => word).filter((word) => word.startsWith("event:"))).toEqual(["event:LoopDetected", "event:Finished"]);
    expect(lines.at(-1)?.metadata.summary?.num_turns).toBe(50);
  });

  it("ChatCompressed: with the tokens before and after", async () => {
    const long = "word ".repeat(400);
    const host = await received({
      config: { limits: { contextTokens: 3000 } },
      then: "repeat",
      responses: [{ say: long, usage: { input: 1500, output: 900 } }],
    });
    for (let turn = 0; turn < 6 && host.all("event:ChatCompressed").length === 0; turn++) await host.turn(long);
    const { metrics } = host.all("event:ChatCompressed")[0]?.raw ?? {};
    const { original_tokens, compressed_tokens } = metrics as { original_tokens: number; compressed_tokens: number };
    expect(original_tokens).toBeGreaterThan(compressed_tokens);
  });
});
