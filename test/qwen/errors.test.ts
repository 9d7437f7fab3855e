/** The RFC from the outside: the command line, bad lines, versions, errors that end the process and errors that do not, exit codes. */
import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { environment, PARLEY, scratch, script } from "../process/harness.js";
import { modelServer } from "../support/model-server.js";
import { heardIn, type Heard } from "./heard.js";
import { launch, received, story, type Format } from "./host.js";

const FORMATS: Format[] = ["stream-json", "stream-chunk-json"];

interface Ran {
  code: number | null;
  lines: Heard[];
  stdout: string;
  stderr: string;
}

/** The command as a user runs it. */
async function run(args: string[], input = "", env: Record<string, string> = {}): Promise<Ran> {
  const child = spawn(process.execPath, [PARLEY, ...args], { cwd: scratch(), env: environment(env) });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
  return { code, lines: lines.map(heardIn), stdout, stderr };
}

const REHEARSAL = ["--provider", "rehearsal"];

describe("the command line", () => {
  it("R44, Q2: structured input with text output is refused", async () => {
    for (const input of ["stream-json", "stream-chunk-json"]) {
      const { code, stdout, stderr } = await run([...REHEARSAL, "--input-format", input, "--output-format", "text"]);
      expect(code).toBe(2);
      expect(stdout).toBe("");
      expect(stderr).toContain("--output-format");
    }
  });

  it("Q2: text in, structured out: the prompt is an argument, -p or what stands on stdin", async () => {
    const out = [...REHEARSAL, "--output-format", "stream-json"];
    for (const { code, lines } of [await run([...out, "say hi"]), await run([...out, "-p", "say hi"]), await run(out, "say hi\n")]) {
      expect(code).toBe(0);
      expect(story(lines)).toBe("receipt text event:Finished summary");
      expect(lines[0]?.metadata).toMatchObject({ input_format: "text", output_format: "stream-json" });
      expect(lines[1]?.content).toBe("hi");
    }
  });

  it("text in and text out is as ever", async () => {
    const { code, stdout } = await run([...REHEARSAL, "--input-format", "text", "--output-format", "text", "-p", "say hi"]);
    expect([code, stdout]).toEqual([0, "hi\n"]);
  });

  it("text in: what would have to be asked about is denied, and no question goes out", async () => {
    const model = script([{ call: { tool: "Write", args: { file_path: "a", content: "a" } } }, { say: "then not" }]);
    const { code, lines } = await run(["--provider", "rehearsal", "--model", model, "--output-format", "stream-chunk-json", "go"]);
    expect(code).toBe(0);
    expect(lines.map(({ word }) => word)).toContain("display:canceled");
    expect(lines.some(({ word }) => word.startsWith("control_request"))).toBe(false);
  });

  it("text in: a command that needs somebody to choose says that nobody can", async () => {
    const { code, lines } = await run([...REHEARSAL, "--output-format", "stream-json", "/model"]);
    expect(code).toBe(0);
    expect(lines[1]?.raw).toMatchObject({
      type: "result/command",
      result: { type: "message", level: "warning", content: expect.stringContaining("control channel") },
    });
  });

  it.each([
    ["no prompt at all", ["--output-format", "stream-json"], 42],
    ["an unknown flag", ["--output-format", "stream-json", "--input-format", "stream-json", "--bogus"], 42],
    ["an unknown format", ["--output-format", "stream-json", "--input-format", "yaml"], 42],
    ["a prompt beside structured input", ["--output-format", "stream-json", "--input-format", "stream-json", "hi"], 42],
  ])("%s is the fatal error object; exit %3$d", async (_name, args, code) => {
    const ran = await run([...REHEARSAL, ...args]);
    expect(ran.code).toBe(code);
    expect(ran.lines.map(({ word }) => word)).toEqual(["fatal"]);
    expect(ran.stderr).not.toBe("");
  });

  it("a heartbeat is a number of seconds, and needs structured output", async () => {
    expect((await run([...REHEARSAL, "--heartbeat", "1", "hi"])).code).toBe(2);
    expect((await run([...REHEARSAL, "--output-format", "stream-json", "--heartbeat", "often", "hi"])).code).toBe(42);
  });

  it("Q63: a run for one prompt says by its exit code what became of it", async () => {
    const one = async (responses: unknown[], more: string[] = []): Promise<number | null> =>
      (await run(["--provider", "rehearsal", "--model", script(responses), "--output-format", "stream-json", ...more, "go"])).code;
    const glob = { call: { tool: "Glob", args: { pattern: "*" } } };
    expect(await one([{ say: "ok" }])).toBe(0);
    expect(await one([{ fail: { status: 400, message: "no" } }])).toBe(1);
    expect(await one([{ fail: { status: 401, message: "who?" } }])).toBe(41);
    expect(await one([glob, glob, { say: "ok" }], ["--max-turns", "1"])).toBe(53);
  });

  it("Q63: a signal interrupts the turn, which still has its end", async () => {
    const host = await received({ output: "stream-chunk-json", responses: [{ steps: [{ say: "on and on" }, { wait: "forever" }] }] });
    host.say("go");
    await host.next("delta");
    host.child.kill("SIGINT");
    expect((await host.exited).code).toBe(130);
    expect(story(host.heard.slice(-2))).toBe("event:USER_CANCELLED summary");
  });
});

