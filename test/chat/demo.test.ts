/** The demo at a terminal, which is a chat from its first question on. */
import { describe, expect, it } from "vitest";
import { shellLine } from "../process/terminal.js";
import { Chat, CTRL_C, CTRL_D, hasTerminal, TROUBLE } from "./chat.js";

const demo = (): Chat => new Chat(shellLine(["demo"]));

describe.skipIf(!hasTerminal)("the demo", () => {
  it("is a chat from there on", async () => {
    const talk = demo();
    await talk.shows("y once");
    await talk.enter("y");
    await talk.shows("the check passes", "tokens in");
    await talk.enter("say heron");
    await talk.shows("> say heron", "heron", "tokens in");
    await talk.leave();
    expect(talk.text).toContain("What to type next");
  });

  it("can be interrupted, and left", async () => {
    const talk = demo();
    await talk.shows("y once");
    await talk.press(CTRL_C);
    await talk.shows("(interrupted");
    await talk.press(CTRL_C, CTRL_C);
    await talk.exits(130);
    expect(talk.text).not.toMatch(TROUBLE);
  });

  it("says what to type next in rows that a narrow window has room for", async () => {
    const talk = new Chat(shellLine(["demo"]), { size: { columns: 90, rows: 30 } });
    await talk.shows("y once");
    await talk.press(CTRL_D);
    await talk.exits(0);
    await talk.showsRow(/^ {2}node \S+parley\.js doctor$/);
    await talk.showsRow(/^ {4}what is here, what is missing$/);
  });

  it("is left with Ctrl-D at its question, which denies the call", async () => {
    const talk = demo();
    await talk.shows("y once");
    await talk.press(CTRL_D);
    await talk.exits(0);
    expect(talk.text).toMatch(/denied: the terminal was closed/);
    expect(talk.text).not.toMatch(TROUBLE);
  });
});
