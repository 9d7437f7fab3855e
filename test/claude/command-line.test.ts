/** The launcher `claude` with the flags, variables and formats of Claude Code's own command line. */
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { query } from "@anthropic-ai/claude-agent-sdk";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { AgentLine } from "../../src/dialects/claude/wire/event-records.js";
import { environment, PARLEY, run, scratch } from "../process/harness.js";
import { launchers } from "../support/launchers.js";
import { modelServer, type ModelServer, type Reply } from "../support/model-server.js";
import { heard, host } from "./sdk.js";

interface Ran {
  stdout: string;
  stderr: string;
  code: number | null;
  server: ModelServer;
  cwd: string;
}

async function claude(args: readonly string[], script: readonly Reply[], env: Record<string, string> = {}): Promise<Ran> {
  const server = await modelServer("anthropic", script);
  const [folder, cwd] = [await launchers(), scratch()];
  const variables = environment({ ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: server.key, ...env });
  const child = spawn(join(folder, "claude"), args, { cwd, env: variables });
  child.stdin.end();
  const [stdout, stderr] = [child.stdout, child.stderr].map(async (stream) => {
    let text = "";
    for await (const chunk of stream.setEncoding("utf8")) text += String(chunk);
    return text;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { stdout: (await stdout) ?? "", stderr: (await stderr) ?? "", code, server, cwd };
}

const lines = (text: string): v.InferOutput<typeof AgentLine>[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => v.parse(AgentLine, JSON.parse(line)));

const touch = (file: string): Reply => ({ calls: [{ name: "Bash", args: { command: `touch ${file}` } }] });
const hello: Reply = { text: ["Hello"] };

describe("formats of one prompt", () => {
  test("text is the answer alone", async () => {
    expect(await claude(["-p", "hi"], [hello])).toMatchObject({ stdout: "Hello\n", code: 0 });
  });

  test("json is the result alone, as one object", async () => {
    const { stdout, code } = await claude(["-p", "hi", "--output-format", "json"], [hello]);
    expect(lines(stdout)).toMatchObject([{ type: "result", subtype: "success", result: "Hello", num_turns: 1 }]);
    expect(code).toBe(0);
  });

  test("stream-json is every line", async () => {
    const { stdout } = await claude(["-p", "hi", "--output-format=stream-json", "--verbose"], [hello]);
    expect(lines(stdout).map(({ type }) => type)).toEqual(["system", "assistant", "result"]);
  });

  test("a schema's value is in the result", async () => {
    const schema = JSON.stringify({ type: "object", properties: { answer: { type: "number" } } });
    const script = [{ calls: [{ name: "StructuredOutput", args: { answer: 42 } }] }];
    const { stdout } = await claude(["-p", "compute", "--output-format", "json", "--json-schema", schema], script);
    expect(lines(stdout)).toMatchObject([{ subtype: "success", structured_output: { answer: 42 } }]);
  });

  test("a failed prompt leaves with 1", async () => {
    const { stdout, code } = await claude(["-p", "hi", "--output-format", "json"], [{ error: { status: 400 } }]);
    expect(lines(stdout)).toMatchObject([{ is_error: true, api_error_status: 400 }]);
    expect(code).toBe(1);
  });
});

describe("flags", () => {
  test("modes and tool lists say what runs, and nobody is asked", async () => {
    const denied = await claude(["-p", "go", "--output-format", "json"], [touch("a"), hello]);
    expect(lines(denied.stdout)).toMatchObject([{ permission_denials: [{ tool_name: "Bash" }] }]);
    const bypassed = await claude(["-p", "go", "--output-format", "json", "--dangerously-skip-permissions"], [touch("a"), hello]);
    const listed = await claude(["-p", "go", "--output-format", "json", "--allowedTools", "Read,Bash(touch *)"], [touch("a"), hello]);
    expect([denied, bypassed, listed].map(({ cwd }) => existsSync(join(cwd, "a")))).toEqual([false, true, true]);
  });

  test("the tools of --tools are the only ones, and those of --disallowedTools are not there", async () => {
    const names = ({ server }: Ran): unknown => {
      const request = v.parse(v.looseObject({ tools: v.optional(v.array(v.looseObject({ name: v.string() }))) }), server.requests[0]?.body);
      return request.tools?.map(({ name }) => name);
    };
    expect(names(await claude(["-p", "hi", "--tools=Read,Bash"], [hello]))).toEqual(["Read", "Bash", "BashOutput"]);
    expect(names(await claude(["-p", "hi", "--disallowedTools=Bash,WebFetch,Task"], [hello]))).not.toContain("Bash");
  });

  test("models by Claude Code's short names, and prompts of the system", async () => {
    const flags = ["--model=sonnet", "--append-system-prompt=Be kind.", "--max-turns=3", "--effort=low", "--setting-sources=", "--debug"];
    const { server, code } = await claude(["-p", "hi", ...flags], [hello]);
    expect(code).toBe(0);
    expect(server.requests[0]?.body).toMatchObject({ model: "claude-sonnet-4-6" });
    expect(JSON.stringify(server.requests[0]?.body)).toContain("Be kind.");
  });

  test("variables stand for flags that are not there", async () => {
    const { server } = await claude(["-p", "hi"], [hello], { ANTHROPIC_MODEL: "claude-haiku-4-5", CLAUDE_CODE_MAX_OUTPUT_TOKENS: "4096" });
    expect(server.requests[0]?.body).toMatchObject({ model: "claude-haiku-4-5", max_tokens: 4096 });
  });

  test("sub-agents of --agents, as JSON or a file, work for the model with their own prompt and model", async () => {
    const file = join(scratch(), "agents.json");
    const agents = JSON.stringify({ helper: { description: "helps", prompt: "You help", tools: ["Read"], model: "haiku" } });
    writeFileSync(file, agents);
    const spawn: Reply = { calls: [{ name: "Spawn", args: { tasks: [{ name: "look", prompt: "Look", agent: "helper" }] } }] };
    for (const given of [agents, file]) {
      const flags = ["--agents", given, "--dangerously-skip-permissions"];
      const { stdout, server } = await claude(["-p", "go", ...flags], [spawn, { text: ["Found."] }, hello]);
      expect(stdout).toBe("Hello\n");
      expect(server.requests[1]?.body).toMatchObject({ model: "claude-haiku-4-5" });
      expect(JSON.stringify(server.requests[1]?.body)).toContain("You help");
    }
  });

  test("a budget and rules hold for one prompt, too", async () => {
    const rules = JSON.stringify({ permissions: { deny: ["Bash(touch b)"] } });
    const flags = ["--settings", rules, "--max-budget-usd=0.05", "--model=sonnet", "--dangerously-skip-permissions"];
    const usage = { input: 10_000, output: 1 };
    const script = [{ ...touch("a"), usage }, { ...touch("b"), usage }, hello];
    const { code, cwd, server, stderr } = await claude(["-p", "go", ...flags], script);
    expect([code, server.requests.length, existsSync(join(cwd, "a")), existsSync(join(cwd, "b"))]).toEqual([1, 2, true, false]);
    expect(stderr).toContain("its limit of 0.05 US dollars");
  });

  test("servers of --mcp-config connect before the prompt", async () => {
    const server = join(import.meta.dirname, "../fixtures/mcp/official.mjs");
    const config = JSON.stringify({ mcpServers: { tiny: { type: "stdio", command: process.execPath, args: [server] } } });
    const { stdout } = await claude(["-p", "hi", "--output-format", "stream-json", "--verbose", "--mcp-config", config], [hello]);
    expect(lines(stdout)[0]).toMatchObject({ mcp_servers: [{ name: "tiny" }] });
  });

  test.each([
    [["--bogus"], "Unknown flag"],
    [["--permission-mode=loose"], "Allowed choices are acceptEdits, auto, bypassPermissions, default, dontAsk, plan"],
    [["--max-budget-usd=0"], "It must be a number greater than 0"],
    [['--agents={"a":{}}'], "--agents cannot be used: a.description"],
    [["--effort=huge"], "Allowed choices are low, medium, high, xhigh, max"],
    [["--input-format=stream-json", "--output-format=stream-json"], "prompts come over the protocol"],
    [["--output-format=yaml"], "--output-format must be one of"],
  ])("%j leaves with 1, and says why", async (flags, words) => {
    const { stdout, stderr, code } = await claude(["-p", "hi", ...flags], []);
    expect(`${stdout}${stderr}`).toContain(words);
    expect(code).toBe(1);
  });
});

test("a wrong command line leaves with 1 where the dialect is named, and behind a relay", async () => {
  for (const words of [
    ["--dialect", "claude"],
    ["relay", "--as", "claude", "--drive", "native"],
  ]) {
    const { code, stderr } = await run([...words, "-p", "hi", "--bogus"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("Unknown flag '--bogus'")]);
  }
});

test("a host of the Claude Agent SDK drives another agent through a relay", async () => {
  const program = join(scratch(), "claude");
  const words = ["relay", "--as", "claude", "--drive", "native", "--provider", "rehearsal"];
  const agent = [process.execPath, PARLEY, "serve", "--dialect", "native", "--provider", "rehearsal"];
  const command = [process.execPath, PARLEY, ...words].map((word) => JSON.stringify(word)).join(" ");
  const behind = agent.map((word) => JSON.stringify(word)).join(" ");
  writeFileSync(program, `#!/bin/sh\nexec ${command} "$@" -- ${behind}\n`, { mode: 0o755 });
  const { options, cwd } = await host([]);
  const { model: _none, ...rest } = options;
  const running = query({
    prompt: "write 'first' to relayed.txt",
    options: {
      ...rest,
      pathToClaudeCodeExecutable: program,
      canUseTool: (_tool, input) => Promise.resolve({ behavior: "allow", updatedInput: input }),
    },
  });
  const { results } = await heard(running);
  expect(results).toMatchObject([{ subtype: "success", is_error: false }]);
  expect(existsSync(join(cwd, "relayed.txt"))).toBe(true);
});
