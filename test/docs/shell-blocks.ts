/** Runs the shell blocks of a page as they stand, in a scratch folder, with `parley` on the PATH and no key. */
import { spawn } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PARLEY, scratch } from "../process/harness.js";

export const ROOT = join(import.meta.dirname, "../..");

export interface ShellBlock {
  command: string;
  /** The lines of the `text` block behind it. */
  expected: readonly string[];
}

export function textOf(page: string): string {
  return readFileSync(join(ROOT, page), "utf8");
}

export function shellBlocks(page: string): ShellBlock[] {
  const blocks = textOf(page).matchAll(/^```sh\n([^]*?)^```\n(?:\n```text\n([^]*?)^```\n)?/gm);
  return [...blocks].map(([, command = "", expected = ""]) => ({ command, expected: expected.split("\n").filter((line) => line !== "") }));
}

/** Runs the blocks one after the other in one folder, as a reader would. */
export async function runBlocks(blocks: readonly ShellBlock[]): Promise<{ code: number | null; output: string }[]> {
  const bin = scratch({ parley: `#!/bin/sh\nexec '${process.execPath}' '${PARLEY}' "$@"\n` });
  chmodSync(join(bin, "parley"), 0o755);
  const home = scratch();
  const cwd = scratch();
  writeFileSync(join(cwd, "package.json"), "{}");
  const env = { PATH: `${bin}:${process.env["PATH"] ?? ""}`, HOME: home, PARLEY_HOME: join(home, ".parley") };
  const results = [];
  for (const { command } of blocks) results.push(await runShell(command, cwd, env));
  return results;
}

async function runShell(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<{ code: number | null; output: string }> {
  const child = spawn("bash", ["-e", "-o", "pipefail", "-c", command], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => void (output += text.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, output };
}
