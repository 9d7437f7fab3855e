/** Commands over the native dialect: what each answers, what it changes, and when it runs. */
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratch, start, type NativeHost } from "../process/harness.js";
import { command, suggest, told, tryCommand } from "./asking.js";
import { put, tree } from "./files.js";

async function opened(options: Parameters<typeof start>[0] = {}): Promise<NativeHost> {
  const host = start(options);
  await host.open();
  return host;
}

async function turn(host: NativeHost, text: string, nth = 1): Promise<void> {
  host.prompt(text);
  expect((await host.turnEnded(nth)).outcome).toBe("completed");
}

describe("the registry", () => {
  it("is in the catalogue as soon as the session is ready", async () => {
    const host = await opened();
    const { commands = [] } = await host.next("catalog.updated");
    const names =
      "help clear compact context stats cost diff init model mode permissions mcp skills agents resume chat rewind todo tasks copy theme export quit".split(
        " ",
      );
    expect(commands.filter(({ source }) => source === "builtin").map(({ name }) => name)).toEqual(names);
    expect(commands.find(({ name }) => name === "compact")).toMatchObject({ aliases: ["compress"] });
    expect(commands.filter(({ description }) => description === "")).toEqual([]);
    expect(await host.finish()).toBe(0);
  });

  it("answers an unknown command with the nearest one, and takes a slash and an alias", async () => {
    const host = await opened();
    const reply = await tryCommand(host, "hlep");
    expect(reply).toMatchObject({ status: "error", fault: { code: "unsupported", param: "command" } });
    expect(reply.fault?.message).toBe("There is no command '/hlep'; did you mean 'help'? /help lists them");
    expect((await tryCommand(host, "zzzzzz")).fault?.message).toBe("There is no command '/zzzzzz'; /help lists them");
    expect(await command(host, "/exit")).toMatchObject({ type: "dialog", dialog: "quit" });
  });

  it("helps with all commands, or with one", async () => {
    const host = await opened();
    const result = await command(host, "help");
    expect(result).toMatchObject({ type: "dialog", dialog: "help" });
    const choices = result.type === "dialog" ? (result.choices ?? []) : [];
    expect(choices.map(({ value }) => value)).toContain("chat");
    expect(await told(host, "help", "compact")).toMatch(/^\/compact\n.*summary.*\nAlso: \/compress$/s);
    expect((await tryCommand(host, "help", "nonsense")).fault).toMatchObject({ code: "usage" });
  });
});

describe("beside a turn", () => {
  it("runs what only shows, and lets the rest wait for its turn", async () => {
    const host = await opened({ responses: [{ steps: [{ say: "Hm." }, { wait: "forever" }] }] });
    host.prompt("go", { turn: "t" });
    await host.next("text.delta");
    const waiting = tryCommand(host, "clear");
    for (const name of [
      "help",
      "context",
      "stats",
      "cost",
      "diff",
      "tasks",
      "mcp",
      "skills",
      "agents",
      "todo",
      "copy",
      "model",
      "mode",
      "permissions",
      "theme",
      "resume",
    ]) {
      expect((await tryCommand(host, name)).status, name).toBe("ok");
    }
    expect(await told(host, "chat", "list")).toContain("No chat is saved");
    expect(host.ofType("turn.ended")).toEqual([]);
    host.send({ type: "turn.interrupt", session: "s" });
    expect((await waiting).status).toBe("ok");
    const types = host.events.map((event) => (event.type === "reply" ? `${event.to} ${JSON.stringify(event.data ?? "")}` : event.type));
    expect(types.indexOf("turn.ended")).toBeLessThan(types.findIndex((type) => type.includes('"command":{"name":"clear"')));
    expect(await host.finish()).toBe(0);
  });

  it("what is steered in while a command runs is the next prompt", async () => {
    const host = await opened({
      responses: [
        { say: { pieces: ["abc ".repeat(6500)] } },
        { say: "And?" },
        { steps: [{ wait: 500 }, { say: "They counted." }] },
        { expect: { lastUser: "also this" }, say: "Heard." },
      ],
    });
    await turn(host, "count");
    await turn(host, "more", 2);
    const summed = told(host, "compact");
    await host.next("compaction");
    host.send({ type: "turn.steer", id: "st", session: "s", parts: [{ type: "text", text: "also this" }] });
    expect((await host.next("reply", (event) => event.parent === "st")).status).toBe("ok");
    expect(await summed).toContain("was summed up");
    expect((await host.turnEnded(3)).outcome).toBe("completed");
    expect(await host.finish()).toBe(0);
  });

  it("can be interrupted while it waits", async () => {
    const host = await opened({ responses: [{ steps: [{ say: "Hm." }, { wait: "forever" }] }] });
    host.prompt("go", { turn: "t" });
    await host.next("text.delta");
    host.send({ type: "turn.prompt", id: "c", turn: "later", session: "s", parts: [], command: { name: "clear" } });
    host.send({ type: "turn.interrupt", id: "i", session: "s", turn: "later" });
    expect((await host.next("reply", (event) => event.parent === "i")).status).toBe("ok");
    host.send({ type: "turn.interrupt", session: "s", turn: "t" });
    expect(await host.next("reply", (event) => event.parent === "c")).toMatchObject({ status: "error", fault: { code: "interrupted" } });
  });
});

