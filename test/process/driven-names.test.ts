/** `parley relay` starts the program of a dialect by its name alone; a command that is given is the program. */
import { chmodSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { fixture } from "../support/processes.js";
import { run, scratch } from "./harness.js";

/** A folder in which the program is a script that behaves as the real one. */
function bin(name: string, file: string): string {
  const folder = scratch({ [name]: `#!/bin/sh\nexec '${process.execPath}' '${fixture(file)}' ready "$@"\n` });
  chmodSync(join(folder, name), 0o755);
  return folder;
}

const OPS = [
  { type: "session.open", id: "o", session: "s", open: "new" },
  { type: "turn.prompt", session: "s", turn: "t", parts: [{ type: "text", text: "hello" }] },
];

test.each([
  ["claude", "claude.mjs", []],
  ["codex", "codex.mjs", []],
  ["codex", "codex.mjs", ["--", "codex"]],
  ["codex", "codex.mjs", ["--", "codex", "app-server"]],
])("a relay that drives %s (%s) with the command %j gets its answer", async (name, file, command) => {
  const env = { PATH: `${bin(name, file)}${delimiter}${process.env["PATH"] ?? ""}` };
  const input = OPS.map((op) => `${JSON.stringify(op)}\n`).join("");
  const { code, stdout, stderr } = await run(["relay", "--as", "native", "--drive", name, "--check", ...command], { env, input });
  expect(stdout).toContain('"outcome":"completed"');
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("grammar")]);
});
