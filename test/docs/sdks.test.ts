/** The programs of docs/claude.md and docs/codex.md run as they stand, with the official SDKs and Parley's launchers. */
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { environment, scratch } from "../process/harness.js";
import { launchers } from "../support/launchers.js";
import { ROOT, textOf } from "./shell-blocks.js";

it.each([
  ["docs/claude.md", /^success .*hello$/s],
  ["docs/codex.md", /^(agent_message )?command_execution agent_message .*hello$/s],
])("the program of %s prints what a real turn was", async (page, printed) => {
  const [, program = ""] = /^```js\n([^]*?)^```$/m.exec(textOf(page)) ?? [];
  const [folder, home] = [scratch(), scratch({ "config.yaml": "provider: rehearsal\n" })];
  const bin = await launchers();
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  mkdirSync(join(folder, "work"));
  const file = join(folder, "program.mjs");
  writeFileSync(file, program.replaceAll("/home/me/bin", bin));
  const child = spawn(process.execPath, [file], { cwd: join(folder, "work"), env: environment({ PARLEY_HOME: home }) });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => void (output += text.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  expect([code, output.trim()]).toEqual([0, expect.stringMatching(printed)]);
});
