/** The chat where the terminal can do less: no colours, no marks beyond ASCII, or nothing but lines. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratch, script } from "../process/harness.js";
import { terminal } from "../process/terminal.js";
import { bash, chat, CTRL_C, CTRL_D, hasTerminal } from "./chat.js";

const ESCAPE = "\u001b";
const MARKDOWN = "# Ducks\n\n- one **bold** bird\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```js\nconst a = 1;\n```\n";

describe.skipIf(!hasTerminal)("NO_COLOR", () => {
  it("takes the colours away and nothing else", async () => {
    const talk = chat({ env: { NO_COLOR: "1" }, responses: [{ think: "Hmm.", say: MARKDOWN }] });
    await talk.enter("go");
    await talk.shows("✻ Hmm.", "Ducks", "one bold bird", "const a = 1;", "tokens in");
    await talk.leave();
    expect(talk.pty.raw).not.toMatch(new RegExp(`${ESCAPE}\\[(?:[0-9;]*;)?(?:3\\d|9\\d|38|4[0-7])[0-9;]*m`));
  });
});

describe.skipIf(!hasTerminal)("a locale without UTF-8", () => {
  it("has marks of ASCII only", async () => {
    const talk = chat({
      env: { LANG: "C" },
      responses: [{ think: "Hmm.", say: MARKDOWN, call: bash("seq 50") }, { say: "Done." }],
    });
    await talk.enter("go");
    await talk.shows("~ Hmm.", "Ducks", "one bold bird", "| a | b |", "| $ seq 50", "y once");
    await talk.enter("y");
    await talk.shows("* Bash seq 50", "... 40 more lines (Ctrl-O shows them)", "Done.", "tokens in");
    await talk.enter("/mode");
    await talk.shows("> * default");
    await talk.press(CTRL_C);
    await talk.hides("> * default");
    await talk.leave();
    // oxlint-disable-next-line no-control-regex
    expect(talk.pty.raw).not.toMatch(/[^\u0000-\u007f]/);
  });
});

describe.skipIf(!hasTerminal)("TERM=dumb", () => {
  const dumb = (responses: unknown[], cwd = scratch()) =>
    terminal(["--provider", "rehearsal", "--model", script(responses, "orders")], { TERM: "dumb" }, cwd);

  it("has nothing but text: answers, calls, changes, questions and commands", async () => {
    const cwd = scratch();
    const pty = dumb(
      [{ think: "Hmm.", say: "Now", call: { tool: "Write", args: { file_path: "a.txt", content: "x\n" } } }, { say: "Done." }],
      cwd,
    );
    await pty.type("\n> ", "go\n");
    await pty.type("Write a.txt needs your approval.", "");
    await pty.type("+x", "");
    await pty.type("y  once", "");
    await pty.type("Allow?", "y\n");
    await pty.type("Done.", "");
    await pty.type("(completed;", "");
    await pty.type("\n> ", "/mode\n");
    await pty.type("3. plan", "");
    await pty.type("Which one (a number, or nothing)?", "3\n");
    await pty.type("The mode is plan", "");
    await pty.type("plan> ", "say heron\n");
    await pty.type("heron", "");
    await pty.type("plan> ", "/quit\n");
    expect(await pty.exited).toBe(0);
    expect(existsSync(join(cwd, "a.txt"))).toBe(true);
    expect(pty.raw).not.toContain(ESCAPE);
  });

  it("keeps the ends of long output, and has marks of ASCII only where the locale is not UTF-8", async () => {
    const args = [
      "--provider",
      "rehearsal",
      "--allowed-tools",
      "Bash",
      "--model",
      script([{ call: bash("seq -f 'line %g' 50") }, { say: "Done." }]),
    ];
    const pty = terminal(args, { TERM: "dumb", LANG: "C" });
    await pty.type("\n> ", "go\n");
    await pty.type("Done.", "");
    await pty.type("(completed;", "/quit\n");
    expect(await pty.exited).toBe(0);
    expect(pty.seen).toMatch(/\* Bash seq[^]*\| line 6\r?\n.*\.\.\. 38 more lines\r?\n.*\| line 45[^]*\| line 50\r?\n/);
    // oxlint-disable-next-line no-control-regex
    expect(pty.raw).not.toMatch(/[^\u0000-\u007f]/);
  });

  it("queues a line that is written during a turn, and is left with Ctrl-D", async () => {
    const pty = dumb([{ steps: [{ say: "Wait" }, { wait: "forever" }] }]);
    await pty.type("\n> ", "go\n");
    await pty.type("Wait", "say heron\n");
    await pty.type("waits for the end of the turn", CTRL_C);
    expect(await pty.exited).toBe(130);
    const left = dumb(["unasked"]);
    await left.type("\n> ", CTRL_D);
    expect(await left.exited).toBe(0);
  });
});
