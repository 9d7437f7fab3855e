/** Turns are taken back by the command /rewind, in the chat, and by `parley sessions rewind`. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chat, ENTER, hasTerminal } from "../chat/chat.js";
import { command, suggest, told, tryCommand } from "../extensions/asking.js";
import { run, scratch } from "../process/harness.js";
import { conversation, stored } from "../words/sessions.js";
import { contents, running, turn, write, type Run } from "./undoing.js";

const one = (name: string, content: string) => [{ call: write(name, content) }, { say: "Done." }];
const THREE = [...one("a.txt", "1"), ...one("b.txt", "1"), { say: "Hello." }];

async function threeTurns(more: unknown[] = []): Promise<Run> {
  const started = await running({ "a.txt": "0" }, [...THREE, ...more]);
  for (const id of ["t1", "t2", "t3"]) await turn(started.host, id);
  return started;
}

describe("/rewind", () => {
  it("lists the turns, the last one first, beside a turn, too", async () => {
    const { host } = await threeTurns([{ steps: [{ wait: "forever" }] }]);
    const choices = [
      { value: "1", label: "do t3", description: "just now" },
      { value: "2", label: "do t2", description: "just now, 1 file" },
      { value: "3", label: "do t1", description: "just now, 1 file" },
    ];
    expect(await command(host, "rewind")).toMatchObject({ type: "dialog", dialog: "rewind", choices });
    expect((await suggest(host, { trigger: "slash", text: "/rewind " })).suggestions.map(({ value }) => value)).toEqual(
      expect.arrayContaining(["rewind 2"]),
    );
    host.prompt("go", { turn: "t4" });
    await host.next("turn.started", (event) => event.turn === "t4");
    expect(await command(host, "rewind")).toMatchObject({ choices: [{ label: "go" }, ...choices.map(({ label }) => ({ label }))] });
  });

  it("takes back as many turns as it is told, and then the model knows nothing of them", async () => {
    const { host, cwd } = await threeTurns([{ expect: { messages: 5, lastUser: "do t4" }, say: "Again." }]);
    expect(await told(host, "rewind", "2")).toBe("The conversation is as it was before.\nAs before: b.txt");
    expect(contents(cwd, "a.txt", "b.txt")).toEqual({ "a.txt": "1", "b.txt": null });
    expect(await turn(host, "t4")).toMatchObject({ outcome: "completed" });
    expect(await host.finish()).toBe(0);
  });

  it("takes the id of a turn, names what was left, and takes one of the two and force", async () => {
    const { host, cwd } = await threeTurns();
    writeFileSync(join(cwd, "b.txt"), "mine");
    expect(await command(host, "rewind", "t1 --files")).toEqual({
      type: "message",
      level: "warning",
      text: expect.stringMatching(/^As before: a\.txt\nLeft as it is: b\.txt \(it was changed since.*\n--force /),
    });
    expect(await told(host, "rewind", "--force t1 --files")).toBe("As before: b.txt");
    expect(contents(cwd, "a.txt", "b.txt")).toEqual({ "a.txt": "0", "b.txt": null });
    expect(await told(host, "rewind", "-1 --conversation")).toBe("The conversation is as it was before.");
    for (const args of ["9", "t9", "0", "1 2", "--files", "1 --all"])
      expect((await tryCommand(host, "rewind", args)).fault, args).toMatchObject({ code: "usage" });
    expect(await told(host, "rewind", "2")).toMatch(/conversation is as it was/);
    expect(await told(host, "rewind")).toBe("There is no turn to take back.");
    expect(await host.finish()).toBe(0);
  });
});

describe.skipIf(!hasTerminal)("the chat", () => {
  it("takes back the last turn and goes on from there", async () => {
    const cwd = scratch({ "a.txt": "0" });
    const talk = chat({
      cwd,
      args: ["--auto-approve"],
      responses: [...one("a.txt", "1"), ...one("a.txt", "2"), { expect: { messages: 5 }, say: "all well" }],
    });
    await talk.enter("the first");
    await talk.shows("> the first", "Done.", "tokens in");
    await talk.enter("the second");
    await talk.shows("> the second", "Done.", "tokens in");
    await talk.enter("/rewind");
    await talk.shows("Back to before which turn?", "→ the second", "the first");
    await talk.press(ENTER);
    await talk.shows("As before: a.txt");
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("1");
    await talk.enter("go on");
    await talk.shows("all well", "tokens in");
    await talk.leave();
  });
});

describe("`parley sessions rewind`", () => {
  const rewinding = async (home: string, ...args: string[]) => run(["sessions", "rewind", ...args], { env: { PARLEY_HOME: home } });

  it("takes back turns of a session that nobody has open, by id or counted from the last", async () => {
    const { host, home, cwd } = await threeTurns();
    const busy = await rewinding(home, "s", "-1");
    expect(busy).toMatchObject({ code: 1, stderr: expect.stringMatching(/'s' is in use by process/) });
    expect(await host.finish()).toBe(0);
    expect(await rewinding(home, "s", "-1")).toMatchObject({ code: 0, stderr: "" });
    expect(await rewinding(home, "s", "-1", "--files")).toEqual({
      code: 0,
      stdout: "Session 's' went back to before that turn.\nas before: b.txt\n",
      stderr: "",
    });
    expect(await rewinding(home, "s", "t1", "--json")).toEqual({ code: 0, stdout: '{"files":["a.txt"],"left":[]}\n', stderr: "" });
    expect(contents(cwd, "a.txt", "b.txt")).toEqual({ "a.txt": "0", "b.txt": null });
    expect(conversation(await stored(home))).toEqual([]);
  });

  it("names files that others changed, leaves with 1, and takes them back when it is forced", async () => {
    const { host, home, cwd } = await threeTurns();
    expect(await host.finish()).toBe(0);
    writeFileSync(join(cwd, "a.txt"), "mine");
    const left = await rewinding(home, "s", "t1", "--files");
    expect(left).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/as before: b\.txt\nleft as it is: a\.txt \(it was changed since/),
    });
    expect(contents(cwd, "a.txt", "b.txt")).toEqual({ "a.txt": "mine", "b.txt": null });
    expect(await rewinding(home, "s", "t1", "--force")).toMatchObject({ code: 0 });
    expect(contents(cwd, "a.txt")).toEqual({ "a.txt": "0" });
  });

  it("obeys the deny rules of the config and of the folder", async () => {
    const { host, home, cwd } = await threeTurns();
    expect(await host.finish()).toBe(0);
    writeFileSync(join(home, "config.yaml"), "rules: [{ deny: Write(a.txt) }]");
    expect(await rewinding(home, "s", "t1", "--force", "--json")).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^\{"files":\["b.txt"\],"left":\["a.txt"\],"why":\{"a.txt":"denied by the rule/),
    });
    expect(contents(cwd, "a.txt")).toEqual({ "a.txt": "1" });
  });

  it.each([
    [["s"], 2, /Back to before which turn/],
    [[], 2, /Which session\?/],
    [["nobody", "-1"], 1, /'nobody' not found/],
    [["s", "-9"], 2, /no turn '-9'; there are 3/],
    [["s", "t9"], 2, /no turn 't9'/],
    [["s", "-1", "more"], 2, /Unexpected argument 'more'/],
    [["s", "-1", "--all"], 2, /Unknown flag '--all'/],
  ] as const)("with %j ends with %i", async (args, code, said) => {
    const { host, home } = await threeTurns();
    expect(await host.finish()).toBe(0);
    expect(await rewinding(home, ...args)).toMatchObject({ code, stderr: expect.stringMatching(said) });
  });
});
