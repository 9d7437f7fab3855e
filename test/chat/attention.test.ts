/** Calls for the user: a notification and a bell, when the terminal said that it is not in front. */
import { describe, expect, it } from "vitest";
import { bash, chat, FOCUS_IN, hasTerminal } from "./chat.js";
import { speaker } from "./speaker.js";

const FOCUS_OUT = "\u001b[O";

describe.skipIf(!hasTerminal)("a chat that waits", () => {
  it("notifies and rings for a question and at the end of a turn, while the terminal is not in front", async () => {
    const model = await speaker();
    const talk = chat({ args: model.args });
    await talk.press(FOCUS_OUT);
    await talk.enter("go");
    await model.end(bash("touch a"));
    await talk.shows("y once");
    expect(talk.screen.notified).toEqual(["9;A question waits for your answer", "777;notify;parley;A question waits for your answer"]);
    expect(talk.screen.bells).toBe(1);
    await talk.enter("n");
    await model.say("Fine.");
    await model.end();
    await talk.shows("Fine.", "tokens in");
    expect(talk.screen.notified.at(-1)).toBe("777;notify;parley;The turn has ended");
    expect(talk.screen.bells).toBe(2);
    await talk.leave();
  });

  it.each([
    ["in front", FOCUS_IN],
    ["not heard of", ""],
  ])("is silent while the terminal is %s", async (_name, focus) => {
    const talk = chat({ responses: [{ call: bash("touch a") }, { say: "Fine." }] });
    await talk.press(FOCUS_OUT.slice(0, focus === "" ? 0 : undefined), focus, "go\r");
    await talk.shows("y once");
    await talk.enter("n");
    await talk.shows("Fine.", "tokens in");
    await talk.leave();
    expect([talk.screen.notified, talk.screen.bells]).toEqual([[], 0]);
  });

  it("names the folder in the terminal's title", async () => {
    const talk = chat();
    await talk.shows("default · rehearsal");
    expect(talk.screen.title).toMatch(/^parley · parley-test-\w+$/);
    await talk.leave();
  });
});
