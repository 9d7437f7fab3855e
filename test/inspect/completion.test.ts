/** Completion in shells: made from the tables of commands and flags, and tried in bash. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/command-line/commands.js";
import { run, scratch } from "../process/harness.js";

const has = (shell: string): boolean => spawnSync(shell, ["-c", "exit 0"]).status === 0;

async function script(shell: string): Promise<string> {
  const { code, stdout } = await run(["completion", shell]);
  expect(code).toBe(0);
  return stdout;
}

/** The words that bash offers behind each of these command lines, of which the last word is half-written. */
async function offered(lines: string[][]): Promise<string[][]> {
  const tries = lines.map(
    (words) =>
      `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _parley; echo "\${COMPREPLY[*]}"`,
  );
  const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", [await script("bash"), ...tries].join("\n")], { encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => line.split(" ").filter((word) => word !== ""));
}

test.skipIf(!has("bash"))("bash offers commands, flags and their values where they may stand", async () => {
  const lines: [string[], string[]][] = [
    [
      ["parley", "se"],
      ["serve", "sessions"],
    ],
    [["parley", "bridge", "r"], ["run"]],
    [["parley", "bridge", "run", "--mess"], ["--message"]],
    [
      ["parley", "--approval-mode", ""],
      ["default", "auto_edit", "plan", "sandboxed", "yolo"],
    ],
    [
      ["parley", "--provider", "op"],
      ["openai", "openrouter"],
    ],
    [["parley", "login", "an"], ["anthropic"]],
    [
      ["parley", "schema", "qwen"],
      ["qwen", "qwen-shipped"],
    ],
    [
      ["parley", "-p", "--js"],
      ["--json-stream", "--json-schema", "--json"],
    ],
    [["parley", "sessions", "sh"], ["show"]],
    [
      ["parley", "completion", ""],
      ["bash", "zsh", "fish"],
    ],
    [
      ["parley", "mcp", ""],
      ["add", "list", "remove", "login"],
    ],
    [["parley", "-p", "x", "--imag"], ["--image"]],
    [["parley", "--model", ""], []],
  ];
  const found = await offered(lines.map(([words]) => words));
  expect(found.map((words) => words.toSorted())).toEqual(lines.map(([, words]) => words.toSorted()));
});

test.skipIf(!has("bash"))("bash offers every command", async () => {
  const [words = []] = await offered([["parley", ""]]);
  expect(new Set(words)).toEqual(new Set([...COMMANDS.map(({ name }) => name.split(" ")[0] ?? ""), "help"].filter((name) => name !== "")));
});

test.each(["zsh", "fish"])("the script for %s names every command, and the shell can read it", async (shell) => {
  const text = await script(shell);
  for (const { name } of COMMANDS) for (const word of name.split(" ")) expect(text).toContain(word);
  if (!has(shell)) console.warn(`not tried: ${shell} is not here`);
  else expect(spawnSync(shell, ["-n"], { input: text, encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
});

test("another shell is wrong usage", async () => {
  expect(await run(["completion", "ksh"], { cwd: scratch() })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("bash, zsh, fish"),
  });
});
