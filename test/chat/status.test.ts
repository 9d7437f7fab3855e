/** The status below the input: mode, model, how full the window is, cost, branch. */
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import { chat, ESC, hasTerminal } from "./chat.js";
import { speaker } from "./speaker.js";

describe.skipIf(!hasTerminal)("the status", () => {
  it("says how full the model's window is, and begins anew with the conversation", async () => {
    const talk = chat({
      responses: [
        { say: "Hi.", usage: { input: 50_000, output: 2 } },
        { say: "Ho.", usage: { input: 100_000, output: 2 } },
      ],
    });
    await talk.enter("go");
    await talk.shows("Hi.", "default · rehearsal", "% of the window");
    const share = (): number => Number(/(\d+) % of the window/.exec(talk.text)?.[1]);
    const first = share();
    expect(first).toBeGreaterThan(0);
    await talk.enter("on");
    await talk.shows("Ho.", "tokens in");
    expect(share()).toBe(2 * first);
    await talk.leave();
  });

  it("names the branch, also after the model changed it", async () => {
    const cwd = scratch();
    const git = (...args: string[]): void =>
      void execFileSync("git", ["-c", "init.defaultBranch=trunk", ...args], { cwd, stdio: "ignore" });
    git("init");
    const talk = chat({
      cwd,
      args: ["--auto-approve"],
      responses: [{ call: { tool: "Bash", args: { command: "git checkout -b side" } } }, { say: "Done." }],
    });
    await talk.shows("· trunk");
    await talk.enter("go");
    await talk.shows("Done.", "· side");
    await talk.leave();
  });

  it("says the cost where an event tells one", async () => {
    const model = await speaker();
    const home = scratch({
      "config.yaml": [
        "providers:",
        "  lab: { kind: openai-compatible, baseUrl: 'URL', models: { m: { context: 1000, prices: { input: 1000, output: 10000 } } } }".replace(
          "URL",
          model.url,
        ),
      ].join("\n"),
    });
    const talk = chat({ env: { PARLEY_HOME: home }, args: ["--provider", "lab", "--model", "m"] });
    await talk.enter("go");
    await model.say("Hi.");
    await model.end();
    await talk.shows("Hi.", "default · lab m · 11 % of the window · $0.15");
    await talk.leave();
  });

  it("gives way to a word to the user, and comes back with the next key", async () => {
    const talk = chat();
    await talk.enter("say heron");
    await talk.shows("> say heron", "heron", "tokens in");
    await talk.press(ESC);
    await talk.shows("Esc once more goes back to an earlier prompt");
    await talk.press("x");
    await talk.shows("default · rehearsal");
    await talk.hides("Esc once more");
    await talk.press("\u0015");
    await talk.leave();
  });
});
