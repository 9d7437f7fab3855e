/** The command line: which wire is meant, Qwen Code's flags, runs of one prompt, the launcher, and the schema. */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { environment, PARLEY, scratch, script } from "../process/harness.js";
import { launch, modelFlags, start, startProgram } from "./host.js";

interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

function run(
  args: readonly string[],
  {
    input = "",
    program = [process.execPath, PARLEY],
    env = {},
    cwd = scratch(),
  }: { input?: string; program?: readonly string[]; env?: Record<string, string>; cwd?: string } = {},
): Run {
  const [command = "", ...before] = program;
  const { status, stdout, stderr } = spawnSync(command, [...before, ...args], { cwd, env: environment(env), input, encoding: "utf8" });
  return { code: status, stdout, stderr };
}

function shim(): string {
  const folder = scratch();
  expect(run(["shims", folder]).stdout).toContain(join(folder, "qwen"));
  return join(folder, "qwen");
}

const model = (...responses: unknown[]): string[] => modelFlags({ responses });

describe("runs of one prompt", () => {
  it.each([
    ["the launcher", ["--output-format", "text"], true],
    ["the launcher, in short", ["-o", "text"], true],
    ["the launcher, as the SDK would", ["--output-format=text", "--channel=SDK"], true],
    ["the dialect by name", ["--dialect", "qwen-shipped", "--output-format", "text"], false],
  ])("text is text, and no protocol: %s", (_name, flags, isShim) => {
    const program = isShim ? [process.execPath, shim()] : [process.execPath, PARLEY];
    const { code, stdout } = run([...flags, "-p", "go", ...model({ say: "just words" })], { program });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "just words\n" });
  });

  it("with a schema, text is the value alone; a failure says nothing on stdout", () => {
    const args = ["--dialect", "qwen-shipped", "-p", "go", "--json-schema", '{"type":"object"}'];
    const { code, stdout } = run([...args, ...model({ call: { tool: "structured_output", args: { answer: 7 } } })]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '{"answer":7}\n' });
    expect(run([...args, ...model({ say: "no" })])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("structured_output"),
    });
  });

  it.each([
    ["a schema that is none", ["--json-schema", "{bad", "-p", "x"]],
    ["a schema, and a flag that nobody knows", ["--json-schema", "{}", "--frobnicate", "-p", "x"]],
    ["pieces of messages", ["--include-partial-messages", "--output-format", "text", "-p", "x"]],
    ["the dialect by name", ["--dialect", "qwen-shipped", "--frobnicate", "-p", "x"]],
  ])("where text is the output, wrong usage says nothing on stdout: %s", (_name, flags) => {
    expect(run(["--provider", "rehearsal", ...flags])).toMatchObject({ code: 42, stdout: "", stderr: expect.stringContaining("--") });
  });

  it("the launcher leaves with 42 at a wrong command line, and with 41 without a key, as Qwen Code does", () => {
    const program = [process.execPath, shim()];
    expect(run(["--frobnicate"], { program })).toMatchObject({ code: 42, stdout: "" });
    expect(run(["-p", "go", "--approval-mode", "bogus"], { program })).toMatchObject({ code: 42, stdout: "" });
    expect(run(["-p", "go"], { program })).toMatchObject({ code: 41, stdout: "", stderr: expect.stringContaining("OPENAI_API_KEY") });
    expect(run(["-p", "go", "-o", "json"], { program }).code).toBe(41);
  });

  it.each([
    ["a flag that nobody knows", ["--frobnicate"]],
    ["no prompt", ["-p", ""]],
    ["a mode that nobody knows", ["-p", "x", "--approval-mode", "bogus"]],
    ["a folder that is not there", ["-p", "x", "--cwd", "/nowhere/at/all"]],
  ])("one document is one document, whatever fails: %s", (_name, flags) => {
    const { code, stdout } = run(["-o", "json", "--provider", "rehearsal", ...flags]);
    expect(code).not.toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ type: "result", is_error: true }]);
  });

  it("a kind of account that every object knows is none", () => {
    const { code, stdout } = run(["--auth-type", "constructor", "-o", "json", "-p", "go", ...model({ say: "ok" })], {
      program: [process.execPath, shim()],
    });
    expect({ code, result: JSON.parse(stdout).at(-1).result }).toEqual({ code: 0, result: "ok" });
  });

  it.each([
    ["-p", ["-p", "Say hello"], ""],
    ["a word", ["Say hello"], ""],
    ["stdin", [], "Say hello"],
  ])("lines for a prompt by %s", async (_name, prompt, input) => {
    const { code, stdout } = run(
      [
        ...prompt,
        "--output-format",
        "stream-json",
        "--dialect",
        "qwen-shipped",
        ...model({ expect: { lastUser: "Say hello" }, say: "hello" }),
      ],
      { input },
    );
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => Object(JSON.parse(line)).type),
    ).toEqual(["system", "assistant", "result"]);
    expect(code).toBe(0);
  });

  it("S50: json is one line with everything, and statistics in the result", () => {
    const { code, stdout } = run([
      "-p",
      "go",
      "-o",
      "json",
      "--yolo",
      ...model({ call: { tool: "Bash", args: { command: "echo hi" }, id: "t1" } }, { say: "done" }),
    ]);
    expect(stdout.split("\n")).toHaveLength(2);
    const lines: unknown = JSON.parse(stdout);
    expect(lines).toMatchObject([
      { type: "system", subtype: "init" },
      { type: "assistant" },
      { type: "user" },
      { type: "assistant" },
      {
        type: "result",
        subtype: "success",
        result: "done",
        stats: { tools: { totalCalls: 1, byName: { run_shell_command: { count: 1, success: 1 } } } },
      },
    ]);
    expect(code).toBe(0);
  });

  it("S50: an error is in the document, on stderr, and in the exit code", () => {
    const { code, stdout, stderr } = run(["-p", "go", "-o", "json", ...model({ fail: { status: 400, message: "no such model" } })]);
    expect(JSON.parse(stdout)).toMatchObject([
      { subtype: "init" },
      { type: "assistant" },
      { type: "result", is_error: true, error: { message: expect.stringContaining("no such model") } },
    ]);
    expect(stderr).toContain("no such model");
    expect(code).toBe(1);
  });

  it("what needs approval is denied at once, and listed", () => {
    const { stdout } = run([
      "-p",
      "go",
      "-o",
      "json",
      ...model({ call: { tool: "Bash", args: { command: "true" }, id: "t1" } }, { say: "no" }),
    ]);
    expect(JSON.parse(stdout)).toMatchObject([
      {},
      {},
      {},
      {},
      { permission_denials: [{ tool_name: "run_shell_command", tool_use_id: "t1" }] },
    ]);
  });

  it.each([
    ["a wrong type", { answer: "seven" }, "data/answer must be number"],
    ["a member that is missing", {}, "data must have required property 'answer'"],
    ["a member too many", { answer: 1, more: 2 }, "data must NOT have additional properties"],
    ["a value that is not allowed", { answer: 1, unit: "km" }, "data/unit must be equal to one of the allowed values"],
    ["an item", { answer: 1, all: [1, null] }, "data/all/1 must be integer"],
    ["a number too small", { answer: -1 }, "data/answer must be >= 0"],
    ["a text of another form", { answer: 1, day: "tomorrow" }, 'data/day must match format "date"'],
    ["none of the alternatives", { answer: 1, either: true }, "data/either must match a schema in anyOf"],
    ["what a reference says", { answer: 1, part: { id: "x" } }, 'data/part/id must match pattern "^p-"'],
  ])("a result that does not fit the schema is not taken: %s", (_name, wrong, why) => {
    const schema = {
      type: "object",
      properties: {
        answer: { type: "number", minimum: 0 },
        unit: { enum: ["m", "s"] },
        all: { type: "array", items: { type: "integer" } },
        day: { type: "string", format: "date" },
        either: { anyOf: [{ type: "string" }, { type: "null" }] },
        part: { $ref: "#/$defs/part" },
      },
      required: ["answer"],
      additionalProperties: false,
      $defs: { part: { type: "object", properties: { id: { type: "string", pattern: "^p-" } } } },
    };
    const hand = (args: unknown) => ({ call: { tool: "structured_output", args } });
    const responses = [hand(wrong), { expect: { toolResult: why }, ...hand({ answer: 7, unit: "m", all: [1] }) }];
    const { code, stdout } = run(["-p", "go", "--json-schema", JSON.stringify(schema), "-o", "json", ...model(...responses)]);
    expect({ code, last: JSON.parse(stdout).at(-1).structured_result }).toEqual({ code: 0, last: { answer: 7, unit: "m", all: [1] } });
  });

  it("S49: --json-schema: the result is what the model hands over, as JSON text and as a value", () => {
    const schema = { type: "object", properties: { answer: { type: "number" } }, required: ["answer"] };
    const responses = [
      { expect: { tools: ["structured_output"] }, call: { tool: "structured_output", args: { answer: 42 }, id: "s1" } },
      { say: "never asked" },
    ];
    const file = join(scratch(), "schema.json");
    writeFileSync(file, JSON.stringify(schema));
    for (const given of [JSON.stringify(schema), `@${file}`]) {
      const { code, stdout } = run(["-p", "go", "--json-schema", given, "-o", "json", ...model(...responses)]);
      expect(JSON.parse(stdout)).toMatchObject([
        {},
        {},
        {},
        { subtype: "success", result: '{"answer":42}', structured_result: { answer: 42 }, num_turns: 1 },
      ]);
      expect(code).toBe(0);
    }
    const without = run(["-p", "go", "--json-schema", JSON.stringify(schema), "-o", "json", ...model({ say: "I will not" })]);
    expect(without.code).toBe(1);
    expect(without.stdout).toContain("structured_output");
  });
});

