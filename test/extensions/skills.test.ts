import { realpathSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { start, type NativeHost, type StartOptions } from "../process/harness.js";
import { put, tree } from "./files.js";

const GREET = "---\ndescription: Greets people\nargument-hint: <name>\n---\nSay hello to $1.\n";

function command(host: NativeHost, name: string, args?: string): void {
  host.send({ type: "turn.prompt", id: `op-${name}`, session: "s", parts: [], command: { name, ...(args !== undefined && { args }) } });
}

describe("the catalogue", () => {
  it("lists skills with their scopes right after ready", async () => {
    const HOME = tree({ ".claude/skills/mine/SKILL.md": "My own.", ".agents/skills/greet/SKILL.md": "Overruled." });
    const host = start({ cwd: tree({ ".aionrs/skills/greet/SKILL.md": GREET }), env: { HOME } });
    await host.open();
    const { skills, subagents, whole } = await host.next("catalog.updated");
    expect(whole).toBe(true);
    expect(skills).toEqual([
      { name: "greet", description: "Greets people", scope: "project", argumentHint: "<name>" },
      { name: "mine", description: "My own.", scope: "user" },
    ]);
    expect(subagents?.map(({ name, scope }) => [name, scope])).toEqual([
      ["general", "system"],
      ["explore", "system"],
    ]);
    expect(await host.finish()).toBe(0);
  });

  it("comes again soon after a skill is changed, added or removed", async () => {
    const cwd = tree({ ".parley/skills/one/SKILL.md": "First." });
    const host = start({ cwd });
    await host.open();
    const listing = (text: string) =>
      host.next("catalog.updated", ({ skills }) => skills?.map((skill) => skill.description).join() === text);
    await listing("First.");
    put(cwd, { ".parley/skills/one/SKILL.md": "Changed." });
    await listing("Changed.");
    put(cwd, { ".parley/skills/two/SKILL.md": "Second." });
    await listing("Changed.,Second.");
    expect(await host.finish()).toBe(0);
  });
});

describe("the model", () => {
  it("is told of skills, takes one up by name, and learns where its files are", async () => {
    const cwd = tree({
      ".parley/skills/greet/SKILL.md": GREET,
      ".parley/skills/secret/SKILL.md": "---\nmodel-invocable: false\n---\nHidden.",
    });
    const host = start({
      cwd,
      responses: [
        {
          expect: { system: "/- greet: Greets people$/", tools: ["Skill"] },
          call: { tool: "Skill", args: { name: "greet", args: "Ann Lee" } },
        },
        {
          expect: { toolResult: `${realpathSync(cwd)}/.parley/skills/greet\n\nSay hello to Ann.` },
          call: { tool: "Skill", args: { name: "secret" } },
        },
        { expect: { toolResult: "/name: must be one of greet/" }, say: "done" },
      ],
    });
    await host.open();
    host.prompt("go");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.ofType("approval.requested")).toEqual([]);
    expect(await host.finish()).toBe(0);
  });

  it("has no Skill tool where there is none for it", async () => {
    const host = start({
      cwd: tree({ ".parley/skills/mine/SKILL.md": "---\ndisable-model-invocation: true\n---\nMine." }),
      responses: [
        { expect: { system: "/^(?!.*Skills are)/s" }, call: { tool: "Skill", args: { name: "mine" } } },
        { expect: { toolResult: "Unknown tool: Skill" }, say: "done" },
      ],
    });
    await host.open();
    host.prompt("go");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  });

  it("is told in its next message of a skill that was added between two turns", async () => {
    const cwd = tree({});
    const host = start({
      cwd,
      responses: [
        { expect: { system: "/^(?!.*Skills are)/s" }, say: "one" },
        { expect: { system: "/^(?!.*Skills are)/s", lastUser: "- late: Added later." }, say: "two" },
      ],
    });
    await host.open();
    host.prompt("go");
    await host.turnEnded();
    put(cwd, { ".claude/skills/late/SKILL.md": "Added later." });
    host.prompt("again");
    expect(await host.turnEnded(2)).toMatchObject({ outcome: "completed" });
    expect(host.text()).toBe("one\ntwo");
  });
});

