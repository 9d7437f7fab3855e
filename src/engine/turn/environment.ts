/** The environment block of the system prompt: facts about the machine and the workspace, gathered once a session. */
import { release } from "node:os";
import { basename } from "node:path";
import type { Redactor } from "../../core/secrets/redact.js";
import { branchOf, gitRepositoryOf, isPlainRepository } from "../workspace/repository.js";
import type { Workspace } from "../workspace/workspace.js";

/** Longer lists are cut: a block is for orientation, and `git status` gives the rest. */
const MAX_CHANGES = 40;
const MAX_LINE = 200;
const MAX_OUTPUT = 64 * 1024;
const SUBJECTS = 5;
const GIT_SECONDS = 5;

/** Git writes nothing, runs no monitor and no hook, and does not look into submodules. */
const GIT = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "color.ui=false"];

export interface EnvironmentOptions {
  shell: string | undefined;
  /** The user trusts the workspace, so that programs named in its git config may run. */
  isTrusted: boolean;
  now: Date;
  redactor: Redactor;
}

export async function environmentBlock(workspace: Workspace, options: EnvironmentOptions): Promise<string> {
  const { root, directories } = workspace;
  const { shell, now } = options;
  const lines = [
    "# Environment",
    `Date: ${now.toISOString().slice(0, 10)}`,
    `Working folder: ${root}`,
    ...directories.map((folder) => `Further folder of the workspace: ${folder}`),
    ...(await gitLines(workspace, options)),
    `System: ${process.platform} ${release()} ${process.arch}`,
    ...(shell === undefined || shell === "" ? [] : [`Shell: ${basename(shell)}`]),
  ];
  return options.redactor.text(lines.join("\n"));
}

async function gitLines(workspace: Workspace, { isTrusted }: EnvironmentOptions): Promise<string[]> {
  const repository = await gitRepositoryOf(workspace.root);
  if (repository === undefined) return ["Git repository: none"];
  const branch = await branchOf(repository);
  const head = `Git repository: ${repository}${branch === undefined ? "" : `, branch ${branch}`}`;
  if (!isTrusted && !(await isPlainRepository(repository))) return [head];
  const [status, subjects] = await Promise.all([
    git(workspace, ["status", "--short", "--ignore-submodules=all"]),
    git(workspace, ["log", "--oneline", "--no-decorate", "--no-show-signature", `-${SUBJECTS}`]),
  ]);
  return [head, ...changes(status), ...(subjects === undefined || subjects.length === 0 ? [] : ["Last commits:", ...subjects.map(cut)])];
}

function changes(status: string[] | undefined): string[] {
  if (status === undefined) return [];
  if (status.length === 0) return ["Changes when the session began: none"];
  const left = status.length - MAX_CHANGES;
  return [
    "Changes when the session began (git status --short):",
    ...status.slice(0, MAX_CHANGES).map(cut),
    ...(left > 0 ? [`… and ${left} more`] : []),
  ];
}

function cut(line: string): string {
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line;
}

/** Undefined when git is not there, refuses, or takes too long. */
async function git(workspace: Workspace, args: readonly string[]): Promise<string[] | undefined> {
  let output = "";
  try {
    const running = await workspace.exec({
      argv: [...GIT, ...args],
      isAlone: true,
      onOutput: (channel, text) => {
        if (channel === "stdout" && output.length < MAX_OUTPUT) output += text;
      },
    });
    const timer = setTimeout(() => void running.end(0), GIT_SECONDS * 1000);
    const { code } = await running.exited.finally(() => clearTimeout(timer));
    return code === 0 ? output.split("\n").filter((line) => line !== "") : undefined;
  } catch {
    return undefined;
  }
}
