/** Files and images in a prompt at the terminal: what was attached is said, and an image that is pasted becomes a mention. */
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tree } from "../extensions/files.js";
import { scratch, script } from "../process/harness.js";
import { inTerminal, shellLine } from "../process/terminal.js";
import { Chat, chat, CLEAR_LINE, hasTerminal, pasted } from "./chat.js";
import { speaker } from "./speaker.js";

const CTRL_V = "\u0016";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

describe.skipIf(!hasTerminal)("a mention in a prompt", () => {
  it("says what was attached, or that it is not there", async () => {
    const cwd = tree({ "a.txt": "apple", "src/b.ts": "plum" });
    const talk = chat({ cwd, responses: [{ expect: { lastUser: "/apple[^]*plum/" }, say: "Seen." }] });
    await talk.enter("see @a.txt, @src/b.ts, @src/gone.ts and @gone.md");
    const missing = "src/gone.ts (there is no such file); gone.md (there is no such file)";
    await talk.shows("Attached a.txt, src/b.ts", `! Not attached to the prompt: ${missing}`, "Seen.", "tokens in");
    await talk.leave();
  });

  it("is made of the path of an image that is pasted, and attaches it", async () => {
    const cwd = tree({ "my shot.png": PNG });
    const talk = chat({ cwd, responses: [{ expect: { lastUser: "/Attached image .*my shot\\.png/" }, say: "Seen." }] });
    await talk.shows("default · rehearsal");
    await talk.press(`see ${pasted(join(cwd, "my\\ shot.png"))}`);
    await talk.shows(`see @${cwd}/my\\ shot.png`);
    await talk.press("\r");
    await talk.shows("Attached", "my shot.png", "Seen.", "tokens in");
    await talk.leave();
  });
});

/** A program in place of those that read the clipboard. */
function clipboard(lines: string): Record<string, string> {
  const folder = tree({ "wl-paste": `#!/bin/sh\n${lines}\n`, xclip: "#!/bin/sh\nexit 1\n", pngpaste: "#!/bin/sh\nexit 1\n" });
  for (const name of ["wl-paste", "xclip", "pngpaste"]) chmodSync(join(folder, name), 0o755);
  return { PATH: `${folder}:${process.env["PATH"] ?? ""}` };
}

describe.skipIf(!hasTerminal)("an image on the clipboard", () => {
  it.each([
    ["Ctrl-V", CTRL_V],
    ["a paste without text", pasted("")],
  ])("is pasted by %s, and goes with the prompt that holds its word", async (_, keys) => {
    const model = await speaker();
    const file = join(tree({ "shot.png": PNG }), "shot.png");
    const talk = chat({ args: model.args, env: clipboard(`[ "$*" = "--type image/png" ] && cat '${file}'`) });
    await talk.shows("default · local m");
    await talk.press("what is ", keys);
    await talk.shows("what is [image #1]");
    await talk.press("here?\r");
    await model.say("A dot.");
    await model.end();
    await talk.shows("> what is [image #1] here?", "A dot.", "tokens in");
    expect(model.bodies[0]).toContain(PNG.toString("base64"));
    await talk.enter("and now?");
    await model.say("No more.");
    await model.end();
    await talk.shows("No more.", "tokens in");
    await talk.leave();
  });

  it("that is not there, or that no program can read, is said", async () => {
    const talk = chat({ env: clipboard("exit 1") });
    await talk.shows("default · rehearsal");
    await talk.press(`half ${CTRL_V}`);
    await talk.shows("! There is no image on the clipboard.", "──\nhalf");
    await talk.press(CLEAR_LINE);
    await talk.leave();

    const without = new Chat(`env PATH=${scratch()} ${shellLine(["--provider", "rehearsal"])}`);
    await without.shows("default · rehearsal");
    await without.press(CTRL_V);
    await without.shows(
      "! No program that reads images from the clipboard is here (wl-paste, xclip, pngpaste)",
      "paste the path of the image.",
    );
    await without.leave();
  });

  it("is named by its path at a terminal that can only print", async () => {
    const cwd = tree({ "my shot.png": PNG });
    const talk = inTerminal(
      shellLine([
        "--provider",
        "rehearsal",
        "--model",
        script([{ expect: { lastUser: "/Attached image .*my shot\\.png/" }, say: "Seen." }]),
      ]),
      { TERM: "dumb" },
      cwd,
    );
    await talk.type("\n> ", `'${join(cwd, "my shot.png")}'\r`);
    await talk.type("Seen.", "/quit\r");
    expect(await talk.exited).toBe(0);
  });
});
