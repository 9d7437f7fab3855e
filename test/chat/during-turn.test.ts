/** Words typed while a turn runs: they wait, or are told to it; and keys that end it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import { chat, CTRL_C, CTRL_ENTER, ESC, FOCUS_IN, hasTerminal, pasted, UP, untilThere } from "./chat.js";
import { speaker } from "./speaker.js";

describe.skipIf(!hasTerminal)("a prompt during a turn", () => {
  it("waits in sight for its end, and is sent then", async () => {
    const model = await speaker();
    const talk = chat({ args: model.args });
    await talk.enter("first");
    await model.say("One.");
    await talk.shows("> first", "One.");
    await talk.enter("second");
    await talk.enter("third");
    await talk.shows("One.", "⏎ second", "⏎ third", "Up edits the last one");
    await model.end();
    await talk.shows("One.", "> second", "⏎ third");
    await model.say("Two.");
    await model.end();
    await talk.shows("One.", "> second", "Two.", "> third");
    await model.say("Three.");
    await model.end();
    await talk.shows("> third", "Three.", "tokens in");
    await talk.leave();
    expect(talk.text).not.toContain("⏎");
  });

  it("that waits is edited with Up, and sent changed", async () => {
    const model = await speaker();
    const talk = chat({ args: model.args });
    await talk.enter("first");
    await model.say("One.");
    await talk.shows("One.");
    await talk.enter("sec");
    await talk.shows("⏎ sec");
    await talk.press(UP);
    await talk.hides("⏎");
    await talk.enter("ond");
    await talk.shows("⏎ second");
    await model.end();
    await talk.shows("One.", "> second");
    await model.say("Two.");
    await model.end();
    await talk.shows("Two.", "tokens in");
    await talk.leave();
  });

  it.each([
    ["Ctrl-Enter", async (talk: ReturnType<typeof chat>) => talk.press("and blue paint", CTRL_ENTER)],
    ["/steer", async (talk: ReturnType<typeof chat>) => talk.enter("/steer and blue paint")],
  ])("is told to the turn with %s", async (_name, steer) => {
    const cwd = scratch();
    const talk = chat({
      cwd,
      args: ["--auto-approve"],
      responses: [
        { say: "Waiting.", call: untilThere("go") },
        { expect: { lastUser: "and blue paint" }, say: "Blue." },
      ],
    });
    await talk.enter("paint it");
    await talk.shows("● Bash until");
    await steer(talk);
    await talk.shows("Told to the running turn: and blue paint");
    writeFileSync(join(cwd, "go"), "");
    await talk.shows("Blue.", "tokens in");
    await talk.leave();
  });

  it("is an ordinary prompt with Ctrl-Enter when no turn runs", async () => {
    const talk = chat();
    await talk.press("say heron", CTRL_ENTER);
    await talk.shows("> say heron", "heron", "tokens in");
    await talk.leave();
  });

  it("may be a command that runs beside it", async () => {
    const talk = chat();
    await talk.enter("wait forever");
    await talk.shows("> wait forever");
    await talk.enter("/context");
    await talk.shows("System prompt", "Messages", "Esc to interrupt");
    await talk.press(ESC);
    await talk.shows("(interrupted");
    await talk.leave();
  });

  it("may be a command that waits for its end, however it ends", async () => {
    const talk = chat();
    await talk.enter("wait forever");
    await talk.shows("> wait forever");
    await talk.enter("/clear");
    await talk.press(CTRL_C);
    await talk.shows("(interrupted", "begins anew");
    await talk.leave();
  });
});

describe.skipIf(!hasTerminal)("the answer", () => {
  it("goes on piece by piece while a line is half-written, and leaves it as it is", async () => {
    const model = await speaker();
    const talk = chat({ args: model.args });
    await talk.enter("go");
    await model.say("The ducks ");
    await talk.shows("The ducks");
    await talk.press("half a li");
    await talk.shows("The ducks", "half a li");
    await model.say("fly ");
    await talk.shows("The ducks fly", "half a li");
    await talk.press(pasted("ne, and 日本"));
    await talk.shows("The ducks fly", "half a line, and 日本");
    await model.say("home.");
    await talk.shows("The ducks fly home.", "half a line, and 日本");
    await model.end();
    await talk.shows("home.", "tokens in", "half a line, and 日本");
    await talk.press(CTRL_C);
    await talk.leave();
    expect(talk.text.match(/home/g)).toHaveLength(1);
  });
});

describe.skipIf(!hasTerminal)("the line of life", () => {
  it("says what happens, for how long, how much came, and how to end it", async () => {
    const [cwd, model] = [scratch(), await speaker()];
    const talk = chat({ cwd, args: ["--auto-approve", ...model.args] });
    await talk.enter("go");
    await talk.showsRow(/^\S Waiting for the model \(\d+ s · Esc to interrupt\)$/);
    await model.think("Hmm, let me think about it. ");
    await talk.showsRow(/^\S Thinking \(\d+ s · 7 tokens · Esc to interrupt\)$/);
    await model.say("A sentence of forty characters it is....");
    await talk.showsRow(/^\S Writing \(\d+ s · 17 tokens · Esc to interrupt\)$/);
    await model.end(untilThere("go"));
    await talk.showsRow(/^\S Bash until .*\(\d+ s · \d+ tokens · Esc to interrupt\)$/);
    writeFileSync(join(cwd, "go"), "");
    await talk.showsRow(/^\S Waiting for the model/);
    await model.say("Done.");
    await model.end();
    await talk.shows("Done.", "tokens in");
    await talk.hides("Esc to interrupt");
    await talk.leave();
  });

  it("shows its seconds and how to interrupt it in a narrow window, too", async () => {
    const file = join(scratch(), "there");
    const call = untilThere(file, `echo ${"long ".repeat(20)}`);
    const talk = chat({ size: { columns: 60, rows: 20 }, args: ["--auto-approve"], responses: [{ call }, { say: "Done." }] });
    await talk.enter("go");
    await talk.showsRow(/^. Bash .*… \(\d+ s · .*Esc to interrupt\)$/);
    writeFileSync(file, "");
    await talk.shows("Done.", "tokens in");
    await talk.leave();
  });
});

describe.skipIf(!hasTerminal)("Esc", () => {
  it("interrupts the turn and puts the prompts that wait back to be edited", async () => {
    const talk = chat();
    await talk.enter("wait forever");
    await talk.shows("> wait forever");
    await talk.enter("say heron");
    await talk.shows("⏎ say heron");
    await talk.press(ESC);
    await talk.shows("(interrupted");
    await talk.hides("⏎");
    await talk.enter(", please");
    await talk.shows("(interrupted", "> say heron, please", "heron", "tokens in");
    await talk.leave();
  });

  it("does nothing to a line that is half-written", async () => {
    const talk = chat();
    await talk.press("say he");
    await talk.shows("say he");
    await talk.press(ESC + FOCUS_IN, "ron\r");
    await talk.shows("> say heron", "heron", "tokens in");
    await talk.leave();
  });
});
