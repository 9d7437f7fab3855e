/** A first word that is nearly a command: it is asked about at a terminal, and refused elsewhere. */
import { describe, expect, test } from "vitest";
import { run } from "../process/harness.js";
import { hasTerminal, terminal } from "../process/terminal.js";

describe("a first word that is nearly a command", () => {
  test.each([
    [["sesions"], "parley sessions"],
    [["sesions", "list"], "parley sessions"],
    [["--json", "doctr"], "parley doctor"],
    [["hepl"], "parley help"],
    [["serv", "--model", "x"], "parley serve"],
  ])("is refused where nobody can be asked: %j", async (args, command) => {
    const { code, stderr } = await run(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`did you mean '${command}'?`)]);
  });

  test("is a prompt where further words are quoted with it", async () => {
    expect(await run(["serv the guests", "--provider", "rehearsal"])).toMatchObject({ code: 0 });
  });

  test("that is far from any command is a prompt, and several words are one prompt only in quotes", async () => {
    for (const prompt of ["hello", "/models", "models?", "model.ts"])
      expect(await run([prompt, "--provider", "rehearsal"]), prompt).toMatchObject({ code: 0 });
    expect(await run(["hello", "there"])).toMatchObject({ code: 2, stderr: expect.stringContaining("quote a prompt of several words") });
  });

  describe.skipIf(!hasTerminal)("at a terminal", () => {
    test.each([
      ["r runs the command", "r\r", 0, /node +version/],
      ["any other answer leaves, and no model is asked", "\r", 2, /nothing was done/],
    ])("%s", async (_, keys, code, seen) => {
      const pty = terminal(["doctr"]);
      await pty.type("There is no command 'doctr'.", keys);
      expect(await pty.exited).toBe(code);
      expect(pty.seen).toMatch(seen);
      expect(pty.seen).not.toContain("rehearsal model answers");
    });

    test("p sends it as a prompt", async () => {
      const pty = terminal(["doctr", "--json"]);
      await pty.type("send it as a [p]rompt", "p\r");
      expect(await pty.exited).toBe(0);
      expect(pty.seen).toContain('"outcome":"completed"');
    });
  });
});