describe.each(FORMATS)("bad lines, %s", (output) => {
  it("R31, Q61: what is no JSON is told, and the next line counts", async () => {
    const host = await received({ output, responses: [{ say: "ok" }] });
    host.raw("{bad json\n");
    const told = await host.next("error");
    expect(told.metadata.error).toMatchObject({ type: "invalid_request_error", code: "QWEN_INVALID_JSON" });
    expect(told.raw["choices"]).toEqual(
      output === "stream-json" ? [{ index: 0, message: { role: "assistant", content: "" }, finish_reason: "stop" }] : [],
    );
    expect(host.text(await host.turn())).toBe("ok");
  });

  it.each(['{"foo":1}', "[1]", "null", "7", '"x"', '{"type":"nonsense"}', '{"type":7}', '{"type":"control_response"}', '{"input":7}'])(
    "R32, Q27: %s is refused, and the process lives",
    async (line) => {
      const host = await received({ output, responses: [{ say: "ok" }] });
      host.raw(`${line}\n`);
      expect((await host.next("error")).metadata.error).toMatchObject({ type: "invalid_request_error" });
      expect(host.text(await host.turn())).toBe("ok");
    },
  );

  it("a request that cannot be read is refused under the name that it has, and an empty name is none", async () => {
    const host = await received({ responses: [{ say: "ok" }] });
    host.send({ session_id: host.session, prompt_id: "p-9", input: { origin: "alien" } });
    host.send({ session_id: host.session, prompt_id: "p-10", input: { parts: "x" }, options: { temperature: "hot" } });
    host.send({ session_id: host.session, prompt_id: 7, input: { parts: "x" } });
    await host.nth("error", 3);
    expect(host.all("error").map(({ metadata }) => metadata.prompt_id)).toEqual(["p-9", "p-10", undefined]);
    expect((await host.turn("go", { prompt_id: "" })).at(-1)?.metadata.prompt_id).toBe(`${host.session}########1`);
  });

  it("an error about a line stands outside of the turn that runs", async () => {
    const host = await received({
      output,
      responses: [{ call: { tool: "Write", args: { file_path: "a", content: "a" } } }, { say: "ok" }],
    });
    host.say("go");
    const request = await host.next("control_request:can_use_tool");
    host.raw("oops\n");
    expect((await host.next("error")).metadata.prompt_id).toBeUndefined();
    host.approve(request);
    await host.next("summary");
  });

  it("Q27: the type qwen_chat_request may be said", async () => {
    const host = await received({ output, responses: [{ say: "ok" }] });
    host.send({ type: "qwen_chat_request", input: { parts: [{ text: "go" }] } });
    await host.next("summary");
    expect(host.text()).toBe("ok");
  });

  it("R34: a refusal of the provider ends the turn, not the process", async () => {
    const host = await received({ output, responses: [{ fail: { status: 401, message: "bad key" } }, { say: "better" }] });
    const lines = await host.turn();
    expect(lines.at(-1)).toMatchObject({ word: "summary", finish: "stop" });
    expect(lines.at(-1)?.metadata).toMatchObject({
      error: { type: "authentication_error", message: expect.stringContaining("bad key") },
      summary: { is_error: true },
    });
    expect(host.text(await host.turn())).toBe("better");
  });

  it.each([
    ["metadata.protocol_version", { metadata: { protocol_version: 99 } }],
    ["protocol_version", { protocol_version: 2 }],
    ["an unknown capability", { metadata: { required_capabilities: ["telepathy"] } }],
  ])("R33, Q10: %s that is not ours ends the process with 52", async (_name, asks) => {
    const host = await received({ output });
    host.send({ type: "heartbeat_request", ...asks });
    expect((await host.exited).code).toBe(52);
    expect(host.heard.at(-1)).toMatchObject({
      word: "unsupported",
      finish: "error",
      metadata: { error: { code: "unsupported_protocol" } },
    });
  });

  it("R33: the turn that runs then still ends, before the last line", async () => {
    const host = await received({ output, responses: [{ call: { tool: "Write", args: { file_path: "a", content: "a" } } }] });
    host.say("go");
    await host.next("control_request:can_use_tool");
    host.send({ input: { parts: [{ text: "more" }] }, metadata: { protocol_version: 3 } });
    expect((await host.exited).code).toBe(52);
    expect(story(host.heard).endsWith("display:canceled event:USER_CANCELLED summary unsupported")).toBe(true);
  });

  it("what we are asked for and have is taken", async () => {
    const host = await received({ output, responses: [{ say: "ok" }] });
    const metadata = { protocol_version: 1, required_capabilities: ["heartbeat", "control.can_use_tool"] };
    expect(host.text(await host.turn("go", { metadata }))).toBe("ok");
  });
});

