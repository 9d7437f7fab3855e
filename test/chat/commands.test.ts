/** Commands in the chat that change it or tell about it, and what one picks from. */
import { describe, expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import { chat, DOWN, ENTER, ESC, FOCUS_IN, hasTerminal } from "./chat.js";

const GREY = "\u001b[90m";

const lab = (): Record<string, string> => ({
  PARLEY_HOME: scratch({
    "config.yaml": "providers: { lab: { kind: openai-compatible, baseUrl: 'http://127.0.0.1:9/v1', models: { small: {} } } }",
  }),
});

describe.skipIf(!hasTerminal)("commands", () => {
  it("are listed and explained by /help, and a wrong name is answered with the right one", async () => {
    const talk = chat();
    await talk.enter("/help");
    await talk.shows("/clear", "/compact", "/chat list | save TAG", "/quit");
    await talk.enter("/help compact");
    await talk.shows("Also: /compress");
    await talk.enter("/?");
    await talk.counts(/The commands;/, 2);
    await talk.enter("/contxt");
    await talk.shows("Error: There is no command '/contxt'; did you mean 'context'?");
    await talk.leave();
  });

  it("change the mode and the model, by name and from a list", async () => {
    const talk = chat({ env: lab() });
    await talk.enter("/mode auto_edit");
    await talk.shows("The mode is auto_edit", "auto_edit · rehearsal");
    await talk.enter("/mode sometimes");
    await talk.shows("Error: There is no mode 'sometimes'");
    await talk.enter("/mode");
    await talk.shows("The mode is auto_edit", "default asks", "→ ● auto_edit", "plan only reads", "yolo", "Enter takes it, Esc does not");
    await talk.press(DOWN, ENTER);
    await talk.shows("The mode is plan", "plan · rehearsal");
    await talk.hides("Enter takes it");
    await talk.enter("/model");
    await talk.shows("The model is rehearsal", "→ ● rehearsal", "small");
    await talk.press("sma");
    await talk.shows("→ small");
    await talk.press(ENTER);
    await talk.shows("The model is small (lab)", "plan · lab small");
    await talk.leave();
  });

  it("change nothing when Esc leaves their list", async () => {
    const talk = chat({ env: lab() });
    await talk.enter("/model");
    await talk.shows("→ ● rehearsal", "small");
    await talk.press(DOWN);
    await talk.shows("→ small");
    await talk.press(ESC);
    await talk.hides("→ small");
    await talk.enter("/mode");
    await talk.shows("→ ● default");
    await talk.press(ESC);
    await talk.hides("→ ● default");
    await talk.shows("default · rehearsal");
    await talk.leave();
    expect(talk.text).not.toContain("from the next turn on");
  });

  it("change the colours", async () => {
    const talk = chat();
    await talk.enter("/theme mauve");
    await talk.shows("Error: There is no theme 'mauve' (dark, light, plain)");
    await talk.enter("/theme");
    await talk.shows("→ ● dark", "light", "plain");
    await talk.press("pl", ENTER);
    await talk.shows("The theme is plain.");
    await talk.enter("think about ducks");
    await talk.shows("Let me think about ducks", "tokens in");
    expect(talk.screen.colourOf("Let me think about ducks")).toBe(-1);
    await talk.enter("/theme light");
    await talk.shows("The theme is light.");
    await talk.enter("think about geese");
    await talk.shows("Let me think about geese", "tokens in");
    await talk.leave();
    expect(talk.pty.raw).toContain(`${GREY}✻ Let me think about geese`);
  });
});

describe.skipIf(!hasTerminal)("/rewind", () => {
  it("is offered by Esc twice on an empty line, where something was said", async () => {
    const talk = chat();
    await talk.shows("default · rehearsal");
    await talk.press(ESC + FOCUS_IN, ESC + FOCUS_IN);
    await talk.enter("say heron");
    await talk.shows("> say heron", "heron", "tokens in");
    expect(talk.text).not.toContain("rewind");
    await talk.press(ESC + FOCUS_IN);
    await talk.shows("Esc once more goes back to an earlier prompt");
    await talk.press(ESC + FOCUS_IN);
    await talk.shows("Back to before which turn?", "→ say heron");
    await talk.press(ESC);
    await talk.hides("Back to before which turn?");
    await talk.press(ESC + ESC + FOCUS_IN);
    await talk.shows("Back to before which turn?", "→ say heron");
    await talk.press(ESC);
    await talk.hides("Back to before which turn?");
    await talk.leave();
  });
});
