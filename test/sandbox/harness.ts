/** Sessions whose commands run in a sandbox, and folders that its own temporary folder does not cover. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { start, type NativeHost, type StartOptions } from "../process/harness.js";

/** The reason for which sandboxes cannot be tried on this machine. */
export const NO_SANDBOX = reasonAgainst();
if (NO_SANDBOX !== undefined) console.warn(`Skipped, because there is no sandbox here: ${NO_SANDBOX}`);

function reasonAgainst(): string | undefined {
  if (process.platform !== "linux") return "only bubblewrap is tried, which Linux has";
  const checkout = realpathSync(join(import.meta.dirname, "../.."));
  if (/^\/(var\/)?tmp\//.test(checkout)) return `${checkout} is in a temporary folder, which a sandbox replaces by its own`;
  const tried = spawnSync("bwrap", ["--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true"], {
    encoding: "utf8",
  });
  if (tried.error !== undefined) return "bubblewrap is not installed";
  return tried.status === 0 ? undefined : `bubblewrap does not work: ${tried.stderr.trim()}`;
}

/** A folder that is not below /tmp, with these files. */
export function place(files: Record<string, string> = {}): string {
  const caches = join(import.meta.dirname, "../../node_modules/.cache");
  mkdirSync(caches, { recursive: true });
  const folder = realpathSync(mkdtempSync(join(caches, "parley-sandbox-test-")));
  fill(folder, files);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function fill(folder: string, files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

export interface Tried extends Omit<StartOptions, "responses"> {
  /** Of the session. */
  config?: Record<string, unknown>;
  background?: boolean;
}

/** A session in which a model runs the commands, one after another; whatever is asked gets a yes, so that only the sandbox stops them. */
export async function begin(commands: readonly string[], { config, background, args = [], ...options }: Tried = {}): Promise<NativeHost> {
  const calls = commands.map((command, at) => ({
    call: { tool: "Bash", args: { command, ...(background === true && { background }) }, id: `c${at}` },
  }));
  const host = start({ cwd: place(), args: ["--sandbox", "required", ...args], ...options, responses: [...calls, { say: "done" }] });
  await host.open({ mode: "yolo", ...config });
  host.prompt("go");
  const ended = host.turnEnded();
  for (let asked = 0; ; asked++) {
    const event = await Promise.race([
      ended,
      host.next("approval.requested", (each) => host.ofType("approval.requested").indexOf(each) === asked),
    ]);
    if (event.type === "turn.ended") return host;
    for (const { id } of event.calls) host.allow(id);
  }
}

/** The results of the commands: all that was shown of each. */
export async function results(commands: readonly string[], options: Tried = {}): Promise<string[]> {
  const host = await begin(commands, options);
  const found = commands.map((_, at) => resultOf(host, `c${at}`));
  expect(await host.finish()).toBe(0);
  return found;
}

export function resultOf(host: NativeHost, id: string): string {
  const ended = host.ofType("tool.ended").find(({ call }) => call === id);
  return (ended?.output ?? []).map((part) => ("text" in part && typeof part.text === "string" ? part.text : "")).join("\n");
}
