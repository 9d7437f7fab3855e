/** Words of others on the screen: whatever a model, a tool, a file or a server says, it cannot steer the terminal. */
import { describe, expect, it } from "vitest";
import { tree } from "../extensions/files.js";
import { bash, chat, ESC, hasTerminal } from "./chat.js";

/** Clears the screen, writes to the clipboard, sets the title, rings, turns the text around, and hides. */
const EVIL = "\u001b[2J\u001b]52;c;aGVyb24=\u0007\u001b]0;gotcha\u0007\u001b]9;gotcha\u0007\u202egnp.exe\u2066\u009b31m\u001b[8mhidden";
// oxlint-disable-next-line no-control-regex
const MODES = /\u001b\[2J(?!\u001b\[H\u001b\[3J)|\u001b\](?:52|9);|\u001b\]0;gotcha|\u202e|\u2066|\u009b|\u001b\[8m/;

describe.skipIf(!hasTerminal)("hostile text", () => {
  it("of the model is shown and not obeyed: as an answer, as thinking, as code, as a link, and in a call", async () => {
    const talk = chat({
      args: ["--auto-approve"],
      responses: [
        {
          think: `thought ${EVIL}`,
          say: `said ${EVIL}\n\n\`\`\`js\nconst a = "${EVIL}";\n\`\`\`\n\n[link](http://x/${EVIL})\n\n| ${EVIL} |\n|---|\n| b |\n`,
          call: bash(`printf 'printed \\033[2J\\033]52;c;aGVyb24=\\007\\033]0;gotcha\\007 end'; true # ${EVIL}`),
        },
        { fail: { status: 400, message: `failed ${EVIL}` } },
      ],
    });
    await talk.enter("go");
    await talk.shows(
      "✻ thought",
      "said \\u001b[2J",
      "\\u202egnp.exe",
      "hidden",
      "● Bash printf",
      "printed \\u001b[2J",
      "end",
      "Error: failed",
    );
    await talk.press("x");
    await talk.shows("x");
    expect(talk.pty.raw).not.toMatch(MODES);
    expect([talk.screen.clipboard, talk.screen.notified, talk.screen.title]).toEqual([undefined, [], expect.stringMatching(/^parley/)]);
    await talk.press("\u0015");
    await talk.leave();
  });

  it("of an approval and a question is shown and not obeyed", async () => {
    const talk = chat({
      responses: [
        { call: { tool: "Write", args: { file_path: `a${EVIL}.txt`, content: `new ${EVIL}` } } },
        {
          call: {
            tool: "AskUser",
            args: { questions: [{ question: `Which ${EVIL}?`, options: [{ label: `one ${EVIL}` }, { label: "two" }] }] },
          },
        },
        { say: "well" },
      ],
    });
    await talk.enter("go");
    await talk.shows("│ a\\u001b[2J", "new \\u001b[2J", "y once");
    await talk.enter("n");
    await talk.shows("│ Which", "1 one", "2 two");
    await talk.enter("2");
    await talk.shows("well");
    expect(talk.pty.raw).not.toMatch(MODES);
    await talk.leave();
  });

  it("of file names, skills and the history is shown and not obeyed in lists", async () => {
    const cwd = tree({
      [`ducks\u001b[2J\u202e.txt`]: "",
      "pond.txt": "",
      ".parley/skills/greet/SKILL.md": `---\ndescription: "${String.raw`x\e[2J\u202e`}"\n---\nHi.\n`,
    });
    const home = tree({ history: `${JSON.stringify(`earlier ${EVIL}`)}\n` });
    const talk = chat({ cwd, env: { PARLEY_HOME: home } });
    await talk.shows("default · rehearsal");
    await talk.press("see @on");
    await talk.shows("→ pond.txt");
    await talk.press("\u0015see @duck");
    await talk.hides("→ pond.txt");
    expect(talk.text).not.toContain("ducks");
    await talk.press("\u0015/gre");
    await talk.shows("→ greet");
    await talk.press("\u0015\u0012");
    await talk.shows("Earlier prompts", "→ earlier");
    expect(talk.pty.raw).not.toMatch(MODES);
    await talk.press(ESC);
    await talk.hides("Earlier prompts");
    await talk.leave();
  });

  it("pasted into the input is shown and not obeyed", async () => {
    const talk = chat({ responses: [{ say: "well" }] });
    await talk.shows("default · rehearsal");
    await talk.press(`\u001b[200~pasted ${EVIL} end\u001b[201~`);
    await talk.shows("pasted", "end");
    await talk.press("\r");
    await talk.shows("> pasted", "well", "tokens in");
    expect(talk.pty.raw).not.toMatch(MODES);
    await talk.leave();
  });
});
