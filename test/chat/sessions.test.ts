/** Stored conversations in the chat: the end of one is shown when it is resumed, one is exchanged for another, points are saved. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { run, scratch, start } from "../process/harness.js";
import { chat, DOWN, ENTER, ESC, hasTerminal } from "./chat.js";

describe.skipIf(!hasTerminal)("a stored session", () => {
  it("is resumed with its end on the screen, and with what the model knew", async () => {
    const [cwd, env] = [scratch(), { PARLEY_HOME: scratch() }];
    const first = chat({ cwd, env });
    await first.enter("remember the word plum");
    await first.shows("tokens in");
    await first.leave();
    const second = chat({ cwd, env, args: ["--resume", "latest"] });
    await second.shows("> remember the word plum");
    await second.enter("what word did I tell you to remember?");
    await second.shows("plum", "tokens in");
    await second.leave();
  });

  it("is changed to with /resume ID; one that cannot be opened costs nothing", async () => {
    const [cwd, env] = [scratch(), { PARLEY_HOME: scratch() }];
    const talkTo = ["--session-id", "elsewhere", "--workspace", cwd];
    await run(["-p", "remember the word plum", "--provider", "rehearsal", ...talkTo], { env });
    await run(["-p", "say heron", "--provider", "rehearsal", "--session-id", "held", "--workspace", cwd], { env });
    const holder = start({ cwd, env });
    holder.send({ type: "session.open", session: "s", open: "resume", sessionId: "held" });
    await holder.next("session.ready");
    const talk = chat({ cwd, env });
    await talk.enter("/resume");
    await talk.shows("The stored sessions", `→ say heron ${cwd} · just now`, `remember the word plum ${cwd} · just now`);
    await talk.press(ESC);
    await talk.hides("The stored sessions");
    await talk.enter("/resume held");
    await talk.shows("Error: ", String(holder.child.pid));
    await talk.enter("/resume nowhere");
    await talk.shows("Error: No session 'nowhere'");
    expect(talk.text).not.toMatch(/01[0-9A-Z]{24}/);
    await talk.enter("/resume");
    await talk.shows("The stored sessions");
    await talk.press(DOWN, ENTER);
    await talk.shows("parley · ", "> remember the word plum");
    await talk.enter("what word did I tell you to remember?");
    await talk.shows("plum", "tokens in");
    await talk.leave();
    expect(await holder.finish()).toBe(0);
  });
});

describe.skipIf(!hasTerminal)("the conversation", () => {
  it("begins anew with /clear, and is what it was with /chat resume", async () => {
    const talk = chat();
    await talk.enter("remember the word plum");
    await talk.shows("tokens in");
    await talk.enter("/chat save fruit");
    await talk.shows("Saved as 'fruit'");
    await talk.enter("/chat list");
    await talk.shows("fruit");
    await talk.enter("/clear");
    await talk.shows("begins anew");
    await talk.enter("/context");
    await talk.shows("Messages       none");
    await talk.enter("/chat resume fruit");
    await talk.shows("'fruit' again");
    await talk.enter("what word did I tell you to remember?");
    await talk.shows("plum", "tokens in");
    await talk.enter("/chat delete fruit");
    await talk.shows("is gone");
    await talk.leave();
  });

  it("is written to a file with /export, and its last answer to the clipboard with /copy", async () => {
    const cwd = scratch();
    const talk = chat({ cwd });
    await talk.enter("/copy");
    await talk.shows("! There is no answer");
    await talk.enter("say heron");
    await talk.shows("tokens in");
    await talk.enter("/copy");
    await talk.shows("5 characters were sent to the terminal's clipboard; not every terminal takes them.");
    await talk.enter("/export said.md");
    await talk.shows("said.md");
    await talk.enter("/export said.md");
    await talk.shows("Error: ", "not overwritten");
    await talk.leave();
    expect(talk.screen.clipboard).toBe("heron");
    expect(readFileSync(join(cwd, "said.md"), "utf8")).toContain("## Assistant\n\nheron");
    expect(readdirSync(cwd)).toEqual(["said.md"]);
  });
});
