/** Files and images in a prompt at the terminal: what was attached is said, and an image that is pasted becomes a mention. */
import { join } from "node:path";
import { describe, it } from "vitest";
import { tree } from "../extensions/files.js";
import { chat, hasTerminal, pasted } from "./chat.js";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

describe.skipIf(!hasTerminal)("a mention in a prompt", () => {
  it("says what was attached, or that it is not there", async () => {
    const cwd = tree({ "a.txt": "apple", "src/b.ts": "plum" });
    const talk = chat({ cwd, responses: [{ expect: { lastUser: "/apple[^]*plum/" }, say: "Seen." }] });
    await talk.enter("see @a.txt, @src/b.ts and @src/gone.ts");
    await talk.shows("Attached a.txt, src/b.ts", "! Not attached to the prompt: src/gone.ts (there is no such file)", "Seen.", "tokens in");
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
