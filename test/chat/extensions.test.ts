/** What surrounds a session, seen at a terminal: skills, sub-agents, plans, todos, hooks, memory files, compaction, mentions. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { put, tree } from "../extensions/files.js";
import { scratch } from "../process/harness.js";
import { bash, chat, CLEAR_LINE, ESC, hasTerminal, TAB } from "./chat.js";

const skill = (text: string) => `---\ndescription: Greets somebody\nargument-hint: <name>\n---\n${text}\n`;

describe.skipIf(!hasTerminal)("skills", () => {
  it("are commands with arguments and completion, and one that is written meanwhile is there, too", async () => {
    const cwd = tree({ ".claude/skills/greet/SKILL.md": skill("Greet $1 warmly.") });
    const talk = chat({
      cwd,
      responses: [
        { expect: { lastUser: "Greet Ada warmly." }, say: "Hello, Ada." },
        { expect: { lastUser: "Bow to Grace." }, say: "At your service." },
      ],
    });
    await talk.enter("/skills");
    await talk.shows("/greet <name>", "Greets somebody");
    await talk.press("/gre");
    await talk.shows("→ greet");
    await talk.press(TAB, "Ada\r");
    await talk.shows("> /greet Ada", "Hello, Ada.", "tokens in");
    put(cwd, { ".parley/skills/bow/SKILL.md": skill("Bow to $1.") });
    await talk.enter("/bow Grace");
    await talk.shows("At your service.", "tokens in");
    await talk.leave();
  });

  it("with broken front matter are one warning above the line that is being written", async () => {
    const cwd = tree({ ".parley/skills/odd/SKILL.md": "---\ndescription: [\n---\nx\n" });
    const talk = chat({ cwd });
    await talk.shows("! ", "odd/SKILL.md");
    await talk.enter("say heron");
    await talk.shows("> say heron", "heron", "tokens in");
    await talk.leave();
    expect(talk.text.match(/odd\/SKILL\.md/g)).toHaveLength(1);
  });
});

describe.skipIf(!hasTerminal)("sub-agents", () => {
  it("are listed, and what they call is shown below the call that began them and asked about", async () => {
    const cwd = tree({ ".parley/agents/scribe.md": "---\ndescription: Writes things down\n---\nYou are a scribe." });
    const talk = chat({
      cwd,
      args: ["--approve-tools", "Spawn"],
      responses: [
        { call: { tool: "Spawn", args: { tasks: [{ name: "one", prompt: "write it", agent: "scribe" }] } } },
        {
          expect: { system: "You are a scribe." },
          say: "aside",
          call: { tool: "Write", args: { file_path: "a.txt", content: "written" } },
        },
        { say: "It is written." },
        { expect: { toolResult: "It is written." }, say: "All done." },
      ],
    });
    await talk.enter("/agents");
    await talk.shows("general", "explore", "scribe", "Enter takes it");
    await talk.press(ESC);
    await talk.hides("Enter takes it");
    await talk.enter("go");
    await talk.shows("● Spawn one", "│ Write a.txt");
    await talk.enter("y");
    await talk.shows("● Write a.txt", "All done.", "tokens in");
    await talk.showsRow(/^ {2}● Write a\.txt$/);
    await talk.leave();
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("written");
    expect(talk.text).not.toContain("aside");
  });
});

describe.skipIf(!hasTerminal)("plan mode", () => {
  it("shows the whole plan, hears what to change, and ends with the approval", async () => {
    const cwd = scratch();
    const steps = Array.from({ length: 30 }, (_, at) => `${at + 1}. step`).join("\n");
    const plan = (text: string) => ({ call: { tool: "ExitPlan", args: { plan: text } } });
    const talk = chat({
      cwd,
      responses: [
        plan(`${steps}\n31. the very last`),
        { expect: { toolResult: "not so long" }, ...plan("1. write a.txt") },
        { call: { tool: "Write", args: { file_path: "a.txt", content: "planned" } } },
        { say: "Done." },
      ],
    });
    await talk.enter("/mode plan");
    await talk.shows("The mode is plan");
    await talk.enter("go");
    await talk.shows("1. step", "31. the very last", "y go ahead", "n no, or write what to change");
    await talk.enter("not so long");
    await talk.shows("denied: not so long", "1. write a.txt", "y go ahead");
    await talk.enter("y");
    await talk.shows("│ Write a.txt", "y once");
    await talk.enter("y");
    await talk.shows("Done.", "tokens in");
    await talk.leave();
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("planned");
  });

  it("goes over to editing unasked when that is the answer", async () => {
    const cwd = scratch();
    const talk = chat({
      cwd,
      args: ["--approval-mode", "plan"],
      responses: [
        { call: { tool: "ExitPlan", args: { plan: "1. write a.txt" } } },
        { call: { tool: "Write", args: { file_path: "a.txt", content: "planned" } } },
        { say: "Done." },
      ],
    });
    await talk.enter("go");
    await talk.shows("a go ahead, and edit files unasked");
    await talk.enter("a");
    await talk.shows("● Write a.txt", "Done.", "auto_edit · rehearsal");
    await talk.leave();
    expect(existsSync(join(cwd, "a.txt"))).toBe(true);
  });
});

describe.skipIf(!hasTerminal)("the todo list", () => {
  it("is shown as the model writes it, and again with /todo", async () => {
    const items = [
      { content: "buy milk", status: "completed" },
      { content: "buy bread", status: "in_progress" },
      { content: "eat", status: "pending" },
    ];
    const talk = chat({ responses: [{ call: { tool: "TodoWrite", args: { todos: items } } }, { say: "Noted." }] });
    await talk.enter("/todo");
    await talk.shows("(the todo list is empty)");
    await talk.enter("go");
    await talk.shows("☑ buy milk", "◐ buy bread", "☐ eat", "Noted.", "tokens in");
    await talk.enter("/todo");
    await talk.shows("Noted.", "☑ buy milk", "◐ buy bread", "☐ eat");
    await talk.leave();
  });
});

describe.skipIf(!hasTerminal)("hooks", () => {
  it("that block a call say why, and that hang cost one line", async () => {
    const [cwd, program] = [scratch(), join(scratch(), "guard.mjs")];
    writeFileSync(
      program,
      `import { readFileSync } from "node:fs";
      const { call } = JSON.parse(readFileSync(0, "utf8"));
      if (call.args.command.includes("touch")) { console.error("no touching"); process.exit(2); }`,
    );
    const hooks = {
      pre_tool_use: [{ match: "Bash", command: [process.execPath, program] }],
      post_tool_use: [{ command: [process.execPath, "-e", "setInterval(() => {}, 1000)"], timeoutMs: 300 }],
    };
    const talk = chat({
      cwd,
      args: ["--auto-approve"],
      env: { PARLEY_HOME: scratch({ "config.yaml": stringify({ hooks }) }) },
      responses: [{ call: bash("touch a.txt") }, { expect: { toolResult: "no touching" }, call: bash("echo wa''ter") }, { say: "Done." }],
    });
    await talk.enter("go");
    await talk.shows("denied", "no touching", "● Bash echo wa''ter", "water", "! ", "post_tool_use", "Done.", "tokens in");
    await talk.leave();
    expect(existsSync(join(cwd, "a.txt"))).toBe(false);
  });
});

describe.skipIf(!hasTerminal)("memory files", () => {
  it("are told to the model and listed by /context", async () => {
    const cwd = tree({ "AGENTS.md": "Use tabs.\n@more.md\n", "more.md": "Be brief." });
    const talk = chat({ cwd, responses: [{ expect: { system: "/Use tabs\\.[^]*Be brief\\./" }, say: "Yes." }] });
    await talk.enter("/context");
    await talk.shows("Memory files", "AGENTS.md", "more.md");
    await talk.enter("go");
    await talk.shows("Yes.", "tokens in");
    await talk.leave();
  });
});

describe.skipIf(!hasTerminal)("compaction", () => {
  it("is done by /compact, and the conversation goes on from the summary", async () => {
    const talk = chat({
      responses: [
        { say: { pieces: ["abc ".repeat(6500)] } },
        { say: "There." },
        { expect: { system: "You sum up a conversation" }, say: "SUMMARY: ducks." },
        { expect: { lastUser: "and then?" }, say: "They flew." },
      ],
    });
    await talk.enter("tell me");
    await talk.shows("tokens in");
    await talk.enter("go on");
    await talk.shows("There.", "tokens in");
    await talk.enter("/compact");
    await talk.shows("is summed up", "was summed up");
    expect(talk.text.match(/was summed up/g)).toHaveLength(1);
    await talk.enter("and then?");
    await talk.shows("They flew.", "tokens in");
    await talk.leave();
  });

  it("that fails is told in one line, and the conversation stays", async () => {
    const talk = chat({
      responses: [{ say: "A story." }, { say: "There." }, { fail: { status: 400, message: "not today" } }, { say: "It goes on." }],
    });
    await talk.enter("tell me");
    await talk.shows("tokens in");
    await talk.enter("go on");
    await talk.shows("There.", "tokens in");
    await talk.enter("/compact");
    await talk.shows("could not be summed up: not today");
    await talk.enter("and then?");
    await talk.shows("It goes on.", "tokens in");
    await talk.leave();
    expect(talk.text.match(/could not be summed up/g)).toHaveLength(1);
  });
});

describe.skipIf(!hasTerminal)("mentions", () => {
  it("attach files, folders and globs; what is left out is one line", async () => {
    const cwd = tree({ "my notes.md": "remember plum", "src/a.ts": "const a = 1;", "src/b.bin": Buffer.from([0, 1, 2, 255]) });
    const talk = chat({
      cwd,
      responses: [
        { expect: { lastUser: "/remember plum[^]*a\\.ts/" }, say: "Plum." },
        { expect: { lastUser: "const a = 1;" }, say: "One." },
      ],
    });
    await talk.enter('see @"my notes.md" and @src/');
    await talk.shows("Plum.", "tokens in");
    await talk.press(`nothing${CLEAR_LINE}and @src/*.ts\r`);
    await talk.shows("One.", "tokens in");
    await talk.leave();
  });

  it("of a file outside the workspace ask, and attach it when the answer is yes", async () => {
    const far = join(tree({ "far.txt": "far away" }), "far.txt");
    const talk = chat({ cwd: tree({}), responses: [{ expect: { lastUser: "far away" }, say: "Seen." }] });
    await talk.enter(`see @${far}`);
    await talk.shows(far, "y once");
    await talk.enter("y");
    await talk.shows("Seen.", "tokens in");
    await talk.leave();
  });
});
