/** The shell blocks of these pages do what the pages say. A block that cannot run in a test is fenced as `console`. */
import { expect, it } from "vitest";
import { environment, run, scratch } from "../process/harness.js";
import { missingIn, ROOT, runBlocks, runShell, shellBlocks, textOf } from "./shell-blocks.js";

const PAGES = [
  "docs/start.md",
  "docs/hosts.md",
  "docs/dialects.md",
  "docs/relay.md",
  "docs/coming-from.md",
  "docs/claude.md",
  "docs/codex.md",
];

it.each(PAGES)("%s: each command prints what the page shows", async (page) => {
  const blocks = shellBlocks(page);
  expect(blocks).not.toEqual([]);
  for (const [at, { code, output }] of (await runBlocks(blocks)).entries()) {
    const { command = "", expected = [] } = blocks[at] ?? {};
    expect.soft(missingIn(output, expected), `${command}\n${output}`).toEqual([]);
    expect.soft(code, command).toBe(0);
  }
});

const readmeCommands = [...textOf("README.md").matchAll(/^node dist\/parley\.js .*?(?= +#)/gm)].map(([command]) => command);

it("the README has commands to copy", () => expect(readmeCommands).toHaveLength(3));

it.each(readmeCommands)("the README's command works in a clone without a key: %s", async (command) => {
  const { code, output } = await runShell(command, ROOT, environment());
  expect(output).not.toBe("");
  expect(code).toBe(0);
});

const configs = ["docs/start.md", "docs/permissions.md", "docs/configuration.md"].flatMap((page) =>
  [...textOf(page).matchAll(/^```yaml\n(# ~\/\.parley\/config\.yaml[^]*?)^```$/gm)].map(([, config = ""]) => ({ page, config })),
);

it.each(configs)("the config of $page is one that Parley takes", async ({ config }) => {
  const { code, stderr } = await run(["config"], { env: { PARLEY_HOME: scratch({ "config.yaml": config }) } });
  expect([code, stderr]).toEqual([0, ""]);
});
