/** Commands in the chat that change it or tell about it. */
import { describe, expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import { chat, CTRL_C, hasTerminal } from "./chat.js";

const ESCAPE = "\u001b";

describe.skipIf(!hasTerminal)("commands", () => {
  it("are listed and explained by /help, and a wrong name is answered with the right one", async () => {
    const talk = chat();
    await talk.enter("/help");
    await talk.shows("/clear", "/compact", "/chat list | save TAG", "/quit");
    await talk.enter("/help compact");
    await talk.shows("Also: /compress");
    await talk.enter("/?");
    await talk.shows("The commands");
    await talk.enter("/contxt");
    await talk.shows("Error: There is no command '/contxt'; did you mean 'context'?");
    await talk.leave();
  });

  it("change the mode, which stands before the line then, and the model", async () => {
    const talk = chat({
      env: {
        PARLEY_HOME: scratch({
          "config.yaml": "providers: { lab: { kind: openai-compatible, baseUrl: 'http://127.0.0.1:9/v1', models: { small: {} } } }",
        }),
      },
    });
    await talk.enter("/mode");
    await talk.shows("● default", "○ plan");
    await talk.enter("/mode auto_edit");
    await talk.shows("The mode is auto_edit");
    await talk.enter("/mode sometimes", "auto_edit> ");
    await talk.shows("Error: ");
    await talk.enter("/model", "auto_edit> ");
    await talk.shows("● rehearsal", "○ small");
    await talk.enter("/model small", "auto_edit> ");
    await talk.shows("The model is small (lab)");
    await talk.leave("auto_edit> ");
  });

  it("change the colours", async () => {
    const talk = chat();
    await talk.enter("/theme");
    await talk.shows("Themes: dark, light, plain");
    await talk.enter("/theme mauve");
    await talk.shows("Error: There is no theme 'mauve' (dark, light, plain)");
    await talk.enter("/theme plain");
    await talk.shows("The theme is plain.");
    await talk.enter("think about ducks");
    await talk.shows("(completed;");
    await talk.enter("/theme light");
    await talk.enter("think about geese");
    await talk.shows("(completed;");
    await talk.leave();
    expect(talk.pty.raw).not.toContain(`${ESCAPE}[2mLet`);
    expect(talk.pty.raw).toContain(`${ESCAPE}[90mLet`);
  });

  it("that wait for a turn run when it is over, however it ended", async () => {
    const talk = chat();
    await talk.enter("wait forever");
    await talk.press("/clear\r", "wait forever\r");
    await talk.press(CTRL_C, "/clear\r");
    await talk.shows("(interrupted", "begins anew");
    await talk.leave();
  });
});
