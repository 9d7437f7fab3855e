import { existsSync, readFileSync } from "node:fs";
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
        { expect: { system: "/^You are Parley, a coding agent/", messages: 3 }, say: "done" },
      ],
    });
    expect(outputOf(host)).toContain("## r [OK]\\nfine");
    expect(existsSync(join(cwd, "x.txt"))).toBe(false);
    expect(await host.finish()).toBe(0);
  });

  it("asks nothing once its share of the turn's model calls is used up, and a fifth stays for its parent", async () => {
    const task = (name: string) => ({ name, prompt: "go" });
    const host = start({
      args: ["--approve-tools", "Spawn", "--max-turns", "3"],
      responses: [spawnCall([task("a"), task("b"), task("c")]), { expect: { lastUser: "go" }, say: "mine" }, { say: "the parent speaks" }],
    });
    await host.open();
    host.prompt("start");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed", finish: "stop" });
    expect(outputOf(host)).toMatch(
      /## a \[OK\]\\nmine\\n---\\n## b \[ERROR\]\\n\(stopped at its share of the turn's model calls\).*## c \[ERROR\]/,
    );
    expect(host.text()).toBe("the parent speaks");
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
    await host.open({ maxTurns: 8 });
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

/** Sub-agents that each follow a script of their own, as kinds of their names. */
function scripted(scripts: Record<string, unknown[]>, then?: "repeat"): Record<string, string> {
  return Object.fromEntries(
    Object.entries(scripts).map(([name, responses]) => [
      `.ante/agents/${name}.md`,
      `---\ndescription: ${name}\nmodel: ${script(responses, then)}\n---\n`,
    ]),
  );
}

const bash = (command: string) => ({ call: { tool: "Bash", args: { command } } });
const waitFor = (file: string) => bash(`until [ -e ${file} ]; do sleep 0.02; done`);
const write = (file_path: string, content: string) => ({ call: { tool: "Write", args: { file_path, content } } });
const read = (file_path: string) => ({ call: { tool: "Read", args: { file_path } } });
const kinds = (...names: string[]) => spawnCall(names.map((name) => ({ name, prompt: "go", agent: name })));

describe("siblings", () => {
  it("never wait for each other's shell commands", async () => {
    const cwd = tree({
      "a.txt": "alpha",
      ...scripted({
        waiter: [waitFor("released"), { say: "released" }],
        other: [read("a.txt"), bash("true"), write("released", "now"), { say: "released it" }],
      }),
    });
    const host = await played({ cwd, responses: [kinds("waiter", "other"), { say: "done" }] });
    expect(outputOf(host)).toContain("## waiter [OK]\\nreleased");
    expect(outputOf(host)).toContain("## other [OK]\\nreleased it");
  });

  it("know a file that another has changed since as stale", async () => {
    const cwd = tree({
      "f.txt": "first",
      ...scripted({
        a: [
          read("f.txt"),
          write("a-has-read", ""),
          waitFor("b-has-written"),
          write("f.txt", "from a"),
          { expect: { toolResult: "f.txt was changed on disk after you last saw it" }, say: "refused" },
        ],
        b: [waitFor("a-has-read"), read("f.txt"), write("f.txt", "from b"), write("b-has-written", ""), { say: "written" }],
      }),
    });
    const host = await played({ cwd, responses: [kinds("a", "b"), { say: "done" }] });
    expect(outputOf(host)).toContain("## a [OK]\\nrefused");
    expect(readFileSync(join(cwd, "f.txt"), "utf8")).toBe("from b");
  });

  it("leave the parent the last word, however many of them never end, in one Spawn call or in several", async () => {
    const cwd = tree({ "a.txt": "alpha", ...scripted({ w: [read("a.txt")], x: [read("a.txt")], y: [read("a.txt")] }, "repeat") });
    const calls = [kinds("w", "x"), kinds("y", "y")].map(({ call }) => call);
    const host = await played({
      cwd,
      args: ["--max-turns", "21"],
      responses: [{ calls }, { say: "the parent speaks" }],
    });
    expect(host.ofType("turn.ended")).toMatchObject([{ outcome: "completed", finish: "stop" }]);
    expect(host.text()).toBe("the parent speaks");
    // 20 calls were left: 4 stay, and each of the four has 4.
    const shares = host.ofType("notice").filter(({ kind }) => kind === "max_turns");
    expect(shares.map(({ text }) => text)).toEqual(
      Array(4).fill("Stopped after 4 model calls, the sub-agent's share of its turn (--max-turns)"),
    );
  });

  it("leave the parent tool calls as well", async () => {
    const cwd = tree({ "a.txt": "alpha", ...scripted({ w: [read("a.txt")], x: [read("a.txt")] }, "repeat") });
    const host = start({
      cwd,
      args: ["--approve-tools", "Spawn,Read"],
      responses: [kinds("w", "x"), read("a.txt"), { say: "done" }],
    });
    await host.open({ maxToolCalls: 6 });
    host.prompt("go");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed", finish: "stop" });
    expect(host.ofType("tool.ended").filter(({ under, status }) => under === undefined && status === "ok")).toHaveLength(1);
    expect(host.text()).toBe("done");
  });
});

describe("the approvals of a sub-agent", () => {
  it("are asked with its name, and explore reads unasked", async () => {
    const cwd = tree({ "a.txt": "alpha" });
    const host = start({
      cwd,
      responses: [
        spawnCall([{ name: "finder", prompt: "look", agent: "explore" }], "s1"),
        read("a.txt"),
        { expect: { toolResult: "alpha" }, say: "found" },
        spawnCall([{ name: "doer", prompt: "do" }], "s2"),
        write("b.txt", "beta"),
        { say: "did" },
        { say: "done" },
      ],
    });
    await host.open();
    host.prompt("go");
    await host.next("approval.requested", ({ calls }) => calls[0]?.id === "s1");
    host.allow("s1");
    await host.next("approval.requested", ({ calls }) => calls[0]?.id === "s2");
    host.allow("s2");
    const asked = await host.next("approval.requested", ({ under }) => under === "s2");
    expect(asked.message).toMatch(/^doer: Allow /);
    expect(asked.calls[0]?.title).toMatch(/^doer: /);
    host.allow(asked.calls[0]?.id ?? "");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.ofType("approval.requested").map(({ under }) => under)).toEqual([undefined, undefined, "s2"]);
  });
});
