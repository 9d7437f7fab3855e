/** Bash: a shell command in the workspace, to its end or in the background. */
import { mkdtemp, rm } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { ParleyError } from "../../../core/errors.js";
import { endingOf } from "../../workspace/command-end.js";
import { OutputBuffer } from "../../workspace/output.js";
import type { ExecRequest, Running } from "../../workspace/workspace.js";
import { BackgroundLog, KEPT_OUTPUT } from "./background-log.js";
import { progressOf } from "./progress.js";
import { failure, NOTES_CHARS } from "../files/text-file.js";
import { oneLine } from "../title.js";
import { defineTool, textResult, type ToolContext, type ToolResult } from "../tool.js";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
const TITLE_CHARS = 80;

export const bash = defineTool({
  name: "Bash",
  category: "exec",
  access: "exclusive",
  description:
    "Runs a shell command in the workspace's root and returns its exit code and output. Each call is a new shell without input. " +
    `It is ended after timeout milliseconds (${DEFAULT_TIMEOUT_MS} unless given, ${MAX_TIMEOUT_MS} at most). ` +
    `With background true it returns at once and the output goes to a log file, whose newest ${KEPT_OUTPUT} stay: use it for servers. ` +
    "Prefer Read, Edit, Glob and Grep to cat, sed, find and grep.",
  args: v.object({
    command: v.pipe(v.string(), v.regex(/\S/, "must not be empty"), v.description("The command.")),
    timeout: v.optional(
      v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_TIMEOUT_MS), v.description("Time limit in milliseconds.")),
    ),
    background: v.optional(v.pipe(v.boolean(), v.description("Return at once and let it run until the session ends."))),
    description: v.optional(v.pipe(v.string(), v.description("What the command does, in a few words."))),
  }),
  title: (args) => `Execute: ${oneLine(args.command, TITLE_CHARS)}`,
  run: (args, context) =>
    args.background === true ? runInBackground(args.command, context) : runToEnd(args.command, args.timeout ?? DEFAULT_TIMEOUT_MS, context),
});

async function runToEnd(command: string, timeoutMs: number, context: ToolContext): Promise<ToolResult> {
  const output = { stdout: new OutputBuffer(context.outputChars), stderr: new OutputBuffer(context.outputChars) };
  const progress = progressOf((text, channel) => context.progress(text, channel));
  const safe = { stdout: context.redactor.stream(), stderr: context.redactor.stream() };
  const tell = (channel: "stdout" | "stderr", text: string): void => {
    if (text === "") return;
    output[channel].push(text);
    progress.push(channel, text);
  };
  const running = await startShell(context, {
    args: () => ["-c", command],
    onOutput: (channel, text) => tell(channel, safe[channel].push(text)),
  });
  const ending = await endingOf(running, timeoutMs, context.signal);
  for (const channel of ["stdout", "stderr"] as const) tell(channel, safe[channel].flush());
  progress.end();
  if (ending === "interrupted") return failure("The command was interrupted.");
  const sections = outputSections(output, Math.max(0, context.outputChars - NOTES_CHARS));
  if (ending === "timed out") return terminal([`Command timed out after ${timeoutMs}ms`, ...sections], null);
  adopt(running, context);
  const exitCode = ending.code ?? 128 + signalNumber(ending.signal);
  const killed = ending.signal === null ? "" : ` (killed by ${ending.signal})`;
  return terminal([`Exit code: ${exitCode}${killed}`, ...sections], exitCode);
}

async function runInBackground(command: string, context: ToolContext): Promise<ToolResult> {
  const folder = await mkdtemp(join(tmpdir(), "parley-bash-"));
  const file = join(folder, "output.log");
  const log = new BackgroundLog(file);
  const safe = context.redactor.stream();
  const forget = async (): Promise<void> => {
    log.close();
    await rm(folder, { recursive: true, force: true });
  };
  const running = await startShell(context, {
    args: (shell) => ["-c", 'exec "$0" -c "$1" 2>&1', shell, command],
    onOutput: (_, text) => log.push(safe.push(text)),
    leftovers: true,
  }).catch(async (error: unknown) => {
    await forget();
    throw error;
  });
  void running.exited.then(() => log.push(safe.flush()));
  // The log stays until the session ends, because it may still be read after the command has ended.
  context.adopt({ exited: new Promise(() => {}), end: (graceMs) => running.end(graceMs).then(forget) });
  const { pid } = running;
  return textResult(`Running in the background, process ${pid}.\nOutput: ${file}\nTo stop it: kill -- -${pid}`);
}

interface ShellRequest extends Pick<ExecRequest, "onOutput" | "leftovers"> {
  args(shell: string): string[];
}

/** Bash, or sh where there is none. */
async function startShell(context: ToolContext, { args, ...request }: ShellRequest): Promise<Running> {
  const start = (shell: string): Promise<Running> => context.workspace.exec({ ...request, argv: [shell, ...args(shell)] });
  try {
    return await start("bash");
  } catch (error) {
    if (!(error instanceof ParleyError) || error.fault.code !== "launch") throw error;
    return start("sh");
  }
}

/** A process that runs on, a server behind `&` say, may stay as long as the session, even when its shell has gone. */
function adopt(running: Running, context: ToolContext): void {
  let ended = (): void => undefined;
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  context.adopt({
    exited: running.leftover.then((isLeft) => (isLeft ? end : undefined)),
    end: (graceMs) => running.end(graceMs).finally(ended),
  });
}

/** A channel may use the room that the other leaves; when both are long they share it. */
function outputSections(output: { stdout: OutputBuffer; stderr: OutputBuffer }, max: number): string[] {
  const half = Math.floor(max / 2);
  return [
    section("STDOUT", output.stdout, Math.max(half, max - output.stderr.length)),
    section("STDERR", output.stderr, Math.max(half, max - output.stdout.length)),
  ].flat();
}

function section(name: string, buffer: OutputBuffer, max: number): string[] {
  return buffer.length === 0 ? [] : [`${name}:\n${buffer.text(max).replace(/\r?\n$/, "")}`];
}

function terminal(sections: readonly string[], exitCode: number | null): ToolResult {
  return { parts: [{ type: "terminal", text: sections.join("\n"), exitCode }], ...(exitCode !== 0 && { failed: true }) };
}

function signalNumber(signal: string | null): number {
  return Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0;
}
