import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Redactor } from "../../core/secrets/redact.js";
import { tempFolder } from "../tools/testing.js";
import { localWorkspace } from "../workspace/local.js";
import { environmentBlock } from "./environment.js";

const ENV = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: "/nonexistent" };

function git(folder: string, ...args: string[]): void {
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: folder, env: ENV });
}

async function repository(): Promise<string> {
  const folder = await tempFolder();
  git(folder, "init", "-q", "-b", "trunk");
  return folder;
}

async function block(folder: string, isTrusted = false): Promise<string> {
  const workspace = await localWorkspace(folder, { env: ENV });
  const options = {
    shell: "/bin/zsh",
    isTrusted,
    now: new Date("2026-02-03T04:05:06Z"),
    redactor: new Redactor([]),
  };
  return environmentBlock(workspace, options);
}

test("the block tells the date, the folder, the branch, what changed, the last commits, the system and the shell", async () => {
  const folder = await repository();
  for (let n = 1; n <= 6; n++) git(folder, "commit", "-q", "--allow-empty", "-m", `subject ${n}`);
  for (let n = 10; n < 52; n++) writeFileSync(join(folder, `file-${n}`), "");
  const text = await block(folder);
  expect(text).toContain("Date: 2026-02-03\n");
  expect(text).toContain(`Working folder: ${folder}\nGit repository: ${folder}, branch trunk\n`);
  expect(text).toContain("?? file-10\n");
  expect(text).toContain("… and 2 more\n");
  expect(text.match(/subject \d/g)).toEqual(["subject 6", "subject 5", "subject 4", "subject 3", "subject 2"]);
  expect(text).toMatch(/\nShell: zsh$/);
});

test("a folder without a repository says so", async () => {
  expect(await block(await tempFolder())).toContain("Git repository: none\n");
});

test("a repository without commits is told with its branch", async () => {
  const text = await block(await repository());
  expect(text).toContain("branch trunk\nChanges when the session began: none\n");
  expect(text).not.toContain("Last commits");
});

test("a program that the repository names runs only where the user trusts the workspace", async () => {
  const folder = await repository();
  const ran = join(folder, "ran");
  const program = join(folder, "evil");
  writeFileSync(program, `#!/bin/sh\ntouch '${ran}'\ncat\n`);
  chmodSync(program, 0o755);
  writeFileSync(join(folder, "a.txt"), "one");
  git(folder, "add", "a.txt");
  writeFileSync(join(folder, ".gitattributes"), "*.txt filter=evil\n");
  git(folder, "config", "filter.evil.clean", program);
  writeFileSync(join(folder, "a.txt"), "two");
  const text = await block(folder);
  expect(existsSync(ran)).toBe(false);
  expect(text).toContain(`Git repository: ${folder}, branch trunk\nSystem:`);
  expect(await block(folder, true)).toContain("AM a.txt\n");
  expect(existsSync(ran)).toBe(true);
});
