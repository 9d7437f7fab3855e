/** A workspace that brings settings: the chat asks once, and says what it ignores. */
import { describe, expect, it } from "vitest";
import { tree } from "../extensions/files.js";
import { run, scratch } from "../process/harness.js";
import { chat, CTRL_C, CTRL_D, hasTerminal } from "./chat.js";

const workspace = () => tree({ ".parley/config.yaml": "approval: auto_edit\n", "a.txt": "" });

describe.skipIf(!hasTerminal)("the question of trust", () => {
  it("is asked once when the answer is yes; the settings count at once and from then on", async () => {
    const [cwd, env] = [workspace(), { PARLEY_HOME: scratch() }];
    const first = chat({ cwd, env });
    await first.shows("config.yaml");
    await first.press("y\r", "Trust it?");
    await first.enter("write 'x' to b.txt", "auto_edit> ");
    await first.shows("(completed;");
    await first.leave("auto_edit> ");
    const second = chat({ cwd, env });
    await second.leave("auto_edit> ");
    expect(second.seen).not.toContain("Trust it?");
  });

  it("is asked again when the answer is no, and what is ignored is one line", async () => {
    const [cwd, env] = [workspace(), { PARLEY_HOME: scratch() }];
    for (const answer of ["\r", "n\r"]) {
      const talk = chat({ cwd, env });
      await talk.press(answer, "Trust it?");
      await talk.shows("! ", "config.yaml is ignored");
      await talk.leave();
      expect(talk.seen.match(/is ignored/g)).toHaveLength(1);
    }
  });

  it.each([
    ["Ctrl-C", CTRL_C, 130],
    ["Ctrl-D", CTRL_D, 0],
  ])("is left with %s", async (_name, key, code) => {
    const talk = chat({ cwd: workspace() });
    await talk.press(key, "Trust it?");
    expect(await talk.pty.exited).toBe(code);
    expect(talk.seen).not.toMatch(/node:internal|\n\s+at |unsettled/);
  });

  it("is not asked where it was answered with a flag, or nobody can be asked", async () => {
    const cwd = workspace();
    const talk = chat({ cwd, args: ["--trust-workspace"] });
    await talk.leave("auto_edit> ");
    expect(talk.seen).not.toContain("Trust it?");
    const { code, stderr } = await run(["-p", "say heron", "--provider", "rehearsal"], { cwd });
    expect([code, stderr.match(/is ignored/g)]).toEqual([0, ["is ignored"]]);
  });
});
