/** Keys: history over restarts, completion while one types, several lines at once, the mode, Ctrl-Z. */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tree } from "../extensions/files.js";
import { scratch } from "../process/harness.js";
import {
  ALT_ENTER,
  chat,
  chatInShell,
  CLEAR_LINE,
  CTRL_C,
  CTRL_J,
  CTRL_R,
  CTRL_Z,
  DOWN,
  ENTER,
  ESC,
  hasTerminal,
  pasted,
  SHIFT_TAB,
  TAB,
  UP,
} from "./chat.js";

describe.skipIf(!hasTerminal)("history", () => {
  it("is kept over restarts, for the user alone, without answers and keys", async () => {
    const home = scratch();
    writeFileSync(join(home, "credentials"), JSON.stringify({ xai: { key: "heron-by-the-lake" }, openai: { key: "egret-by-the-sea" } }), {
      mode: 0o600,
    });
    const env = { PARLEY_HOME: home, LAB_API_KEY: "sk-lab-0123456789", OPENAI_API_KEY: "sk-another-one-0123" };
    const first = chat({ env });
    await first.enter("run `echo wa''ter`");
    await first.shows("│ $ echo wa''ter");
    await first.enter("never mind");
    await first.shows("denied: never mind", "tokens in");
    await first.enter("say sk-lab-0123456789");
    await first.enter("say heron-by-the-lake");
    await first.enter("say egret-by-the-sea");
    await first.enter("say heron");
    await first.shows("> say heron", "heron", "tokens in");
    await first.leave();
    expect(readFileSync(join(home, "history"), "utf8")).toBe("run `echo wa''ter`\nsay heron\n/quit\n");
    expect(statSync(join(home, "history")).mode & 0o777).toBe(0o600);

    const second = chat({ env });
    await second.press(UP, UP);
    await second.shows("──\nsay heron");
    await second.press(ENTER);
    await second.shows("> say heron", "heron", "tokens in");
    await second.leave();
  });

  it("that cannot be kept costs nothing else", async () => {
    const file = join(scratch({ file: "" }), "file");
    const talk = chat({ env: { PARLEY_HOME: join(file, "home") }, args: ["--no-session"] });
    await talk.enter("say heron");
    await talk.shows("> say heron", "heron", "tokens in");
    await talk.leave();
  });

  it("is searched with Ctrl-R, where a prompt of many lines is one entry", async () => {
    const home = scratch({ history: '"one\\ntwo ducks"\nsay heron\nsay plum\n' });
    const talk = chat({ env: { PARLEY_HOME: home }, responses: [{ expect: { lastUser: "/^one\ntwo ducks now$/" }, say: "Yes." }] });
    await talk.press(CTRL_R);
    await talk.shows("Earlier prompts", "say plum", "say heron", "one two ducks");
    await talk.press("duck");
    await talk.hides("heron");
    await talk.press(ENTER);
    await talk.hides("Earlier prompts");
    await talk.shows("──\none\ntwo ducks");
    await talk.press(" now\r");
    await talk.shows("> one", "two ducks now", "Yes.");
    await talk.leave();
  });
});

