/** A conversation on the screen: answers, thinking, calls with their output, changes, failures. */
import { describe, expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import { bash, chat, CTRL_O, hasTerminal } from "./chat.js";

const [RED, GREEN, GREY] = [1, 2, 8];

describe.skipIf(!hasTerminal)("the conversation", () => {
  it("shows answers, dimmed thinking, calls with their output, and changes in colour", async () => {
    const cwd = scratch({ "a.txt": "one\n" });
    const talk = chat({
      cwd,
      args: ["--auto-approve"],
      responses: [
        {
          think: "Hmm, ducks.",
          say: "Now",
          calls: [bash("echo wa''ter"), { tool: "Write", args: { file_path: "a.txt", content: "two\n" } }],
        },
        { say: "Done." },
      ],
    });
    await talk.enter("go");
    await talk.shows("> go", "✻ Hmm, ducks.", "Now", "● Bash echo wa''ter", "water", "● Write a.txt", "a.txt +1 -1", "Done.", "tokens in");
    await talk.showsRow(/^ +1 - one$/);
    await talk.showsRow(/^ +1 \+ two$/);
    const colours = ["Hmm, ducks.", "1 - one", "1 + two", "Done."].map((text) => talk.screen.colourOf(text));
    expect(colours).toEqual([GREY, RED, GREEN, -1]);
    await talk.leave();
  });

  it("shows once what a failed command printed, and how it ended", async () => {
    const talk = chat({ args: ["--auto-approve"], responses: [{ call: bash("echo wa''ter; exit 3") }, { say: "Oh." }] });
    await talk.enter("go");
    await talk.shows("✗ Bash echo wa''ter; exit 3", "water", "Exit code: 3", "Oh.");
    await talk.leave();
    expect(talk.text.match(/\bwater/g)).toHaveLength(1);
  });

  it("shows an error of the provider in one line, after its retries, and goes on", async () => {
    const talk = chat({
      responses: [{ fail: { status: 500, message: "out of order", times: 1 }, say: "fine" }, { fail: 401 }],
      then: "orders",
    });
    await talk.enter("go");
    await talk.shows("! out of order. Retrying", "fine", "tokens in");
    await talk.enter("go on");
    await talk.shows("> go on", "Error: ", "(failed");
    await talk.enter("say heron");
    await talk.shows("> say heron", "heron", "tokens in");
    await talk.leave();
  });

  it("shows the first and the last lines of a long output, and all of it with Ctrl-O", async () => {
    const talk = chat({ args: ["--auto-approve"], responses: [{ call: bash("seq -f 'line %g' 100") }, { say: "Done." }] });
    await talk.enter("go");
    await talk.shows("line 1 ", "line 4", "… 90 more lines (Ctrl-O shows them)", "line 95", "line 100", "Done.");
    expect(talk.text).not.toContain("line 50");
    await talk.press(CTRL_O);
    await talk.shows("line 4 ", "line 5 ", "line 50", "line 94", "Done.");
    await talk.press(CTRL_O);
    await talk.hides("line 50");
    await talk.leave();
  });

  it("keeps the file's name in sight above a long change, which Ctrl-O unfolds", async () => {
    const content = Array.from({ length: 300 }, (_, at) => `row ${at + 1}`).join("\n");
    const talk = chat({ responses: [{ call: { tool: "Write", args: { file_path: "long.txt", content } } }, { say: "Done." }] });
    await talk.enter("go");
    await talk.shows(
      "│ Write long.txt",
      "long.txt +300 -0",
      "row 1",
      "more lines (Ctrl-O shows them)",
      "row 300",
      "n no, or write why not",
    );
    expect(talk.screen.rows.some((row) => row.includes("Write long.txt"))).toBe(true);
    await talk.press(CTRL_O);
    await talk.shows("row 150");
    await talk.press("n\r");
    await talk.shows("denied: the user said no", "Done.");
    await talk.leave();
  });
});

describe.skipIf(!hasTerminal)("a chat that cannot begin", () => {
  it("says why in one line", async () => {
    const talk = chat({ args: ["--provider", "anthropic"] });
    await talk.exits(1);
    await talk.shows("parley: ANTHROPIC_API_KEY not set; set it, or", "'parley login anthropic'");
    expect(talk.text.trim()).toMatch(/^parley: /);
  });
});
