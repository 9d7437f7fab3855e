/** A workspace that brings settings: the chat asks once, and says what it ignores. */
import { describe, expect, it } from "vitest";
import { tree } from "../extensions/files.js";
import { run, scratch } from "../process/harness.js";
import { chat, CTRL_C, CTRL_D, DOWN, ENTER, ESC, hasTerminal, TROUBLE } from "./chat.js";

const workspace = () => tree({ ".parley/config.yaml": "approval: auto_edit\n", "a.txt": "" });

describe.skipIf(!hasTerminal)("the question of trust", () => {
  it("is asked once when the answer is yes; the settings count at once and from then on", async () => {
    const [cwd, env] = [workspace(), { PARLEY_HOME: scratch() }];
    const first = chat({ cwd, env });
    await first.shows("config.yaml", "Trust it?", "→ No, leave them out", "Yes, trust this folder");
    await first.press(DOWN, ENTER);
    await first.shows("auto_edit · rehearsal");
    await first.enter("write 'x' to b.txt");
    await first.shows("● Write b.txt", "tokens in");
    await first.leave();
    const second = chat({ cwd, env });
    await second.shows("auto_edit · rehearsal");
    await second.leave();
    expect(second.text).not.toContain("Trust it?");
  });

  it("is asked again when the answer is no, and what is ignored is one line", async () => {
    const [cwd, env] = [workspace(), { PARLEY_HOME: scratch() }];
    for (const answer of [ENTER, ESC]) {
      const talk = chat({ cwd, env });
      await talk.shows("Trust it?");
      await talk.press(answer);
      await talk.shows("! ", "config.yaml is ignored", "default · rehearsal");
      await talk.leave();
      expect(talk.text.match(/is ignored/g)).toHaveLength(1);
    }
  });

  it.each([
    ["Ctrl-C", CTRL_C, 130],
    ["Ctrl-D", CTRL_D, 0],
  ])("is left with %s", async (_name, key, code) => {
    const talk = chat({ cwd: workspace() });
    await talk.shows("Trust it?");
    await talk.press(key);
    await talk.exits(code);
    expect(talk.text).not.toMatch(TROUBLE);
  });

  it("is not asked where it was answered with a flag, or nobody can be asked", async () => {
    const cwd = workspace();
    const talk = chat({ cwd, args: ["--trust-workspace"] });
    await talk.shows("auto_edit · rehearsal");
    await talk.leave();
    expect(talk.text).not.toContain("Trust it?");
    const { code, stderr } = await run(["-p", "say heron", "--provider", "rehearsal"], { cwd });
    expect([code, stderr.match(/is ignored/g)]).toEqual([0, ["is ignored"]]);
  });
});
