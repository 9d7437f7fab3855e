/** A tool context for tests: a real folder, a real workspace, and a record of the tool's progress. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { plainText } from "../../core/content.js";
import { Redactor } from "../../core/secrets/redact.js";
import { ParleyError } from "../../core/errors.js";
import { localWorkspace } from "../workspace/local.js";
import { AgentShell } from "./shell/agent-shell.js";
import { OutputFiles } from "./shell/output-files.js";
import type { Tool, ToolContext, ToolResult } from "./tool.js";

export interface Bench {
  root: string;
  context: ToolContext;
  progress: { text: string; channel: string | undefined }[];
  adopted: { end(graceMs: number): Promise<void>; exited: Promise<unknown> }[];
  abort: AbortController;
  /** Checks the arguments as the engine does, then runs. */
  run: (tool: Tool, args: Record<string, unknown>) => Promise<ToolResult>;
  /** Runs the tool, and returns its text; a failure begins with "FAILED: ". */
  say: (tool: Tool, args: Record<string, unknown>) => Promise<string>;
}

/** The workspace is removed after the test, and adopted processes are ended. */
export async function bench(options: { outputChars?: number; outside?: boolean; env?: Record<string, string> } = {}): Promise<Bench> {
  const root = await tempFolder();
  const env = options.env ?? { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };
  const workspace = await localWorkspace(root, { env });
  const stamps = new Map<string, string>();
  const abort = new AbortController();
  const progress: Bench["progress"] = [];
  const adopted: Bench["adopted"] = [];
  const outputs = new OutputFiles();
  const context: ToolContext = {
    call: "call-1",
    signal: abort.signal,
    workspace,
    seen: { note: (path, stamp) => void stamps.set(path, stamp), stampOf: (path) => stamps.get(path) },
    shell: new AgentShell(),
    outputs,
    outputChars: options.outputChars ?? 50_000,
    redactor: new Redactor(),
    async locate(path) {
      const place = await workspace.resolve(path);
      if (!place.inside && options.outside !== true) throw new ParleyError({ code: "tool", message: `${path} lies outside the workspace` });
      return place.path;
    },
    hiding: () => undefined,
    progress: (text, channel) => void progress.push({ text, channel }),
    adopt: (child) => void adopted.push(child),
    leavePlan: () => "default",
    searchWeb: () => Promise.reject(new Error("no search here")),
    spawn: () => Promise.reject(new Error("no sub-agents here")),
  };
  onTestFinished(async () => {
    await Promise.all(adopted.map((child) => child.end(0)));
    outputs.remove();
  });
  async function run(tool: Tool, args: Record<string, unknown>): Promise<ToolResult> {
    const problem = tool.problem(args);
    if (problem !== undefined) throw new Error(`problem: ${problem}`);
    return tool.run(args, context);
  }
  async function say(tool: Tool, args: Record<string, unknown>): Promise<string> {
    const result = await run(tool, args);
    return (result.failed === true ? "FAILED: " : "") + plainText(result.parts.filter((part) => part.type !== "diff"));
  }
  return { root: workspace.root, context, progress, adopted, abort, run, say };
}

export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Waits until the condition holds, up to the test's own time limit. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