describe("flags", () => {
  it.each([
    [["--input-format", "stream-json", "--output-format", "json"], "--output-format stream-json"],
    [["--input-format", "stream-json", "--output-format", "text", "--channel=SDK"], "--output-format stream-json"],
    [["--output-format", "stream-chunk-json", "--channel=SDK", "-p", "x"], "stream-chunk-json"],
    [["--include-partial-messages", "--output-format", "json", "-p", "x"], "--include-partial-messages"],
    [["--input-format", "stream-json", "--output-format", "stream-json", "--json-schema", "{}"], "--json-schema"],
    [["--input-format", "stream-json", "--output-format", "stream-json", "--channel=SDK", "--nonsense"], "--nonsense"],
    [["--input-format", "stream-json", "--output-format", "stream-json", "--channel=SDK", "-p", "x"], "over the protocol"],
    [
      ["-o", "json", "-p", "x", "--channel=SDK", "--approval-mode", "sometimes"],
      "one of plan, default, auto-edit, auto, yolo, not 'sometimes'",
    ],
    [["-o", "json", "-p", "x", "--approval-mode", "sometimes"], "one of default, auto_edit, plan, yolo, sandboxed, not 'sometimes'"],
    [
      ["-o", "json", "-p", "x", "--max-session-turns", "x"],
      "--max-session-turns must be a whole number from 1, or -1 for no limit, not 'x'",
    ],
    [["-o", "json", "-p", "x", "--max-session-turns=0"], "--max-session-turns must be"],
    [["-o", "json", "-p", "x", "--max-wall-time", "soon"], "--max-wall-time must be seconds, or a number with s, m or h, not 'soon'"],
    [["-o", "json", "-p", "x", "--max-subagent-depth", "deep"], "--max-subagent-depth must be a whole number, not 'deep'"],
    [["-o", "json", "-p", "x", "--provider", "rehearsal", "--fork-session"], "say which with --resume ID"],
    [
      ["--input-format", "stream-json", "--output-format", "stream-json", "--channel=SDK", "--provider", "rehearsal", "--fork-session"],
      "--resume",
    ],
    [["-o", "json", "-p", "x", "--json-schema", "[]"], "--json-schema"],
    [["-o", "json", "-p", "x", "--json-schema", '{"type":"array"}'], "an object"],
    [["-o", "json", "-p", "x", "--json-schema", '{"type":"object","properties":{"a":{"type":"strin"}}}'], "strin"],
    [["-o", "json", "-p", "x", "--json-schema", '{"properties":{"a":{"$ref":"#/$defs/no"}}}'], "#/$defs/no"],
    [["-o", "json", "-p", "x", "--json-schema", '{"properties":{"a":{"pattern":"["}}}'], "regular expression"],
    [["-o", "json", "-p", "x", "--json-schema", '{"$schema":"https://example.com/mine"}'], "https://example.com/mine"],
  ])("%j is wrong usage", (args, says) => {
    const { code, stdout, stderr } = run(args);
    expect([code, stderr]).toEqual([42, expect.stringContaining(says)]);
    expect(stdout).toContain('"type":"result"');
  });

  it.skipIf(process.platform === "darwin")("--sandbox wants a sandbox: where there is none it is refused plainly, exit 44", async () => {
    const bin = scratch({ bwrap: "#!/bin/sh\nexit 1\n" });
    chmodSync(join(bin, "bwrap"), 0o755);
    const env = { PATH: `${bin}:${process.env["PATH"] ?? ""}` };
    const host = launch({ args: ["--sandbox"], env });
    expect((await host.exited).code).toBe(44);
    expect(host.of("result")).toMatchObject([{ is_error: true, error: { message: expect.stringContaining("no sandbox") } }]);
    expect(run(["hello", "-s", "--provider", "rehearsal"], { program: [process.execPath, shim()], env }).code).toBe(44);
    expect(run(["--dialect", "qwen-shipped", "-p", "hello", "--sandbox-image", "x"]).stderr).toContain("--sandbox-image names a container");
  });

  it("S56: those that change nothing are told on stderr, and the rest works", async () => {
    const host = launch({
      args: [
        "--bare",
        "--proxy",
        "http://127.0.0.1:9",
        "--safe-mode",
        "--insecure",
        "--worktree",
        "--extensions",
        "a,b",
        "--disabled-slash-commands",
        "x",
      ],
      responses: [{ say: "ok" }],
    });
    expect(await host.ask()).toMatchObject({ result: "ok" });
    expect(host.of("system")[0]).toMatchObject({ permission_mode: "default" });
    for (const flag of ["bare", "proxy", "safe-mode", "insecure", "worktree", "extensions", "disabled-slash-commands"])
      expect(host.stderr).toContain(`--${flag} changes nothing here`);
    expect(host.stderr).not.toContain("channel");
  });

  it("everything that the SDK passes, at once", async () => {
    const host = launch({
      args: `--system-prompt Brief. --append-system-prompt Kind. --approval-mode auto-edit --max-session-turns 9 --core-tools read_file,edit
        --exclude-tools glob --allowed-tools edit --auth-type openai --include-partial-messages --session-id 123e4567-e89b-42d3-a456-426614174000
        --max-tool-calls 5 --max-subagent-depth 1 --include-directories ${scratch()} --allowed-mcp-server-names a --fallback-model other`.split(
        /\s+/,
      ),
      responses: [{ expect: { system: "/Brief.*Kind/s" }, say: "ok" }],
    });
    expect(await host.ask()).toMatchObject({ result: "ok" });
    expect(host.of("system")[0]).toMatchObject({ permission_mode: "auto-edit", tools: ["read_file", "edit"] });
  });
});