describe("fatal errors", () => {
  it("a missing key: the error object in place of the receipt, exit 41", async () => {
    const ran = await run(["--provider", "openai", "--input-format", "stream-json", "--output-format", "stream-json"]);
    expect(ran.code).toBe(41);
    expect(ran.lines.map(({ raw }) => raw)).toEqual([
      {
        error: { message: expect.stringContaining("OPENAI_API_KEY"), type: "authentication_error", param: "apiKey", code: "config_error" },
      },
    ]);
  });

  it("R35: a bad configuration: the error object and nothing after it, exit 52", async () => {
    const host = launch({ config: { approval: "sometimes" } });
    expect((await host.exited).code).toBe(52);
    expect(host.heard.map(({ raw }) => raw)).toEqual([
      { error: expect.objectContaining({ code: "config_error", type: "invalid_request_error" }) },
    ]);
  });

  it("tools that cannot be used at all: QWEN_INVALID_TOOL_ARGS, exit 42", async () => {
    for (const [asks, param] of [
      [{ options: { tools: [{ type: "function", function: { name: "f", parameters: "x" } }] } }, "options.tools[0].function.parameters"],
      [{ options: { tools: "all" } }, "options.tools"],
    ] as const) {
      const host = await received();
      host.say("go", asks);
      expect((await host.exited).code).toBe(42);
      expect(host.heard.at(-1)?.raw).toEqual({
        error: { message: expect.any(String), type: "invalid_request_error", param, code: "QWEN_INVALID_TOOL_ARGS" },
      });
    }
  });

  it("every kind of provider error has OpenAI's name", async () => {
    const server = await modelServer("openai-chat", [
      { error: { status: 400, message: "odd" } },
      { error: { status: 403, message: "not you" } },
    ]);
    const model = ["--provider", "openai", "--model", "gpt-4o", "--base-url", server.url];
    const host = await received({ model, env: { OPENAI_API_KEY: server.key } });
    await host.turn();
    await host.turn();
    expect(host.all("summary").map(({ metadata }) => (metadata.error as { type: string }).type)).toEqual([
      "api_error",
      "authentication_error",
    ]);
  });
});
