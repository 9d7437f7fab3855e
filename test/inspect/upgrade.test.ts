/** `parley upgrade --check`: what npm says, in place of which a script answers here. */
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { run, scratch } from "../process/harness.js";

const { version }: { version: string } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"));

function npm(script: string): Record<string, string> {
  const folder = scratch({ npm: `#!/bin/sh\n${script}\n` });
  chmodSync(join(folder, "npm"), 0o755);
  return { PATH: `${folder}:${process.env["PATH"] ?? ""}` };
}

test.each([
  [`echo ${version}`, 0, `This is the newest version: ${version}.`],
  ["echo 99.0.0", 0, `Version 99.0.0 is there, and this is ${version}; 'npm install -g agent-parley@latest' installs it.`],
  ["echo 0.0.1-beta.1", 0, `This is the newest version: ${version} (npm has 0.0.1-beta.1).`],
  ['[ "$1 $2 $3" = "view agent-parley version" ] && echo 99.0.0', 0, "Version 99.0.0"],
  ["echo 'npm error code ENOTFOUND' >&2; exit 1", 1, "(code ENOTFOUND); is this machine offline?"],
  ["echo 'npm error code E404' >&2; exit 1", 1, "npm has no package 'agent-parley'"],
  ["echo nonsense", 1, "npm could not tell the newest version"],
])("npm that does %j", async (script, code, says) => {
  const ran = await run(["upgrade", "--check"], { env: npm(script) });
  expect([ran.code, ran.stdout + ran.stderr]).toEqual([code, expect.stringContaining(says)]);
});

test("without npm, and without --check, it says what to do", async () => {
  expect(await run(["upgrade", "--check"], { env: { PATH: scratch() } })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("npm was not found"),
  });
  expect(await run(["upgrade"])).toMatchObject({ code: 2, stderr: expect.stringContaining("npm install -g agent-parley@latest") });
});