describe("the name qwen", () => {
  it("takes Qwen's short flags, prints words, and speaks the RFC unless something asks for the wire that shipped", () => {
    const program = [process.execPath, shim()];
    const said = script([{ say: "hello" }]);
    expect(run(["-p", "hi", "-m", said, "--provider", "rehearsal"], { program }).stdout).toBe("hello\n");
    const rfc = run(["-p", "hi", "-m", said, "--provider", "rehearsal", "--output-format", "stream-json"], { program });
    expect(rfc.stdout).toContain('"chat.completion"');
    const shipped = run(["-p", "hi", "-m", said, "--provider", "rehearsal", "-o", "json", "-y"], { program });
    expect(JSON.parse(shipped.stdout)).toMatchObject([{ permission_mode: "yolo" }, {}, { result: "hello" }]);
  });

  it("has Qwen Code's version", () => {
    const program = [process.execPath, shim()];
    for (const flag of ["--version", "-v"]) expect(run([flag], { program }).stdout).toBe("0.24.4\n");
  });

  it("is what the SDK starts", async () => {
    const host = startProgram(
      [shim()],
      [
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--channel=SDK",
        "--provider",
        "rehearsal",
        "--model",
        script([{ say: "hi" }]),
      ],
    );
    await host.initialize();
    expect(await host.ask()).toMatchObject({ result: "hi" });
    expect(await host.finish()).toBe(0);
  });

  it("takes its model from OPENAI_MODEL", () => {
    const { stdout } = run(["-p", "hi", "-o", "json", "--provider", "rehearsal"], {
      program: [process.execPath, shim()],
      env: { OPENAI_MODEL: script([{ say: "from there" }]) },
    });
    expect(stdout).toContain("from there");
  });
});

