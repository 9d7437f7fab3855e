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

export async function runShell(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<{ code: number | null; output: string }> {
  const child = spawn("bash", ["-e", "-o", "pipefail", "-c", command], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => void (output += text.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, output };
}

/** The shown lines that the output does not have, or not in this order. */
export function missingIn(output: string, shown: readonly string[]): string[] {
  const lines = output.split("\n");
  return shown.filter((each) => {
    const at = lines.findIndex((line) => fits(line, each));
    if (at >= 0) lines.splice(0, at + 1);
    return at < 0;
  });
}

/** An ellipsis stands for any text. */
export function fits(line: string, shown: string): boolean {
  const parts = shown.split("…").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join(".*")}$`).test(line);
}
