/** Going on with stored sessions: --continue, --resume and --fork, and a session that is picked from a list. */
import { readlinkSync, realpathSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { run, scratch, script } from "../process/harness.js";
import { Chat, DOWN, ENTER } from "../chat/chat.js";
import { marked } from "../support/processes.js";
import { hasTerminal, inTerminal, shellLine, terminal } from "../process/terminal.js";

/** Conversations in one folder and one home. */
function conversations() {
  const [home, cwd] = [scratch(), scratch()];
  return {
    home,
    cwd,
    async say(prompt: string, ...args: string[]): Promise<{ sessionId: string; text: string; code: number | null; stderr: string }> {
      const { stdout, code, stderr } = await run(["-p", prompt, "--json", ...args], { cwd, env: { PARLEY_HOME: home } });
      return { code, stderr, ...JSON.parse(stdout) };
    },
  };
}
const remembers = (words: string): string[] => [
  "--provider",
  "rehearsal",
  "--model",
  script([{ expect: { messages: 3, lastUser: words }, say: "I do" }]),
];

describe("--continue and --resume", () => {
  test.each([["-c"], ["--continue"], ["--resume=latest"]])("%s goes on with the session last used in this folder", async (flag) => {
    const { say } = conversations();
    const first = await say("say heron");
    expect(await say("and now", flag, ...remembers("and now"))).toMatchObject({ sessionId: first.sessionId, text: "I do" });
  });

  test.each([["-r"], ["--resume"]])("%s ID goes on with that session, and so does parley resume ID", async (flag) => {
    const { say, cwd, home } = conversations();
    const first = await say("say heron");
    await say("say parrot");
    expect(await say("and now", flag, first.sessionId, ...remembers("and now"))).toMatchObject({ sessionId: first.sessionId });
    const resumed = await run(["resume", first.sessionId, "-p", "go on", "--json", "--model", script([{ say: "ok" }])], {
      cwd,
      env: { PARLEY_HOME: home },
    });
    expect(JSON.parse(resumed.stdout)).toMatchObject({ sessionId: first.sessionId, outcome: "completed" });
  });

  test("--fork goes on with a copy, and the session stays as it is", async () => {
    const { say } = conversations();
    const first = await say("say heron");
    const copy = await say("and now", "--continue", "--fork", ...remembers("and now"));
    expect(copy).toMatchObject({ text: "I do" });
    expect(copy.sessionId).not.toBe(first.sessionId);
    expect(await say("and again", "--resume", first.sessionId, ...remembers("and again"))).toMatchObject({ text: "I do" });
  });

  test.each([
    [["--resume", "-p", "hi"], "--resume takes the ID of a session where nobody can pick one"],
    [["-p", "hi", "-r"], "'parley sessions' lists them"],
    [["resume"], "--continue takes the one last used in this folder"],
    [["-p", "hi", "--resume=-p"], "flag --resume takes the ID of a session, not '-p'"],
    [["-p", "hi", "--continue", "--resume", "x"], "exclude each other"],
    [["-p", "hi", "--continue", "--session-id", "x"], "exclude each other"],
    [["-p", "hi", "--fork"], "say which with --resume ID, or --continue"],
  ])("%j is wrong usage where nobody can be asked", async (args, why) => {
    const { code, stderr } = await run(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
  });

  test("--continue in a folder without a session says so", async () => {
    expect(await run(["-p", "hi", "--continue"])).toMatchObject({ code: 1, stderr: expect.stringContaining("No session was kept in") });
  });
});

describe.skipIf(!hasTerminal)("a session that is picked at a terminal", () => {
  test("is taken from the chat's list, where the newest is marked and title, folder and age are shown", async () => {
    const { say, cwd, home } = conversations();
    const first = await say("say heron");
    await say("say parrot");
    const pty = new Chat(shellLine(["--resume", "-p", "say egret", "--json"]), { cwd, env: { PARLEY_HOME: home } });
    await pty.shows("Which session?", `→ say parrot ${cwd} · just now`, `say heron ${cwd} · just now`);
    await pty.press(DOWN, ENTER);
    await pty.exits(0);
    expect(pty.text).not.toContain("Which session?");
    expect(pty.text.replaceAll("\n", "")).toContain(`"sessionId":"${first.sessionId}"`);
  });

  test("is gone on with in the chat", async () => {
    const { say, cwd, home } = conversations();
    await say("say heron");
    await say("say parrot");
    const pty = new Chat(shellLine(["-r", "--provider", "rehearsal"]), { cwd, env: { PARLEY_HOME: home } });
    await pty.shows("Which session?", "→ say parrot");
    await pty.press("heron", ENTER);
    await pty.shows("parley · ", "> say heron", "heron");
    await pty.isReady(2);
    await pty.leave();
  });

  test.each([
    ["a dumb terminal", { TERM: "dumb" }, ""],
    ["a terminal whose output goes into a pipe", {}, " | cat"],
  ])("is picked by its number at %s", async (_, env, behind) => {
    const { say, cwd, home } = conversations();
    const first = await say("say heron");
    await say("say parrot");
    const pty = inTerminal(shellLine(["--resume", "-p", "say egret", "--json"]) + behind, { PARLEY_HOME: home, ...env }, cwd);
    await pty.type("Which one (a number, or nothing)?", "2\r");
    expect(await pty.exited).toBe(0);
    expect(pty.seen).toMatch(/1\. say parrot {2}.* just now/);
    expect(pty.seen).toContain(`"sessionId":"${first.sessionId}"`);
  });

  test.each([
    ["Esc", "\u001b", "No session was picked", 2],
    ["Ctrl-D", "\u0004", "No session was picked", 2],
    ["Ctrl-C", "\u0003", "", 130],
  ])("%s leaves, and nothing runs", async (_, keys, why, code) => {
    const { say, cwd, home } = conversations();
    await say("say heron");
    const pty = terminal(["--resume", "-p", "say egret"], { PARLEY_HOME: home }, cwd);
    await pty.type("Which session?", keys);
    expect(await pty.exited).toBe(code);
    expect(pty.seen).toContain(why);
    expect(pty.seen).not.toContain("egret");
  });

  test("leaves the terminal as it was, also when it is ended by a signal", async () => {
    const { say, cwd, home } = conversations();
    await say("say heron");
    const mark = marked();
    const pty = inTerminal(`${shellLine(["--resume"])}; echo "code $?"; stty -a`, { ...mark.env, PARLEY_HOME: home }, cwd);
    await pty.type("Which session?", "");
    const nodes = mark.alive().filter((pid) => readlinkSync(`/proc/${pid}/exe`) === realpathSync(process.execPath));
    for (const pid of nodes) process.kill(pid, "SIGTERM");
    expect(await pty.exited).toBe(0);
    expect(pty.seen).toMatch(/code 143[^]* icanon/);
  });

  test("is not asked for where none is stored", async () => {
    const pty = terminal(["--resume"]);
    expect(await pty.exited).toBe(2);
    expect(pty.seen).toContain("No session is stored");
  });
});
