/** Lines at the keyboard: history over restarts, completion, several lines at once. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tree } from "../extensions/files.js";
import { scratch } from "../process/harness.js";
import { chat, CLEAR_LINE, CTRL_C, CTRL_Z, hasTerminal, pasted, shellWith, TAB, UP } from "./chat.js";

describe.skipIf(!hasTerminal)("history", () => {
  it("is kept over restarts, for the user alone, without answers and keys", async () => {
    const home = scratch();
    const env = { PARLEY_HOME: home, LAB_API_KEY: "sk-lab-0123456789" };
    const first = chat({ env });
    await first.enter("run `echo wa''ter`");
    await first.press("never mind\r", "Allow?");
    await first.enter("say sk-lab-0123456789");
    await first.enter("say heron");
    await first.shows("(completed;");
    await first.leave();
    expect(readFileSync(join(home, "history"), "utf8")).toBe("run `echo wa''ter`\nsay heron\n/quit\n");
    expect(statSync(join(home, "history")).mode & 0o777).toBe(0o600);

    const second = chat({ env });
    await second.press(UP + UP);
    await second.press("\r", "> say heron");
    await second.shows("heron\r\n", "(completed;");
    await second.leave();
  });

  it("that cannot be kept costs nothing else", async () => {
    const file = join(scratch({ file: "" }), "file");
    const talk = chat({ env: { PARLEY_HOME: join(file, "home") }, args: ["--no-session"] });
    await talk.enter("say heron");
    await talk.shows("heron\r", "heron\r", "(completed;");
    await talk.leave();
  });
});

describe.skipIf(!hasTerminal)("Tab", () => {
  it("completes commands and their arguments, and shows several", async () => {
    const talk = chat();
    await talk.press("/mod");
    await talk.press(TAB, "/mod");
    await talk.press(TAB, "e");
    await talk.shows("/mode", "/model");
    await talk.press(`${CLEAR_LINE}/cont`, "> /mode");
    await talk.press(TAB, "> /cont");
    await talk.press("\r", "ext ");
    await talk.shows("System prompt");
    await talk.press("/mode pl");
    await talk.press(TAB, "/mode pl");
    await talk.press("\r", "an ");
    await talk.shows("The mode is plan");
    await talk.leave("plan> ");
  });

  it("completes paths behind an @: in a folder, with a space, and by what they contain", async () => {
    const cwd = tree({ "src/deep/alpha.ts": "", "src/deep/alpine.ts": "", "my notes.md": "remember plum", "zeta.txt": "" });
    const talk = chat({ cwd, responses: [{ expect: { lastUser: "remember plum" }, say: "Plum." }] });
    await talk.press("see @src/deep/al");
    await talk.press(TAB, "see @src/deep/al");
    await talk.press(TAB, "p");
    await talk.shows("@src/deep/alpha.ts", "@src/deep/alpine.ts");
    await talk.press(`${CLEAR_LINE}@eta`, "> see @src/deep/alp");
    await talk.press(TAB, "> @eta");
    await talk.press(`${CLEAR_LINE}see @my`, "> @zeta.txt ");
    await talk.press(TAB, "> see @my");
    await talk.press("\r", String.raw`\ notes.md `);
    await talk.shows("Plum.", "(completed;");
    await talk.leave();
  });

  it("works during a turn", async () => {
    const talk = chat();
    await talk.enter("wait forever");
    await talk.press("/cont", "wait forever\r");
    await talk.press(TAB, "> /cont");
    await talk.press("\r", "ext ");
    await talk.shows("System prompt");
    await talk.press(CTRL_C, "");
    await talk.shows("(interrupted");
    await talk.leave();
  });
});

describe.skipIf(!hasTerminal)("Ctrl-Z", () => {
  it("stops the chat and whoever waits for it; fg brings back the half-written line and every key", async () => {
    const shell = await shellWith(["--provider", "rehearsal"]);
    await shell.type("\n> ", "say he");
    await shell.type("say he", CTRL_Z);
    await shell.type("Stopped", "");
    await shell.type("shell: ", "fg\r");
    await shell.type("> say he", "ron\r");
    await shell.type("\nheron", "");
    await shell.type("(completed;", "");
    await shell.type("\n> ", "/quit\r");
    await shell.type("shell: ", "exit 7\r");
    expect(await shell.exited).toBe(7);
  });

  it("works during a turn and again, and Ctrl-C still interrupts it", async () => {
    const shell = await shellWith(["--provider", "rehearsal"]);
    await shell.type("\n> ", "wait forever\r");
    await shell.type("wait forever\r", "half");
    for (const key of [CTRL_Z, CTRL_Z, CTRL_C]) {
      await shell.type("> half", key);
      if (key === CTRL_C) break;
      await shell.type("Stopped", "");
      await shell.type("shell: ", "fg\r");
    }
    await shell.type("(interrupted", "");
    await shell.type("> half", `${CLEAR_LINE}/quit\r`);
    await shell.type("shell: ", "exit 7\r");
    expect(await shell.exited).toBe(7);
  });
});

describe.skipIf(!hasTerminal)("several lines", () => {
  it("are one prompt when they are pasted, tabs and all, and none of them is sent before Enter", async () => {
    const home = scratch();
    const talk = chat({
      env: { PARLEY_HOME: home },
      responses: [{ expect: { lastUser: "mend this: if (a) {\n\tb();\n}, please", messages: 1 }, say: "Mended." }],
    });
    await talk.press(`mend this: ${pasted("if (a) {\r\tb();\r}\r")}, please\r`);
    await talk.shows("mend this: [paste 1: 3 lines], please", "Mended.", "(completed;");
    await talk.leave();
    expect(readFileSync(join(home, "history"), "utf8")).toBe("/quit\n");
    expect(talk.pty.raw).toContain("\u001b[?2004h");
    expect(talk.pty.raw.lastIndexOf("\u001b[?2004l")).toBeGreaterThan(talk.pty.raw.lastIndexOf("\u001b[?2004h"));
  });

  it("that look like commands are none when they are pasted; one line is as good as typed", async () => {
    const talk = chat({
      responses: [
        { expect: { lastUser: "/quit\nnow" }, say: "No." },
        { expect: { lastUser: "one line" }, say: "Yes." },
      ],
    });
    await talk.press(`${pasted("/quit\rnow")}\r`);
    await talk.shows("No.", "(completed;");
    await talk.press(`${pasted("one line\r")}\r`);
    await talk.shows("one line\r", "Yes.", "(completed;");
    await talk.leave();
  });

  it("are one prompt when a backslash ends them, until Ctrl-C drops them", async () => {
    const talk = chat({ responses: [{ expect: { lastUser: "/^one\ntwo$/", messages: 1 }, say: "Two." }] });
    await talk.press("nothing\\\r");
    await talk.press(CTRL_C, "… ");
    await talk.press("one\\\r", "> ");
    await talk.press("two\r", "… ");
    await talk.shows("Two.", "(completed;");
    await talk.leave();
  });
});

describe.skipIf(!hasTerminal)("a line that is longer than the screen is wide", () => {
  it("is one prompt, and is run as it was written", async () => {
    const cwd = scratch();
    const name = `${"long".repeat(50)}.txt`;
    const talk = chat({ cwd, args: ["--auto-approve"] });
    await talk.enter(`write 'x' to ${name}`, "yolo> ");
    await talk.shows("(completed;");
    await talk.leave("yolo> ");
    expect(existsSync(join(cwd, name))).toBe(true);
  });
});
