/** The ways out of a chat: Ctrl-C, Ctrl-D, /quit, signals, and what is left on the screen. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import { chat, CTRL_C, CTRL_D, hasTerminal, TROUBLE, untilThere } from "./chat.js";

describe.skipIf(!hasTerminal)("Ctrl-C", () => {
  it("interrupts a turn, clears a line, and on an empty one leaves the second time and says how to go on", async () => {
    const [cwd, env] = [scratch(), { PARLEY_HOME: scratch() }];
    const talk = chat({ cwd, env });
    await talk.enter("wait forever");
    await talk.shows("> wait forever", "Esc to interrupt");
    await talk.press("half");
    await talk.shows("half");
    await talk.press(CTRL_C);
    await talk.shows("(interrupted", "half");
    await talk.press(CTRL_C);
    await talk.hides("half");
    await talk.press(CTRL_C);
    await talk.shows("Ctrl-C once more leaves");
    await talk.press(CTRL_C);
    await talk.exits(130);
    expect(talk.text).toMatch(/\nGo on later with: parley --resume \S+$/);
    expect(talk.text).not.toMatch(TROUBLE);
    const [, id = ""] = /--resume (\S+)$/.exec(talk.text) ?? [];
    const again = chat({ cwd, env, args: ["--resume", id] });
    await again.shows("> wait forever");
    await again.leave();
  });

  it("leaves only when nothing was pressed between", async () => {
    const talk = chat();
    await talk.shows("default · rehearsal");
    await talk.press(CTRL_C);
    await talk.shows("Ctrl-C once more leaves");
    await talk.press("say heron");
    await talk.hides("Ctrl-C once more leaves");
    await talk.press("\r");
    await talk.shows("> say heron", "heron", "tokens in");
    await talk.press(CTRL_C, CTRL_C);
    await talk.exits(130);
  });

  it("at a question interrupts the turn, and the chat goes on", async () => {
    const talk = chat();
    await talk.enter("run `echo x`");
    await talk.shows("│ $ echo x");
    await talk.press(CTRL_C);
    await talk.shows("cancelled", "(interrupted");
    await talk.hides("│ $ echo x");
    await talk.enter("say heron");
    await talk.shows("> say heron", "heron", "tokens in");
    await talk.leave();
    expect(talk.text).not.toMatch(TROUBLE);
  });
});

describe.skipIf(!hasTerminal)("Ctrl-D", () => {
  it("leaves on an empty line, and says nothing where nothing was said", async () => {
    const talk = chat();
    await talk.shows("default · rehearsal");
    await talk.press(CTRL_D);
    await talk.exits(0);
    expect(talk.text).not.toContain("Go on later");
    expect(talk.text).not.toMatch(/──|default · rehearsal/);
  });

  it("does not leave on a half-written line", async () => {
    const talk = chat();
    await talk.press("say heron", CTRL_D, "\r");
    await talk.shows("> say heron", "heron", "tokens in");
    await talk.leave();
  });

  it("at a question denies the call, and leaves when the turn has ended", async () => {
    const talk = chat();
    await talk.enter("run `echo x`");
    await talk.shows("│ $ echo x");
    await talk.press(CTRL_D);
    await talk.exits(0);
    expect(talk.text).toContain("denied: the terminal was closed");
    expect(talk.text).not.toMatch(TROUBLE);
  });
});

describe.skipIf(!hasTerminal)("leaving during a turn", () => {
  it("lets it end", async () => {
    const cwd = scratch();
    const talk = chat({ cwd, args: ["--auto-approve"], responses: [{ call: untilThere("go") }, { say: "Done." }] });
    await talk.enter("go");
    await talk.shows("● Bash until");
    await talk.enter("/quit");
    await talk.shows("Leaving when the turn has ended");
    writeFileSync(join(cwd, "go"), "");
    await talk.shows("Done.", "tokens in", "Go on later with");
    await talk.exits(0);
  });

  it("may be hurried with Ctrl-C", async () => {
    const talk = chat();
    await talk.enter("wait forever");
    await talk.shows("> wait forever", "Esc to interrupt");
    await talk.press(CTRL_D);
    await talk.shows("Leaving when the turn has ended");
    await talk.press(CTRL_C);
    await talk.exits(130);
    expect(talk.text).toContain("(interrupted");
  });
});

describe.skipIf(!hasTerminal)("a terminal that is given back", () => {
  it("shows its cursor, marks no pastes, and reports no focus", async () => {
    const talk = chat();
    await talk.enter("say heron");
    await talk.shows("heron", "tokens in");
    await talk.leave();
    for (const mode of ["2004", "1004"])
      expect(talk.pty.raw.lastIndexOf(`\u001b[?${mode}l`)).toBeGreaterThan(talk.pty.raw.lastIndexOf(`\u001b[?${mode}h`));
    expect(talk.pty.raw.lastIndexOf("\u001b[?25h")).toBeGreaterThan(talk.pty.raw.lastIndexOf("\u001b[?25l"));
    expect(talk.text.trimEnd()).toMatch(/Go on later with: parley --resume \S+$/);
  });
});