describe("elsewhere", () => {
  it("parley schema qwen-shipped has every message", () => {
    const { stdout } = run(["schema", "qwen-shipped"]);
    for (const word of [
      "control_cancel_request",
      "can_use_tool",
      "mcp_message",
      "error_max_turns",
      "content_block_delta",
      "task_notification",
    ])
      expect(stdout).toContain(`"${word}"`);
  });

  it("parley serve --dialect qwen-shipped speaks it too", async () => {
    const host = start(["serve", "--dialect", "qwen-shipped", ...modelFlags({ responses: [{ say: "hi" }] })]);
    expect(await host.ask()).toMatchObject({ result: "hi" });
  });

  it("the example of the docs page runs", async () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/qwen-shipped.md"), "utf8");
    const [, example = ""] = /```js\n(.*?)```/s.exec(page) ?? [];
    const file = join(scratch(), "example.mjs");
    writeFileSync(file, example.replace('"parley"', JSON.stringify(process.execPath)).replace("[...", `[${JSON.stringify(PARLEY)}, ...`));
    const child = spawn(process.execPath, [file], { env: environment(), cwd: scratch() });
    let stdout = "";
    child.stdout.on("data", (text: Buffer) => (stdout += text.toString()));
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect([code, stdout.trim()]).toEqual([0, expect.stringContaining("success")]);
  });
});
