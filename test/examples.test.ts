/** The examples are programs that run, and the README and the pages quote them as they are. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Event } from "../src/core/event.js";
import { dialectIds, loadDialect } from "../src/dialects/index.js";
import { createEngine } from "../src/engine/index.js";
import { PROVIDERS } from "../src/core/providers/providers.js";
import { drive } from "../src/host/drive.js";
import { openSession } from "../src/host/session.js";

const root = join(import.meta.dirname, "..");

it.each([
  ["ask-an-agent", "README.md", "", "hello\ncompleted, 1 call\n"],
  ["embed-the-engine", "docs/sdk.md", "", '"name": "agent-parley"'],
  ["drive-an-agent", "docs/sdk.md", "", "asked: Execute: echo hello from a tool\ntool: ok\nturn: completed"],
  ["bridge-an-agent", "docs/bridge.md", "", "hello from an agent\n(exit code 0)"],
  [
    "write-an-agent",
    "docs/sdk.md",
    '{"type":"session.open","session":"s","open":"new"}\n{"type":"turn.prompt","session":"s","parts":[{"type":"text","text":"hello"}]}\n',
    '"text":"HELLO"',
  ],
])("examples/%s does what it says, and %s quotes it", async (name, page, input, expected) => {
  const file = join("examples", name, "main.mjs");
  const { code, output } = await runExample(file, input);
  expect(output).toContain(expected);
  expect(code).toBe(0);
  const [, ...body] = readFileSync(join(root, file), "utf8").trim().split("\n");
  expect(textOf(page)).toContain(body.join("\n"));
});

it.each(dialectIds.filter((id) => id !== "agentproc"))("the written agent shouts at hosts of %s, too", async (id) => {
  const dialect = await loadDialect(id);
  const program = textOf("examples/write-an-agent/main.mjs").replace('loadDialect("native")', `loadDialect("${id}")`);
  const command = [process.execPath, "--input-type=module", "--eval", program, "--"];
  const session = await openSession(drive(dialect, command, { readySeconds: 10 }), {
    config: { cwd: root, provider: "own", model: "loud" },
  });
  const events: Event[] = [];
  for await (const event of session.prompt("hello")) events.push(event);
  await session.close();
  expect(events).toContainEqual(expect.objectContaining({ type: "text.done", text: "HELLO" }));
  expect(events.at(-1)).toMatchObject({ type: "turn.ended", outcome: "completed" });
});

it("an embedded engine with a home goes on with what an earlier one kept, and the page quotes it", async () => {
  const home = mkdtempSync(join(tmpdir(), "parley-home-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const file = "examples/embed-the-engine/stored.mjs";
  const { code, output } = await runCommand(process.execPath, [file, home], "");
  expect(output).toContain("I will remember the word: plum.\nThe word is plum.\n");
  expect(code).toBe(0);
  const engine = /createEngine\(\{[^]*?\}\);/.exec(textOf(file))?.[0].replaceAll(/^ {2}/gm, "") ?? "";
  expect(textOf("docs/sdk.md")).toContain(engine);
});

it.each([
  ["mcpServers", { files: { command: "files" } }],
  ["hostHooks", { pre_tool_use: "guard" }],
  ["subagents", [{ name: "own", description: "Of the host's", prompt: "Be brief." }]],
])("an embedded engine without extensions refuses %s instead of passing them over", async (key, value) => {
  const engine = createEngine({ defaults: { cwd: root, provider: "rehearsal" }, env: {} });
  await expect(openSession(engine, { config: { [key]: value } })).rejects.toMatchObject({
    fault: { code: "unsupported", param: key, message: expect.stringContaining("createEngine({ extensions })") },
  });
});

it("the table of providers is that of the code: their order, keys and models", () => {
  const rows = textOf("docs/providers.md").match(/^\| `.*$/gm) ?? [];
  const told = Object.entries(PROVIDERS).filter(([name]) => name !== "rehearsal");
  expect(rows.map((row) => /^\| `(\w+)`/.exec(row)?.[1])).toEqual(told.map(([name]) => name));
  for (const [at, [, { keyVariable = "", defaultModel = "" }]] of told.entries()) {
    expect(rows[at]).toContain(keyVariable);
    expect(rows[at]).toContain(defaultModel);
  }
});

function textOf(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

function runExample(file: string, input: string): Promise<{ code: number | null; output: string }> {
  return runCommand(process.execPath, [file], input);
}

function runCommand(command: string, args: string[], input: string): Promise<{ code: number | null; output: string }> {
  const home = mkdtempSync(join(tmpdir(), "parley-home-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const child = spawn(command, args, { cwd: root, env: { ...process.env, PARLEY_HOME: home } });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text: Buffer) => {
      output += text.toString();
    });
  }
  child.stdin.end(input);
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
}

describe("the programs for hosts", () => {
  it("any-agent exchanges the agent by one word", async () => {
    const { code, output } = await runExample("examples/any-agent/main.mjs", "");
    expect(output).toMatch(/^hello\ncompleted, \d+ tokens, 0 calls\n$/);
    expect(code).toBe(0);
  });

  it("one-shot-job accepts and rejects by its exit code", async () => {
    const model = (text: string): string => {
      const file = join(mkdtempSync(join(tmpdir(), "parley-model-")), "model.json");
      writeFileSync(file, JSON.stringify({ responses: [{ expect: { lastUser: "+added" }, say: text }] }));
      onTestFinished(() => rmSync(dirname(file), { recursive: true, force: true }));
      return file;
    };
    const review = (text: string) =>
      runCommand(process.execPath, ["examples/one-shot-job/review.mjs", "--provider", "rehearsal", "--model", model(text)], "+added\n");
    expect(await review("ACCEPT: fine")).toMatchObject({ code: 0, output: "ACCEPT: fine\n" });
    expect(await review("REJECT: no test")).toMatchObject({ code: 1, output: "REJECT: no test\n" });
  });

  it("web-backend streams a session to its client, and knows it again", async () => {
    const child = spawn(process.execPath, ["examples/web-backend/server.mjs"], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGTERM"));
    const url = await new Promise<string>((resolve) => child.stdout.once("data", (text: Buffer) => resolve(text.toString().trim())));
    const prompt = (text: string, cookie = ""): Promise<Response> =>
      fetch(`${url}/prompt`, { method: "POST", headers: { cookie }, body: JSON.stringify({ text }) });
    const first = await prompt("remember the word heron");
    expect(await first.text()).toContain('"type":"turn.ended"');
    const second = await prompt("what word did I tell you to remember?", first.headers.get("set-cookie")?.split(";")[0]);
    expect(await second.text()).toContain("The word is heron.");
  });

  it.skipIf(spawnSync("python3", ["--version"]).status !== 0)("python-host needs nothing but Python", async () => {
    const { code, output } = await runCommand("python3", ["examples/python-host/host.py", "run `echo x` and say done"], "");
    expect(output).toContain("denied: Execute: echo x");
    expect(output).toContain("(completed)");
    expect(code).toBe(0);
  });
});

it("docs/sdk.md quotes the program for any agent as it is", () => {
  expect(textOf("docs/sdk.md")).toContain(textOf("examples/any-agent/main.mjs").trim().split("\n").slice(1).join("\n"));
});