describe.skipIf(!hasTerminal)("completion", () => {
  it("offers commands and their arguments while one types, and Tab takes the marked one", async () => {
    const talk = chat();
    await talk.shows("default · rehearsal");
    await talk.press("/mod");
    await talk.shows("/mod ──", "→ model Shows the model", "mode Shows when");
    await talk.press(DOWN);
    await talk.shows("→ mode Shows when");
    await talk.press(TAB);
    await talk.shows("──\n/mode ──");
    await talk.press(`${CLEAR_LINE}/cont`);
    await talk.shows("→ context");
    await talk.press(ENTER);
    await talk.shows("System prompt");
    await talk.press("/mode pl");
    await talk.shows("→ plan only reads");
    await talk.press(ENTER);
    await talk.shows("The mode is plan", "plan · rehearsal");
    await talk.leave();
  });

  it("offers paths behind an @: in a folder, with a space, and by what they contain", async () => {
    const cwd = tree({ "src/deep/alpha.ts": "", "src/deep/alpine.ts": "", "my notes.md": "remember plum", "zeta.txt": "" });
    const talk = chat({ cwd, responses: [{ expect: { lastUser: "remember plum" }, say: "Plum." }] });
    await talk.shows("default · rehearsal");
    await talk.press("see @src/deep/al");
    await talk.shows("src/deep/alpha.ts", "src/deep/alpine.ts");
    await talk.press(`${CLEAR_LINE}@eta`);
    await talk.shows("→ zeta.txt");
    await talk.press(TAB);
    await talk.shows("──\n@zeta.txt");
    await talk.press(`${CLEAR_LINE}see @my`);
    await talk.shows("→ my notes.md");
    await talk.press(TAB);
    await talk.shows(String.raw`see @my\ notes.md`);
    await talk.press(ENTER);
    await talk.shows("Plum.");
    await talk.leave();
  });

  it("is put away with Esc, which changes nothing else and does not interrupt the turn", async () => {
    const talk = chat();
    await talk.enter("wait forever");
    await talk.shows("> wait forever", "Esc to interrupt");
    await talk.press("/cont");
    await talk.shows("→ context");
    await talk.press(ESC);
    await talk.hides("→ context");
    await talk.press("ext\r");
    await talk.shows("System prompt", "Esc to interrupt");
    await talk.press(ESC);
    await talk.shows("(interrupted");
    await talk.leave();
  });
});

describe.skipIf(!hasTerminal)("Shift-Tab", () => {
  it("goes through the modes, and the status says which", async () => {
    const talk = chat();
    await talk.shows("default · rehearsal");
    await talk.press(SHIFT_TAB);
    await talk.shows("auto_edit · rehearsal");
    await talk.press(SHIFT_TAB);
    await talk.shows("plan · rehearsal");
    await talk.press(SHIFT_TAB);
    await talk.shows("default · rehearsal");
    await talk.leave();
  });
});

describe.skipIf(!hasTerminal)("several lines", () => {
  it("are made with Ctrl-J, Alt-Enter and a backslash, and are one prompt", async () => {
    const home = scratch();
    const talk = chat({
      env: { PARLEY_HOME: home },
      responses: [{ expect: { lastUser: "/^one\ntwo\nthree\nfour$/", messages: 1 }, say: "Four." }],
    });
    await talk.press("one", CTRL_J, "two");
    await talk.shows("──\none\ntwo");
    await talk.press(ALT_ENTER, "three\\\r", "four");
    await talk.shows("one\ntwo\nthree\nfour\n──");
    await talk.press(ENTER);
    await talk.shows("> one", "two", "three", "four", "Four.", "tokens in");
    await talk.leave();
    expect(readFileSync(join(home, "history"), "utf8")).toBe('"one\\ntwo\\nthree\\nfour"\n/quit\n');
  });

  it("are one prompt when they are pasted, tabs and all, and none of them is sent before Enter", async () => {
    const talk = chat({
      responses: [{ expect: { lastUser: "/^mend this: if \\(a\\) \\{\n\\s+b\\(\\);\n\\}\n, please$/", messages: 1 }, say: "Mended." }],
    });
    await talk.press(`mend this: ${pasted("if (a) {\r\tb();\r}\r")}, please`);
    await talk.shows("mend this: if (a) {", "b();", "}", ", please");
    expect(talk.text).not.toContain("Mended.");
    await talk.press(ENTER);
    await talk.shows("> mend this: if (a) {", "Mended.", "tokens in");
    await talk.leave();
    expect(talk.pty.raw.lastIndexOf("\u001b[?2004l")).toBeGreaterThan(talk.pty.raw.lastIndexOf("\u001b[?2004h"));
  });

  it("stand as one word for a long paste, and are sent whole", async () => {
    const lines = Array.from({ length: 200 }, (_, at) => `line ${at}`);
    const talk = chat({ responses: [{ expect: { lastUser: `/^see ${lines.join("\n")} now$/`, messages: 1 }, say: "Seen." }] });
    await talk.press(`see ${pasted(lines.join("\r"))} now`);
    await talk.shows("see [paste #1 +200 lines] now");
    await talk.press(ENTER);
    await talk.shows("Seen.", "tokens in");
    await talk.leave();
  });

  it("that look like commands are none when they are pasted; one line is as good as typed", async () => {
    const talk = chat({
      responses: [
        { expect: { lastUser: "/quit\nnow" }, say: "No." },
        { expect: { lastUser: "one line" }, say: "Yes." },
      ],
    });
    await talk.press(`${pasted("/quit\rnow")}\r`);
    await talk.shows("> /quit", "now", "No.", "tokens in");
    await talk.press(`${pasted("one line")}\r`);
    await talk.shows("> one line", "Yes.", "tokens in");
    await talk.leave();
  });
});

