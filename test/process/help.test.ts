/** What the command says of itself, and to somebody who mistypes it. */
import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/command-line/commands.js";
import { helpText } from "../../src/cli/command-line/help.js";
import { run } from "./harness.js";

describe("help", () => {
  it("lists every command that does something, and every flag that is for people", async () => {
    const { stdout } = await run(["--help"]);
    for (const { name } of COMMANDS.filter(({ name }) => name !== "" && name !== "bridge")) expect(stdout).toContain(`  parley ${name} `);
    const shown = COMMANDS.find(({ name }) => name === "")?.flags.filter(({ hidden }) => hidden !== true) ?? [];
    for (const { name } of shown) expect(stdout).toContain(`--${name}`);
  });

  it("of a name that only begins others lists those", async () => {
    const { stdout } = await run(["bridge", "--help"]);
    for (const name of ["run", "serve", "check", "profiles"]) expect(stdout).toContain(`  parley bridge ${name} `);
  });

  it.each([80, 90, 1000])("fits %d columns, and loses no word", (columns) => {
    for (const command of COMMANDS) {
      const text = helpText(command, COMMANDS, columns);
      const [usage = "", ...lines] = text.split("\n");
      expect(usage).toBe(`Usage: ${command.usage}`);
      expect(lines.filter((line) => line.length > Math.min(columns, 100))).toEqual([]);
      const words = text.split(/\s+/).join(" ");
      for (const { help, hidden } of command.flags) if (hidden !== true) expect(words).toContain(help);
    }
  });

  it("may be asked for as a command, too", async () => {
    expect((await run(["help"])).stdout).toBe((await run(["--help"])).stdout);
    expect((await run(["help", "bridge", "run"])).stdout).toBe((await run(["bridge", "run", "--help"])).stdout);
    expect(await run(["help", "rely"])).toMatchObject({ code: 2, stderr: expect.stringContaining("did you mean 'parley relay'") });
  });
});

describe("a lone word that is nearly a command", () => {
  it("is not sent to a model, and the remedy works", async () => {
    const { code, stdout, stderr } = await run(["srve"]);
    expect([code, stdout, stderr]).toEqual([
      2,
      "",
      "parley: There is no command 'srve'; did you mean 'parley serve'? (as a prompt: parley -p srve)\n",
    ]);
    expect(await run(["-p", "srve"])).toMatchObject({ code: 0, stdout: expect.stringContaining("srve") });
  });

  it("is a prompt when it is not near enough, or has company", async () => {
    for (const prompt of ["hello", "say doctors"]) expect((await run([prompt, "--provider", "rehearsal"])).code).toBe(0);
  });
});