describe("people", () => {
  it("use a skill as a command with arguments", async () => {
    const host = start({
      cwd: tree({
        ".parley/skills/greet/SKILL.md": GREET,
        ".parley/skills/auto/SKILL.md": "---\nuser-invocable: false\n---\nNot for people.",
      }),
      responses: [{ expect: { lastUser: "Say hello to Ann Lee." }, say: "hello" }],
    });
    await host.open();
    command(host, "greet", '"Ann Lee"');
    expect((await host.next("reply")).data).toMatchObject({ result: { type: "submit_prompt" } });
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    command(host, "auto");
    expect(await host.next("reply", (event) => event.parent === "op-auto")).toMatchObject({ status: "error" });
    expect(await host.finish()).toBe(0);
  });
});

describe("what a skill lets run unasked", () => {
  const SKILL = { "skills/build/SKILL.md": "---\nallowed-tools: Bash(echo:*), Write\n---\nBuild it." };
  const echo = (text: string) => ({ call: { tool: "Bash", args: { command: `echo ${text}` } } });

  async function asked(options: StartOptions, config: Record<string, unknown> = {}): Promise<{ asked: number; host: NativeHost }> {
    const host = start({ ...options, responses: [echo("one"), { say: "done" }, echo("two"), { say: "done" }] });
    await host.open({ answerSeconds: 0.2, ...config });
    command(host, "build");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    return { asked: host.ofType("approval.requested").length, host };
  }

  it("counts for the user's own skills, for one turn", async () => {
    const { asked: questions, host } = await asked({ env: { PARLEY_HOME: tree(SKILL) } });
    expect(questions).toBe(0);
    expect(host.ofType("tool.ended")[0]).toMatchObject({ status: "ok" });
    host.prompt("once more");
    await host.turnEnded(2);
    expect(host.ofType("approval.requested").length).toBe(1);
    expect(host.ofType("tool.ended")[1]).toMatchObject({ status: "denied" });
  });

  it("counts for a project's only when the workspace is trusted", async () => {
    const cwd = tree(Object.fromEntries(Object.entries(SKILL).map(([name, text]) => [`.parley/${name}`, text])));
    expect((await asked({ cwd })).asked).toBe(1);
    expect((await asked({ cwd, args: ["--trust-workspace"] })).asked).toBe(0);
  });

  it("never beats a deny rule", async () => {
    const { host } = await asked({ env: { PARLEY_HOME: tree(SKILL) } }, { rules: [{ deny: "Bash(echo one)" }] });
    expect(host.ofType("tool.ended")[0]).toMatchObject({ status: "denied", reason: "denied by the rule Bash(echo one)" });
  });

  it("is asked about when it is the model that takes the skill up", async () => {
    const host = start({
      env: { PARLEY_HOME: tree(SKILL) },
      responses: [{ call: { tool: "Skill", args: { name: "build" }, id: "c1" } }, echo("one"), { say: "done" }],
    });
    await host.open();
    host.prompt("go");
    expect(await host.next("approval.requested")).toMatchObject({
      message: "Allow Skill: build? (lets Bash(echo:*), Write run unasked in this turn)",
    });
    host.allow("c1");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.ofType("approval.requested").length).toBe(1);
    expect(host.ofType("tool.ended").map(({ status }) => status)).toEqual(["ok", "ok"]);
  });
});

it("broken files are one line each, told once, and the session goes on", async () => {
  const cwd = tree({
    ".parley/skills/good/SKILL.md": "Good.",
    ".parley/skills/open/SKILL.md": "---\nname: x\n",
    ".parley/skills/tab/SKILL.md": "---\na:\n\tb: 1\n---\n",
    ".claude/agents/bare.md": "Text",
  });
  const host = start({ cwd, responses: [{ expect: { system: "- good: Good." }, say: "one" }, { say: "two" }] });
  await host.open();
  host.prompt("go");
  await host.turnEnded();
  put(cwd, { ".parley/skills/more/SKILL.md": "More." });
  host.prompt("again");
  expect(await host.turnEnded(2)).toMatchObject({ outcome: "completed" });
  const lines = host.ofType("notice").map(({ level, kind, text }) => `${level} ${kind} ${text.replace(`${realpathSync(cwd)}/`, "")}`);
  expect(lines.toSorted()).toEqual([
    "warning skill .parley/skills/open/SKILL.md:1: the front matter that begins here has no closing '---' line",
    expect.stringMatching(/^warning skill \.parley\/skills\/tab\/SKILL\.md:3: /),
    "warning subagent .claude/agents/bare.md:1: a sub-agent needs front matter that describes it",
  ]);
  expect(await host.finish()).toBe(0);
});
