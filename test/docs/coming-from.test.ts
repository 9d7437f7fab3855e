/** docs/coming-from.md: the launchers know the flags of their programs, and ours are those of our help and our commands. */
import { expect, it } from "vitest";
import { programOf } from "../../src/dialects/index.js";
import { run } from "../process/harness.js";
import { textOf } from "./shell-blocks.js";

const page = textOf("docs/coming-from.md");

const rows = page
  .split(/^## /m)
  .flatMap((section) =>
    [...section.matchAll(/^\| (.*?) \| (.*) \|$/gm)]
      .filter(([, there = ""]) => !/^(?:there|file there|command there|-+\|?.*)$/.test(there))
      .map(([, there = "", here = ""]) => ({ title: section.split("\n")[0] ?? "", there, here })),
  );

/** The dialect whose program takes the flags of a section. */
const DIALECTS: Readonly<Record<string, string>> = {
  "Claude Code": "claude",
  Codex: "codex",
  "Gemini CLI": "acp",
  "Qwen Code": "qwen-shipped",
};

it("docs/coming-from.md has a table for each program", () => {
  expect(new Set(rows.map(({ title }) => title))).toEqual(new Set(["# Coming from another agent", ...Object.keys(DIALECTS)]));
});

it("our side of the tables names flags and commands that there are", async () => {
  const { stdout: help } = await run(["help"]);
  const known = `${textOf("docs/extensions.md")}\n${textOf("docs/chat.md")}`;
  const words = rows.flatMap(({ there, here }) => codesIn(here.startsWith("the same") ? there : here));
  const flags = words.flatMap((word) => word.match(/--[a-z-]+/g) ?? []);
  const commands = words.flatMap((word) => /^parley ([a-z][a-z-]+(?: add)?)/.exec(word)?.[1] ?? []);
  const slashes = words.flatMap((word) => /^\/[a-z]+/.exec(word)?.[0] ?? []);
  expect([flags.length > 20, commands.length > 4, slashes.length > 20]).toEqual([true, true, true]);
  const ofRelay = ["--as", "--drive"];
  expect(flags.filter((flag) => !ofRelay.includes(flag) && !new RegExp(`${flag}(?![a-z-])`).test(help))).toEqual([]);
  expect(commands.filter((command) => !help.includes(`parley ${command} `))).toEqual([]);
  expect(slashes.filter((slash) => !known.includes(`\`${slash}\``) && !known.includes(`\`${slash} `))).toEqual([]);
});

it.each(Object.entries(DIALECTS))("the launcher of %s takes the flags of that side", async (title, dialect) => {
  const { flags = [], shortFlags = {} } = programOf(dialect) ?? {};
  const { stdout: help } = await run(["help"]);
  const known = new Set([...flags.map(({ name }) => `--${name}`), ...Object.keys(shortFlags), ...(help.match(/--?[a-zA-Z-]+/g) ?? [])]);
  const words = rows.filter((row) => row.title === title).flatMap(({ there }) => codesIn(there));
  const theirs = words
    .filter((word) => /^(?:--|(?:claude|codex|gemini|qwen) )/.test(word))
    .flatMap((word) => word.match(/(?<= |^)--?[a-zA-Z-]+/g) ?? []);
  expect(theirs.length).toBeGreaterThan(3);
  expect(theirs.filter((flag) => !known.has(flag))).toEqual([]);
});

function codesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}