describe("the conversation", () => {
  it("begins anew with /clear, todo list and all, and stays so when it is resumed", async () => {
    const home = scratch();
    const cwd = scratch();
    const todos = [{ content: "paint", status: "in_progress" }];
    const host = await opened({
      cwd,
      env: { PARLEY_HOME: home },
      responses: [{ call: { tool: "TodoWrite", args: { todos } } }, { say: "Listed." }, { expect: { messages: 1 }, say: "Fresh." }],
    });
    await turn(host, "plan");
    expect(await command(host, "todo")).toEqual({
      type: "tool",
      tool: "TodoWrite",
      parts: [{ type: "todo", items: [{ text: "paint", status: "in_progress" }] }],
    });
    expect(await told(host, "copy")).toBe("Listed.");
    expect(await command(host, "clear")).toMatchObject({ type: "message", level: "info" });
    expect(await command(host, "todo")).toMatchObject({ parts: [{ items: [] }] });
    expect(await command(host, "copy")).toMatchObject({ level: "warning" });
    await turn(host, "hello", 2);
    const { sessionId } = await host.next("session.ready");
    expect(await host.finish()).toBe(0);

    const again = start({ cwd, env: { PARLEY_HOME: home }, responses: [{ expect: { messages: 3 }, say: "Still fresh." }] });
    again.send({ type: "session.open", session: "s", open: "resume", sessionId: sessionId ?? "" });
    await again.next("session.ready");
    await turn(again, "go on");
  });

  it("says what fills the window", async () => {
    const host = await opened({ responses: [{ say: "Hi.", usage: { input: 1500, output: 500 } }] });
    expect(await told(host, "context")).toMatch(/^Window +nothing was sent yet; 200,000 tokens fit$/m);
    await turn(host, "hello there");
    const text = await told(host, "context");
    expect(text).toMatch(/^Window +2,000 of 200,000 tokens \(1 %\)/m);
    expect(text).toMatch(/^Tools +\d+, about [\d,]+ tokens$/m);
    expect(text).toMatch(/^Messages +2, about 4 tokens$/m);
    expect(await told(host, "stats")).toMatch(/^Answers of the model +1\nTool calls +0\nTokens of the last answer +2,000$/m);
    const starts = text.split("\n").map((line) => /^(?:\S+ )+ +/.exec(line)?.[0].length);
    expect(new Set(starts).size, text).toBe(1);
  });

  it("is summed up by /compact, also as /compress, or said to be short enough", async () => {
    const host = await opened({
      responses: [
        { say: { pieces: ["abc ".repeat(6500)] } },
        { say: "And?" },
        { expect: { lastUser: "<conversation>", messages: 1 }, say: "They counted." },
        { expect: { lastUser: "go on" }, say: "On." },
      ],
    });
    expect(await told(host, "compact")).toBe("There is nothing to sum up yet.");
    await turn(host, "count");
    await turn(host, "more", 2);
    expect(await told(host, "compress")).toMatch(/^The conversation was summed up: about \d+ tokens before, \d+ now\.$/);
    expect(host.ofType("compaction").map(({ phase, summary }) => [phase, summary])).toEqual([
      ["started", undefined],
      ["ended", "They counted."],
    ]);
    await turn(host, "go on", 3);
    expect(await host.finish()).toBe(0);
  });

  it("is exported as Markdown, once, inside the workspace unless told in full", async () => {
    const cwd = realpathSync(scratch({ "a.txt": "```\nx" }));
    const elsewhere = join(scratch(), "out.md");
    const host = await opened({
      cwd,
      env: { SECRET_TOKEN: "sk-very-secret-1234" },
      responses: [
        { think: "Let me see.", call: { tool: "Read", args: { file_path: "a.txt" } } },
        { say: "The key is sk-very-secret-1234." },
      ],
    });
    expect((await tryCommand(host, "export")).fault?.message).toContain("empty");
    await turn(host, "read it");
    const file = join(cwd, "parley-s.md");
    expect(await told(host, "export")).toBe(`The conversation is in ${file}`);
    const markdown = readFileSync(file, "utf8");
    expect(markdown).toMatch(/## User\n\nread it\n\n## Assistant\n\n> Let me see\.\n\n\*\*Read\*\*\n\n```json\n[^]*### Read\n\n````\n/);
    expect(markdown).not.toContain("sk-very-secret-1234");
    expect(statSync(file).mode & 0o077).toBe(0);
    expect((await tryCommand(host, "export")).fault?.message).toContain("not overwritten");
    expect((await tryCommand(host, "export", "../up.md")).fault).toMatchObject({ code: "usage" });
    expect(existsSync(join(cwd, "../up.md"))).toBe(false);
    await command(host, "export", elsewhere);
    expect(readFileSync(elsewhere, "utf8")).toBe(markdown);
    await command(host, "export", "deep/er/x.md");
    expect(readFileSync(join(cwd, "deep/er/x.md"), "utf8")).toBe(markdown);
  });
});

describe("/chat", () => {
  it("saves a point of the conversation, comes back to it in another session, and deletes it", async () => {
    const home = scratch();
    const cwd = scratch();
    const env = { PARLEY_HOME: home, MY_API_KEY: "key-0123456789" };
    const host = await opened({
      cwd,
      env,
      responses: [{ say: "one" }, { say: "two" }, { expect: { messages: 3, lastUser: "third" }, say: "three" }],
    });
    expect((await tryCommand(host, "chat", "save here")).fault?.message).toContain("empty");
    await turn(host, "first key-0123456789");
    expect(await told(host, "chat", "save here")).toContain("'here'");
    expect((await tryCommand(host, "chat", "save HERE")).fault?.message).toContain("already");
    await turn(host, "second", 2);
    expect(await told(host, "chat", "resume here")).toContain("2 messages");
    await turn(host, "third", 3);
    expect(await host.finish()).toBe(0);

    const folder = join(home, "chats", readdirSync(join(home, "chats"))[0] ?? "");
    const file = join(folder, "here.json");
    expect(statSync(file).mode & 0o077).toBe(0);
    expect(readFileSync(file, "utf8")).not.toContain("key-0123456789");

    const other = await opened({ cwd, env, responses: [{ expect: { messages: 3 }, say: "again" }] });
    expect(await told(other, "chat")).toMatch(/^here +\d{4}-/);
    await command(other, "chat", "resume here");
    await turn(other, "go on");
    expect(await told(other, "chat", "delete here")).toContain("gone");
    expect(await told(other, "chat", "list")).toContain("No chat is saved");

    const elsewhere = await opened({ env });
    expect((await tryCommand(elsewhere, "chat", "resume here")).fault?.message).toBe("No chat 'here' is saved in this workspace");
  });

  it("takes no name that is a path, and says so when a file is damaged", async () => {
    const home = scratch();
    const host = await opened({ env: { PARLEY_HOME: home }, responses: ["hi"] });
    await turn(host, "hello");
    for (const tag of ["../x", "a/b", ".hidden", "x".repeat(65), "con:"]) {
      for (const verb of ["save", "resume", "delete"]) {
        expect((await tryCommand(host, "chat", `${verb} ${tag}`)).fault?.message, tag).toContain("cannot be the name");
      }
    }
    expect((await tryCommand(host, "chat", "save a b")).fault?.code).toBe("usage");
    expect((await tryCommand(host, "chat", "burn a")).fault?.message).toContain("list | save TAG");
    await command(host, "chat", "save ok");
    const folder = join(home, "chats", readdirSync(join(home, "chats"))[0] ?? "");
    writeFileSync(join(folder, "bad.json"), '{"cwd":"x","savedAt":1,"messages":[{"role":"nobody"}]}');
    mkdirSync(join(folder, "folder.json"));
    expect((await tryCommand(host, "chat", "resume bad")).fault?.message).toContain("'bad' cannot be read");
    expect((await tryCommand(host, "chat", "resume folder")).fault?.message).toContain("'folder' cannot be read");
    expect((await tryCommand(host, "chat", "resume of")).fault?.message).toContain("there are");
    expect(await host.finish()).toBe(0);
  });
});

describe("settings", () => {
  it("offers modes and changes them, as the host would", async () => {
    const host = await opened();
    expect(await command(host, "mode")).toMatchObject({ type: "dialog", dialog: "mode" });
    expect((await tryCommand(host, "mode", "yollo")).fault?.message).toContain("did you mean 'yolo'?");
    expect(await told(host, "mode", "auto_edit")).toContain("auto_edit");
    expect((await host.next("session.updated")).config?.mode).toBe("auto_edit");
    const after = await command(host, "mode");
    const choices = after.type === "dialog" ? (after.choices ?? []) : [];
    expect(choices.filter(({ current }) => current === true).map(({ value }) => value)).toEqual(["auto_edit"]);
  });

  it("offers models, changes the model, and names the nearest one when it cannot", async () => {
    const env = { ANTHROPIC_API_KEY: "test-key-123456" };
    const host = await opened({ env });
    expect(await command(host, "model")).toMatchObject({
      dialog: "model",
      choices: [
        { value: "rehearsal", current: true },
        { value: "claude-sonnet-4-6", current: false },
      ],
    });
    expect((await tryCommand(host, "model", "rehersal.yaml")).fault?.message).toContain("rehersal.yaml");
    expect(await command(host, "model", "rehersal")).toMatchObject({
      level: "warning",
      text: expect.stringContaining("did you mean 'rehearsal'?"),
    });
    expect((await tryCommand(host, "model", "gpt-5.4")).fault?.message).toContain("OPENAI_API_KEY");
    expect(await command(host, "model", "claude-sonet-4-6")).toMatchObject({ level: "warning" });
    expect(await told(host, "model", "claude-sonnet-4-6")).toBe("The model is claude-sonnet-4-6 (anthropic) from the next turn on");
    expect(host.ofType("session.updated").at(-1)?.config).toMatchObject({ provider: "anthropic", model: "claude-sonnet-4-6" });
  });

  it("does not lose a change that comes while another one is made", async () => {
    const host = await opened();
    host.send({ type: "turn.prompt", session: "s", parts: [], command: { name: "mode", args: "yolo" } });
    host.send({ type: "session.configure", id: "c", session: "s", patch: { provider: "rehearsal", maxTurns: 7 } });
    await host.next("session.updated", (event) => event.config?.mode === "yolo" && event.config.maxTurns === 7);
    expect(host.ofType("session.updated").at(-1)?.config).toMatchObject({ mode: "yolo", maxTurns: 7 });
  });
});

describe("sessions", () => {
  it("offers those of this workspace, and tells the host which to open", async () => {
    const home = scratch();
    const cwd = scratch();
    const env = { PARLEY_HOME: home };
    const first = start({ cwd, env, responses: ["hi"] });
    first.send({ type: "session.open", session: "one", open: "new" });
    await first.next("session.ready");
    first.prompt("paint the door", { session: "one" });
    await first.turnEnded();
    expect(await first.finish()).toBe(0);
    const stranger = await opened({ env });
    expect(await stranger.finish()).toBe(0);

    const host = await opened({ cwd, env, args: ["--no-session"] });
    expect((await tryCommand(host, "resume")).fault?.message).toContain("switched off");
    const kept = start({ cwd, env });
    kept.send({ type: "session.open", session: "two", open: "new" });
    await kept.next("session.ready");
    kept.send({ type: "turn.prompt", id: "r", session: "two", parts: [], command: { name: "resume" } });
    const { data } = await kept.next("reply", (event) => event.parent === "r");
    expect(data).toMatchObject({
      result: {
        type: "dialog",
        dialog: "resume",
        choices: expect.arrayContaining([
          expect.objectContaining({ value: "one", label: "paint the door", current: false }),
          expect.objectContaining({ value: "two", current: true }),
        ]),
      },
    });
    expect(JSON.stringify(data)).not.toContain('"value":"s"');
    kept.send({ type: "turn.prompt", id: "o", session: "two", parts: [], command: { name: "resume", args: "one" } });
    expect((await kept.next("reply", (event) => event.parent === "o")).data).toMatchObject({
      result: { dialog: "resume", choices: [{ value: "one" }] },
    });
    kept.send({ type: "turn.prompt", id: "x", session: "two", parts: [], command: { name: "resume", args: "tow" } });
    expect((await kept.next("reply", (event) => event.parent === "x")).fault?.message).toContain("did you mean 'two'?");
  });

  it("leaves themes and leaving to the host", async () => {
    const host = await opened();
    expect(await command(host, "theme")).toMatchObject({ type: "dialog", dialog: "theme" });
    expect(await command(host, "theme", "dark")).toMatchObject({ dialog: "theme", choices: [{ value: "dark" }] });
    expect(await command(host, "quit")).toMatchObject({ type: "dialog", dialog: "quit" });
  });
});

describe("a skill", () => {
  const SKILL = "---\ndescription: Greets\nargument-hint: <who>\n---\nGreet $1. Never mind @secret.txt.";

  it("is a command with completion and help, and becomes a prompt", async () => {
    const cwd = tree({ ".parley/skills/greet/SKILL.md": SKILL, ".parley/skills/help/SKILL.md": SKILL });
    const host = await opened({ cwd, responses: [{ expect: { lastUser: "Greet Ada." }, say: "Hello Ada" }] });
    const { commands = [] } = await host.next("catalog.updated");
    expect(commands.filter(({ source }) => source === "skill")).toEqual([
      { name: "greet", description: "Greets", argumentHint: "<who>", source: "skill" },
    ]);
    expect(await told(host, "help", "greet")).toBe("/greet <who>\nGreets");
    expect(await told(host, "skills")).toMatch(/^\/greet <who> {2}Greets$/m);
    expect((await suggest(host, { trigger: "slash", text: "/gr" })).suggestions).toMatchObject([{ value: "greet", description: "Greets" }]);
    expect((await tryCommand(host, "gret")).fault?.message).toContain("did you mean 'greet'?");
    expect(await command(host, "greet", "Ada")).toEqual({ type: "submit_prompt" });
    expect((await host.turnEnded()).outcome).toBe("completed");
    expect(await host.finish()).toBe(0);
  });

  it("cannot attach files by its text: only what the user wrote behind its name counts", async () => {
    const cwd = tree({ ".parley/skills/greet/SKILL.md": SKILL, "secret.txt": "the secret", "ada.txt": "who Ada is" });
    const host = await opened({ cwd, responses: [{ expect: { lastUser: "/^(?![^]*the secret)[^]*who Ada is/" }, say: "Hello" }] });
    const given = { name: "greet", args: "@ada.txt" };
    host.send({ type: "turn.prompt", session: "s", parts: [], command: given, mentions: true });
    const ended = await host.turnEnded();
    expect(ended.outcome, ended.reason).toBe("completed");
  });

  it("that appears later can be used at once and is told, and memory files are in /context", async () => {
    const cwd = tree({ "AGENTS.md": "Be brief." });
    const host = await opened({ cwd });
    expect(await told(host, "context")).toMatch(/^Memory files +1, about 3 tokens\n {2}\S*AGENTS\.md +about 3 tokens$/m);
    expect(await told(host, "agents")).toMatch(/^explore +\S/m);
    put(cwd, { ".parley/skills/late/SKILL.md": SKILL });
    expect(await command(host, "late", "Ada")).toEqual({ type: "submit_prompt" });
    await host.next("catalog.updated", ({ commands = [] }) => commands.some(({ name }) => name === "late"));
  });
});