describe.skipIf(!hasTerminal)("a line that is longer than the screen is wide", () => {
  it("is one prompt, and is run as it was written", async () => {
    const cwd = scratch();
    const name = `${"long".repeat(50)}.txt`;
    const talk = chat({ cwd, args: ["--auto-approve"] });
    await talk.enter(`write 'x' to ${name}`);
    await talk.shows("tokens in");
    await talk.leave();
    expect(existsSync(join(cwd, name))).toBe(true);
  });
});

describe.skipIf(!hasTerminal)("Ctrl-Z", () => {
  it("stops the chat and the program that waits for it; fg brings back the half-written line and every key", async () => {
    const talk = await chatInShell("program");
    await talk.press("say he");
    await talk.shows("say he");
    await talk.press(CTRL_Z);
    await talk.shows("Stopped");
    talk.write("fg\r");
    await talk.isReady(2);
    await talk.press("ron\r");
    await talk.shows("> say heron", "heron", "tokens in");
    await talk.enter("/quit");
    await talk.shows("Go on later with");
    talk.write("exit 7\r");
    await talk.exits(7);
  });

  it("works during a turn and again, and Ctrl-C still interrupts it", async () => {
    const talk = await chatInShell("program");
    await talk.enter("wait forever");
    await talk.shows("> wait forever");
    await talk.press("half");
    await talk.shows("──\nhalf");
    for (const times of [2, 3]) {
      talk.write(CTRL_Z);
      await talk.counts(/Stopped/, times - 1);
      talk.write("fg\r");
      await talk.isReady(times);
      await talk.shows("──\nhalf");
    }
    await talk.press(CTRL_C);
    await talk.shows("(interrupted", "half");
    await talk.press(`${CLEAR_LINE}/quit\r`);
    await talk.shows("Go on later with");
    talk.write("exit 7\r");
    await talk.exits(7);
  });

  it("leaves a chat that no shell waits for as it was", async () => {
    const talk = chat();
    await talk.press("say he");
    await talk.shows("say he");
    await talk.press(CTRL_Z);
    await talk.isReady(2);
    await talk.press("ron\r");
    await talk.shows("> say heron", "heron", "tokens in");
    await talk.leave();
  });
});

describe.skipIf(!hasTerminal)("! before a command", () => {
  it("runs it in the user's name, shows its output, and tells the model with the next prompt", async () => {
    const cwd = scratch({ "a.txt": "plum\n" });
    const talk = chat({
      cwd,
      responses: [{ expect: { lastUser: "/ran a command[^]*\\$ cat a\\.txt; exit 3\nplum\n\\(exit code 3\\)\nand now/" }, say: "I see." }],
    });
    await talk.enter("!cat a.txt; exit 3");
    await talk.shows("> !cat a.txt; exit 3", "plum", "(exit code 3)");
    await talk.enter("and now?");
    await talk.shows("> and now?", "I see.", "tokens in");
    await talk.leave();
  });

  it("is ended by Esc", async () => {
    const cwd = scratch();
    const talk = chat({ cwd });
    await talk.enter("!touch begun; exec sleep 1000");
    await talk.shows("> !touch begun", "Esc to interrupt");
    await talk.press(ESC);
    await talk.shows("(ended by SIGTERM)");
    await talk.leave();
    writeFileSync(join(cwd, "over"), "");
  });
});
