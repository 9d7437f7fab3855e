/** The shell blocks of these pages do what the pages say. A block that cannot run in a test is fenced as `console`. */
import { expect, it } from "vitest";
import { runBlocks, shellBlocks } from "./shell-blocks.js";

it.each(["docs/start.md", "docs/hosts.md", "docs/dialects.md", "docs/relay.md", "docs/claude.md", "docs/codex.md"])(
  "%s: each command prints what the page shows",
  async (page) => {
    const blocks = shellBlocks(page);
    expect(blocks).not.toEqual([]);
    for (const [at, { code, output }] of (await runBlocks(blocks)).entries()) {
      const { command = "", expected = [] } = blocks[at] ?? {};
      const shown = new Set(output.split("\n"));
      expect
        .soft(
          expected.filter((line) => ![...shown].some((each) => fits(each, line))),
          `${command}\n${output}`,
        )
        .toEqual([]);
      expect.soft(code, command).toBe(0);
    }
  },
);

/** An ellipsis stands for any text. */
function fits(line: string, shown: string): boolean {
  const parts = shown.split("…").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join(".*")}$`).test(line);
}
