import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { script, start, type NativeHost, type StartOptions } from "../process/harness.js";
import { tree } from "./files.js";

const spawnCall = (tasks: { name: string; prompt: string; agent?: string }[], id?: string) => ({
  call: { tool: "Spawn", args: { tasks }, ...(id !== undefined && { id }) },
});

async function played(options: StartOptions): Promise<NativeHost> {
  const host = start({ ...options, args: ["--approve-tools", "Spawn,Read,Write,Bash", ...(options.args ?? [])] });
  await host.open();
  host.prompt("go");
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  // What a sub-agent's script expected in vain is only a failed sub-agent.
  expect(host.lines.join("\n")).not.toMatch(/rehearsal expectation failed|end of the script/);
  return host;
}

function outputOf(host: NativeHost): string {
  return JSON.stringify(host.ofType("tool.ended").find((event) => event.under === undefined)?.output);
}

describe("a defined sub-agent", () => {
  it("has its own prompt and history, and only the tools that its file names", async () => {
    const cwd = tree({
      ".claude/agents/reviewer.md": "---\ndescription: Reviews code\ntools: Read, Grep\n---\nYou are a strict reviewer.",
    });
    const host = await played({
      cwd,
      responses: [
        spawnCall([{ name: "r", prompt: "look at it", agent: "reviewer" }]),
        {
          expect: { system: "/^You are a strict reviewer\\./", lastUser: "look at it", messages: 1, tools: ["Read", "Grep"] },
          call: { tool: "Write", args: { file_path: "x.txt", content: "x" } },
        },
        { expect: { toolResult: "/Unknown tool: Write\\. There are: Read, Grep$/" }, say: "fine" },
        { expect: { system: "/^You are a careful coding agent/", messages: 3 }, say: "done" },
      ],
    });
    expect(outputOf(host)).toContain("## r [OK]\\nfine");
    expect(existsSync(join(cwd, "x.txt"))).toBe(false);
    expect(await host.finish()).toBe(0);
  });

  it("asks nothing once the turn's model calls are used up, however many there are", async () => {
    const task = (name: string) => ({ name, prompt: "go" });
    const host = start({
      args: ["--approve-tools", "Spawn", "--max-turns", "2"],
      responses: [spawnCall([task("a"), task("b"), task("c")]), { say: "mine" }],
    });
    await host.open();
    host.prompt("go");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed", finish: "max_turns" });
    expect(outputOf(host)).toMatch(
      /## a \[OK\]\\nmine\\n---\\n## b \[ERROR\]\\n\(stopped at the limit of model calls of the turn\).*## c \[ERROR\]/,
    );
    expect(host.lines.join("\n")).not.toContain("end of the script");
    expect(await host.finish()).toBe(0);
  });

  it("never gets a tool that its parent does not have", async () => {
    const cwd = tree({ ".parley/agents/greedy.md": "---\ndescription: Wants all\ntools: [Bash, Read]\n---\n" });
    await played({
      cwd,
      args: ["--disallowed-tools", "Bash"],
      responses: [
        spawnCall([{ name: "g", prompt: "go", agent: "greedy" }]),
        { call: { tool: "Bash", args: { command: "true" } } },
        { expect: { toolResult: "/Unknown tool: Bash\\. There are: Read$/" }, say: "no" },
        { say: "done" },
      ],
    });
  });

  it("runs on the model that its file names", async () => {
    const other = script([{ expect: { lastUser: "hello" }, say: "I am another model" }]);
    const host = await played({
      cwd: tree({ ".ante/agents/other.md": `---\ndescription: Other\nmodel: ${other}\n---\n` }),
      responses: [spawnCall([{ name: "o", prompt: "hello", agent: "other" }]), { say: "done" }],
    });
    expect(outputOf(host)).toContain("I am another model");
  });

  it("of a workspace that nobody trusts does not take the conversation to another provider", async () => {
    const host = await played({
      cwd: tree({ ".claude/agents/away.md": "---\ndescription: Away\nmodel: gpt-5\n---\n" }),
      env: { OPENAI_API_KEY: "key-0123456789", OPENAI_BASE_URL: "http://127.0.0.1:9" },
      responses: [spawnCall([{ name: "a", prompt: "hello", agent: "away" }]), { say: "done" }],
    });
    expect(outputOf(host)).toMatch(/## a \[ERROR\].*'away'.*gpt-5 of openai.*'parley trust'/);
  });

  it("fails with a clear text when there is no such model, and its siblings go on", async () => {
    const host = await played({
      cwd: tree({ ".ante/agents/lost.md": "---\ndescription: Lost\nmodel: no-such-model.yaml\n---\n" }),
      responses: [
        spawnCall([
          { name: "l", prompt: "hello", agent: "lost" },
          { name: "g", prompt: "hello" },
        ]),
        { say: "I am here" },
        { say: "done" },
      ],
    });
    expect(outputOf(host)).toMatch(/## l \[ERROR\].*no-such-model\.yaml/);
    expect(outputOf(host)).toContain("## g [OK]\\nI am here");
  });
});

describe("built-in sub-agents", () => {
  it("explore can only read and search", async () => {
    await played({
      cwd: tree({ "a.txt": "alpha" }),
      responses: [
        spawnCall([{ name: "e", prompt: "what is in a.txt?", agent: "explore" }]),
        {
          expect: { system: "/^You explore a workspace/" },
          call: { tool: "Edit", args: { file_path: "a.txt", old_string: "a", new_string: "b" } },
        },
        { expect: { toolResult: "There are: Read, Glob, Grep" }, say: "alpha" },
        { say: "done" },
      ],
    });
  });

  it("one that nobody knows is refused with the names of those that there are", async () => {
    await played({
      responses: [
        spawnCall([{ name: "x", prompt: "go", agent: "wizard" }]),
        { expect: { toolResult: "Invalid arguments for Spawn: tasks.0.agent: must be one of general, explore" }, say: "done" },
      ],
    });
  });
});

describe("levels", () => {
  const nested = [
    spawnCall([{ name: "child", prompt: "level one" }], "s1"),
    spawnCall([{ name: "grandchild", prompt: "level two" }], "s2"),
  ];

  it("a sub-agent has no Spawn by default", async () => {
    await played({
      responses: [...nested, { expect: { lastUser: "level one", toolResult: "Unknown tool: Spawn" }, say: "alone" }, { say: "done" }],
    });
  });

  it("with a nesting of 2 it may spawn once more, under the same approvals and budget", async () => {
    const cwd = tree({});
    const host = start({
      cwd,
      env: { PARLEY_HOME: tree({ "config.yaml": "limits: { nesting: 2 }\n" }) },
      args: ["--approve-tools", "Spawn"],
      responses: [
        ...nested,
        {
          expect: { lastUser: "level two" },
          call: { tool: "Spawn", args: { tasks: [{ name: "great", prompt: "level three" }] }, id: "s3" },
        },
        {
          expect: { toolResult: "Unknown tool: Spawn" },
          call: { tool: "Write", args: { file_path: "deep.txt", content: "deep" }, id: "w" },
        },
        { say: "grandchild done" },
        { expect: { toolResult: "grandchild done" }, say: "child done" },
        { expect: { toolResult: "child done" }, say: "done" },
      ],
    });
    await host.open({ maxTurns: 7 });
    host.prompt("go");
    const asked = await host.next("approval.requested");
    expect(asked).toMatchObject({ under: "s2", calls: [{ id: "w" }] });
    host.allow("w");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(existsSync(join(cwd, "deep.txt"))).toBe(true);
    expect(host.ofType("tool.requested").map(({ call, under }) => [call.id, under])).toEqual([
      ["s1", undefined],
      ["s2", "s1"],
      ["s3", "s2"],
      ["w", "s2"],
    ]);
    expect(host.text()).toBe("done");
    expect(await host.finish()).toBe(0);
  });
});
