/** Commands that tell of a session's work: its cost, its changes, its background commands; and the one that begins a project's AGENTS.md. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { scratch, start, type NativeHost } from "../process/harness.js";
import { answered, writtenServer } from "../support/written-server.js";
import { command, suggest, told, tryCommand } from "./asking.js";
import { tree } from "./files.js";

async function opened(options: Parameters<typeof start>[0] = {}): Promise<NativeHost> {
  const host = start({ ...options, args: ["--auto-approve", ...(options.args ?? [])] });
  await host.open();
  return host;
}

async function turn(host: NativeHost, text: string, nth = 1): Promise<void> {
  host.prompt(text);
  expect((await host.turnEnded(nth)).outcome).toBe("completed");
}

const bash = (command: string, more: Record<string, unknown> = {}) => ({ tool: "Bash", args: { command, ...more } });

describe("/cost", () => {
  it("counts the tokens of the session, sub-agents included, and says that the prices are not known", async () => {
    const usage = { input: 1000, output: 10, cacheRead: 200, reasoning: 5 };
    const host = await opened({
      responses: [
        { usage, call: { tool: "Spawn", args: { tasks: [{ name: "one", prompt: "look" }] } } },
        { usage, say: "I looked." },
        { usage, say: "Done." },
      ],
    });
    expect(await told(host, "cost")).toBe("No tokens were counted yet.");
    await turn(host, "go");
    const result = await command(host, "cost");
    expect(result).toMatchObject({ data: { calls: 3, priced: 0, usage: { input: 3000, output: 30 } } });
    expect("text" in result ? result.text.split(/\n/).map((row) => row.replace(/ {2,}/g, " | ")) : []).toEqual([
      "Model calls | 3",
      "Tokens in | 3,600",
      " | from the cache | 600",
      "Tokens out | 45",
      " | of them thinking | 15",
      expect.stringMatching(/^Cost \| not known: .*config\.yaml/),
    ]);
    expect(await host.finish()).toBe(0);
  });

  it("says the cost where the config names the prices", async () => {
    const usage = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 50 } })}\n\n`;
    const server = await writtenServer((response) => {
      response.write(usage);
      answered("Hi.")(response);
    });
    const prices = { input: 1000, output: 2000 };
    const lab = { kind: "openai-compatible", baseUrl: server.url, models: { m: { prices } } };
    const home = scratch({ "config.yaml": stringify({ providers: { lab } }) });
    const host = await opened({ provider: "lab", args: ["--model", "m"], env: { PARLEY_HOME: home } });
    await turn(host, "go");
    expect(await told(host, "cost")).toMatch(/^Cost +\$0\.2000 by list prices$/m);
    expect(await host.finish()).toBe(0);
  });
});

describe("/diff", () => {
  it("shows what the tools changed and what is still so, across turns, and hides secrets", async () => {
    const cwd = tree({ "a.txt": "one\n", "b.txt": "same\n", "gone.txt": "x\n" });
    const write = (file_path: string, content: string) => ({ call: { tool: "Write", args: { file_path, content } } });
    const host = await opened({
      cwd,
      env: { LAB_API_KEY: "sk-lab-0123456789" },
      responses: [
        write("a.txt", "two\n"),
        write("new.txt", "key sk-lab-0123456789\n"),
        write("b.txt", "other\n"),
        write("b.txt", "same\n"),
        { say: "Done." },
        write("a.txt", "three\n"),
        write("gone.txt", "y\n"),
        { say: "Done." },
      ],
    });
    expect(await told(host, "diff")).toMatch(/^No file is other than before/);
    await turn(host, "go");
    await turn(host, "on", 2);
    rmSync(join(cwd, "gone.txt"));
    const result = await command(host, "diff");
    expect(result).toMatchObject({
      type: "tool",
      tool: "Diff",
      parts: [
        { type: "diff", path: "a.txt", before: "one\n", after: "three\n", stat: { added: 1, removed: 1 } },
        { type: "diff", path: "gone.txt", before: "x\n", after: "" },
        { type: "diff", path: "new.txt", before: null, after: expect.stringContaining("redacted") },
      ],
    });
    expect(JSON.stringify(result)).not.toContain("sk-lab");
    expect(await host.finish()).toBe(0);
  });

  it("says why it knows nothing where no copies are kept", async () => {
    const host = await opened({ args: ["--no-session"] });
    expect((await tryCommand(host, "diff")).fault?.message).toContain("not kept");
    expect(await host.finish()).toBe(0);
  });
});

describe("/init", () => {
  it("is a prompt to look around and to write AGENTS.md, with what the user adds", async () => {
    const cwd = scratch();
    const host = await opened({
      cwd,
      responses: [
        {
          expect: { lastUser: "/^Look around in this workspace, and write AGENTS\\.md[^]*The user adds: mind the gap\n$/" },
          call: { tool: "Write", args: { file_path: "AGENTS.md", content: "# Commands\n" } },
        },
        { say: "It holds the commands." },
      ],
    });
    expect(await command(host, "init", "mind the gap")).toEqual({ type: "submit_prompt" });
    expect((await host.turnEnded()).outcome).toBe("completed");
    expect(readFileSync(join(cwd, "AGENTS.md"), "utf8")).toBe("# Commands\n");
    expect(await host.finish()).toBe(0);
  });
});

describe("/tasks", () => {
  it("lists background commands with their state, shows the output of one, and ends it", async () => {
    const cwd = scratch();
    const host = await opened({
      cwd,
      responses: [
        { call: bash("echo hello; until test -e go; do sleep 0.05; done; echo bye", { background: true }) },
        { call: bash("sleep 1000", { background: true }) },
        { say: "Both run." },
      ],
    });
    expect(await told(host, "tasks")).toBe("No command was started in the background.");
    await turn(host, "go");
    const list = await command(host, "tasks");
    expect(list).toMatchObject({
      text: expect.stringMatching(/^bash_1 {2}running {2}echo hello.*\nbash_2 {2}running {2}sleep 1000$/),
      choices: [
        { value: "bash_1", description: "running" },
        { value: "bash_2", label: "bash_2  sleep 1000", description: "running" },
      ],
    });
    expect((await suggest(host, { trigger: "slash", text: "/tasks bash_2" })).suggestions.map(({ value }) => value)).toEqual([
      "tasks bash_2 show",
      "tasks bash_2 end",
    ]);
    expect(await command(host, "tasks", "bash_1")).toMatchObject({
      type: "dialog",
      dialog: "tasks",
      choices: [{ value: "bash_1 show" }, { value: "bash_1 end" }],
    });
    const output = async (): Promise<string> => JSON.stringify(await command(host, "tasks", "bash_1 show"));
    expect(await command(host, "tasks", "bash_2 end")).toMatchObject({ text: expect.stringMatching(/^bash_2 has ended: /) });
    writeFileSync(join(cwd, "go"), "");
    let seen = await output();
    while (!seen.includes("exit code 0")) seen = await output();
    expect(seen).toContain("hello\\nbye");
    expect(await command(host, "tasks", "bash_1")).toMatchObject({ type: "tool", parts: [{ type: "terminal" }] });
    for (const args of ["bash_9", "bash_1 look", "bash_1 show more"])
      expect((await tryCommand(host, "tasks", args)).fault, args).toMatchObject({ code: "usage" });
    expect(await host.finish()).toBe(0);
  });
});

describe("/agents and /mcp", () => {
  it("offer what they list, and /agents tells of one", async () => {
    const cwd = tree({ ".parley/agents/scribe.md": "---\ndescription: Writes things down\ntools: Read, Write\n---\nYou are a scribe." });
    const host = await opened({ cwd });
    const choices = ["general", "explore", "scribe"].map((value) => expect.objectContaining({ value }));
    expect(await command(host, "agents")).toMatchObject({ choices: expect.arrayContaining(choices) });
    expect(await told(host, "agents", "scribe")).toBe("scribe\nWrites things down\nTools  Read, Write");
    expect((await tryCommand(host, "agents", "scrib")).fault?.message).toContain("did you mean 'scribe'?");
    expect(await told(host, "mcp")).toMatch(/^There are no MCP servers/);
    expect(await host.finish()).toBe(0);
  });
});
