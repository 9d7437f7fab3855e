/** The command line and the environment of the document: what each flag and variable does, and what a wrong one says. */
import { existsSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { run, scratch, script } from "../process/harness.js";
import { modelServer, type ModelServer } from "../support/model-server.js";
import { launch, launchWith, ready, type AionrsHost } from "./host.js";

/** One message, to its end. */
async function ask(host: AionrsHost): Promise<string> {
  await host.next("ready");
  host.message("m1", "hello");
  await host.stream("m1");
  expect(host.of("error")).toEqual([]);
  return host.text("m1");
}

const asked = (server: ModelServer): unknown => server.requests[0]?.body;

describe("the flags", () => {
  it("--provider, --model, --max-tokens, --base-url, --system-prompt reach the model", async () => {
    const server = await modelServer("anthropic", [{ text: ["Hi"] }]);
    const host = launchWith(
      ["--provider", "anthropic", "--model", "claude-sonnet-4-20250514", "--max-tokens", "8192", "--max-turns", "30"].concat(
        "--base-url",
        server.url,
        "--system-prompt",
        "Be a heron.",
      ),
      { env: { ANTHROPIC_API_KEY: server.key } },
    );
    expect(await ask(host)).toBe("Hi");
    expect(asked(server)).toMatchObject({
      model: "claude-sonnet-4-20250514",
      max_tokens: 8192,
      system: [{ text: expect.stringContaining("Be a heron.") }],
    });
  });

  it("-p, -m, -k, -b are those of aionrs", async () => {
    const server = await modelServer("anthropic", [{ text: ["Hi"] }]);
    const host = launchWith(["-p", "anthropic", "-m", "claude-x", "-k", server.key, "-b", server.url]);
    expect(await ask(host)).toBe("Hi");
    expect(asked(server)).toMatchObject({ model: "claude-x" });
  });

  it("may stand in any order, with = and with words that are names of something else", async () => {
    const cwd = realpathSync(scratch());
    const model = script([{ expect: { system: "constructor" }, say: "ok" }]);
    const { code, stdout } = await run(
      ["--system-prompt", "constructor", `--model=${model}`, "--json-stream", `--workspace=${cwd}`, "-p", "rehearsal"],
      {
        input: '{"type":"message","msg_id":"m1","input":"hi"}\n',
      },
    );
    expect([code, stdout]).toEqual([0, expect.stringContaining('"ok"')]);
  });

  it("that are empty count as not given, as real hosts write them", async () => {
    const host = launchWith(["--provider", "rehearsal", "--model", "", "--base-url", ""]);
    host.message("m1", "say hi");
    await host.stream("m1");
    expect(host.text("m1")).toBe("hi");
  });

  it.each([
    ["an unknown flag", ["--frobnicate"], 2, /--frobnicate/],
    ["a flag without its value", ["--model"], 2, /--model/],
    ["a number that is none", ["--max-turns", "many"], 1, /--max-turns.*'many'/],
    ["no turns at all", ["--max-turns", "0"], 1, /--max-turns/],
    ["an unknown provider", ["--provider", "nobody"], 1, /unknown provider 'nobody'/],
    ["a folder that is not there", ["--workspace", "/nonexistent/folder"], 1, /\/nonexistent\/folder/],
    ["a script that is not there", ["--provider", "rehearsal", "--model", "gone.yaml"], 1, /gone\.yaml/],
    ["a prompt", ["say hi"], 2, /say hi/],
    ["an empty session id", ["--provider", "rehearsal", "--session-id", ""], 1, /session id/],
  ])("wrong: %s is config_error on stdout, words on stderr and a non-zero exit", async (_, args, code, words) => {
    const host = launchWith(args);
    expect((await host.exited).code).toBe(code);
    expect(host.events).toEqual([
      { type: "error", msg_id: null, error: { code: "config_error", message: expect.stringMatching(words), retryable: false } },
    ]);
    expect(host.stderr).toMatch(words);
  });
});

describe("the environment", () => {
  it.each([
    ["ANTHROPIC", "anthropic", "claude-sonnet-4-20250514"],
    ["OPENAI", "openai-chat", "gpt-4o"],
  ] as const)("%s_API_KEY and %s_BASE_URL", async (name, wire, model) => {
    const server = await modelServer(wire, [{ text: ["Hi"], usage: { input: 12, output: 3 } }]);
    const host = launchWith(["--provider", name.toLowerCase(), "--model", model], {
      env: { [`${name}_API_KEY`]: server.key, [`${name}_BASE_URL`]: server.url },
    });
    expect(await ask(host)).toBe("Hi");
    expect(asked(server)).toMatchObject({ model });
    expect(host.of("stream_end")).toMatchObject([{ usage: { input_tokens: 12, output_tokens: 3 } }]);
  });

  it("a wrong key is provider_error that names the variable and not the key", async () => {
    const server = await modelServer("anthropic", []);
    const host = launchWith(["--provider", "anthropic"], {
      env: { ANTHROPIC_API_KEY: "sk-wrong-0123456789", ANTHROPIC_BASE_URL: server.url },
    });
    await host.next("ready");
    host.message("m1");
    await host.stream("m1");
    expect(host.of("error")).toMatchObject([
      { msg_id: "m1", error: { code: "provider_error", message: expect.stringContaining("ANTHROPIC_API_KEY"), retryable: false } },
    ]);
    expect(host.lines.join("\n")).not.toContain("sk-wrong");
  });

  it("without a key for the provider that was named there is no ready, whatever other key is set", async () => {
    for (const [provider, other] of [
      ["openai", "ANTHROPIC_API_KEY"],
      ["anthropic", "OPENAI_API_KEY"],
    ] as const) {
      const host = launchWith(["--provider", provider], { env: { [other]: "sk-0123456789" } });
      expect((await host.exited).code).toBe(1);
      expect(host.events).toMatchObject([{ error: { code: "config_error", message: `${provider.toUpperCase()}_API_KEY not set` } }]);
    }
  });
});

describe("what the model is sent", () => {
  it("the history, the message, its picture and its text, in that order", async () => {
    const cwd = scratch({ "notes.txt": "buy milk\n" });
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
    writeFileSync(join(cwd, "dot.png"), Buffer.from(png, "base64"));
    const server = await modelServer("anthropic", [{ text: ["Hi"] }]);
    const host = launchWith(["-p", "anthropic", "-k", server.key, "-b", server.url], { cwd });
    await host.next("ready");
    host.send({ type: "init_history", text: "User asked about herons." });
    host.message("m1", "look", ["dot.png", "notes.txt"]);
    await host.stream("m1");
    const sent = JSON.stringify(asked(server));
    const places = ["User asked about herons.", '"look"', png, "buy milk"].map((words) => sent.indexOf(words));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(sent).toContain('"media_type":"image/png"');
  });

  it("a denial, as the result of its call", async () => {
    const server = await modelServer("anthropic", [
      { calls: [{ id: "toolu_1", name: "Bash", args: { command: "true" } }] },
      { text: ["I see."] },
    ]);
    const host = launchWith(["-p", "anthropic", "-k", server.key, "-b", server.url]);
    host.message("m1");
    await host.asks("toolu_1");
    host.deny("toolu_1", "Not on a Sunday");
    await host.stream("m1");
    expect(host.text("m1")).toBe("I see.");
    expect(server.requests[1]?.body).toMatchObject({
      messages: expect.arrayContaining([
        { role: "user", content: [expect.objectContaining({ type: "tool_result", tool_use_id: "toolu_1", is_error: true })] },
      ]),
    });
    expect(JSON.stringify(server.requests[1]?.body)).toContain("Not on a Sunday");
  });

  it("nothing more after a stop: the request is given up", async () => {
    const server = await modelServer("anthropic", [{ text: ["one"], hold: "end" }, { text: ["two"] }]);
    const host = launchWith(["-p", "anthropic", "-k", server.key, "-b", server.url]);
    host.message("m1");
    await host.next("text_delta");
    host.send({ type: "stop" });
    await host.stream("m1");
    expect(await server.requests[0]?.ended).toBe("left");
    host.message("m2");
    await host.stream("m2");
    expect([host.text("m1"), host.text("m2"), host.of("error")]).toEqual(["one", "two", []]);
  });
});

describe("the config", () => {
  it("that is broken is config_error with file, line and remedy", async () => {
    const home = scratch();
    writeFileSync(join(home, "config.yaml"), "provider: rehearsal\nmodle: x\n");
    const host = launchWith([], { home });
    expect((await host.exited).code).toBe(1);
    expect(host.events).toMatchObject([
      { error: { code: "config_error", message: expect.stringMatching(/config\.yaml:2:1.*modle.*model/s) } },
    ]);
  });

  it("of an untrusted workspace grants nothing", async () => {
    const cwd = scratch();
    writeFileSync(join(cwd, ".parley.yaml"), "approval: yolo\n");
    const host = await ready({
      cwd,
      responses: [{ call: { tool: "Write", args: { file_path: "a", content: "x" }, id: "t1" } }, { say: "ok" }],
    });
    host.message("m1");
    await host.asks("t1");
    host.deny("t1");
    await host.stream("m1");
    expect(existsSync(join(cwd, "a"))).toBe(false);
  });

  it("may start in a mode of its own; a flag beats it", async () => {
    const responses = [{ call: { tool: "Write", args: { file_path: "a", content: "x" }, id: "t1" } }, { say: "ok" }];
    const byConfig = await ready({ config: { approval: "auto_edit" }, responses });
    byConfig.message("m1");
    await byConfig.stream("m1");
    expect(byConfig.story("t1")).toBe("tool_running tool_result");
    const byFlag = launch({ config: { approval: "auto_edit" }, args: ["--approval-mode", "default"], responses });
    byFlag.message("m1");
    await byFlag.asks("t1");
    byFlag.deny("t1");
    await byFlag.stream("m1");
  });
});
