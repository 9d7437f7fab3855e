/** Bash: a shell command in the workspace, to its end or in the background. */
import { closeSync, constants, fstatSync, openSync, readSync, rmSync } from "node:fs";
import { constants as system } from "node:os";
import { isAbsolute } from "node:path";
import * as v from "valibot";
import { ParleyError } from "../../../core/errors.js";
import { endingOf } from "../../workspace/command-end.js";
import { OutputBuffer } from "../../workspace/output.js";
import type { ExecRequest, Running } from "../../workspace/workspace.js";
import type { BackgroundCommand } from "./background-commands.js";
import { KEPT_OUTPUT } from "./background-log.js";
import type { FolderMark, OutputFile } from "./output-files.js";
import { progressOf } from "./progress.js";
import { failure } from "../files/text-file.js";
import { toolError } from "../../workspace/local-files.js";
import { oneLine } from "../title.js";
import { defineTool, textResult, type Tool, type ToolContext, type ToolResult } from "../tool.js";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
const TITLE_CHARS = 80;
/** Characters of a result reserved for our own words: the exit code, the file, the folder. Small results keep a third for output. */
const NOTES_CHARS = 500;

const DESCRIPTION =
  "Runs a shell command and returns its exit code and output. Each call is a new shell without input; it begins in workdir, or else where " +
  "the cd of an earlier answer's command has ended inside the workspace (first in its root). " +
  `A command that runs longer than timeout milliseconds (${DEFAULT_TIMEOUT_MS} unless given, ${MAX_TIMEOUT_MS} at most) goes on in the ` +
  "background. With background true it does so at once, and takes input: use it for servers and for programs that ask. BashOutput reads on, " +
  `writes input or ends it, and you are told when it ends. Output that is cut is whole in a file (the newest ${KEPT_OUTPUT} at least). ` +
  "Prefer Read, Edit, Glob and Grep to cat, sed, find and grep.";

const ARGS = {
  command: v.pipe(v.string(), v.regex(/\S/, "must not be empty"), v.description("The command.")),
  workdir: v.optional(
    v.pipe(v.string(), v.regex(/\S/, "must not be empty"), v.description("The folder to run it in, from the workspace's root.")),
  ),
  timeout: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_TIMEOUT_MS), v.description("Time limit in milliseconds.")),
  ),
  background: v.optional(v.pipe(v.boolean(), v.description("Return at once and let it run until the session ends."))),
  description: v.optional(v.pipe(v.string(), v.description("What the command does, in a few words."))),
};

const Needs = v.array(v.pipe(v.string(), v.regex(/^(?:network$|outside$|[/~.])/, "must be network, outside or a path")));

const NEEDS = {
  needs: v.optional(
    v.pipe(
      Needs,
      v.description('What it needs beyond the sandbox: "network", a file or folder to write (it must exist), or "outside" for no sandbox.'),
    ),
  ),
};

export const bash = bashWith(undefined);

/** With a sandbox, a command can say what it needs beyond it. `words` are about the sandbox, for the model. */
export function bashWith(words: string | undefined): Tool {
  return defineTool({
    name: "Bash",
    category: "exec",
    access: "exclusive",
    confined: true,
    description: words === undefined ? DESCRIPTION : `${DESCRIPTION} ${words} ${ASKED}`,
    args: v.object(words === undefined ? ARGS : { ...ARGS, ...NEEDS }),
    needs: needed,
    title: (args) => `Execute: ${oneLine(args.command, TITLE_CHARS)}`,
    paths: ({ workdir, ...args }) => [
      ...(workdir === undefined ? [] : [{ path: workdir, write: false }]),
      ...needed(args).paths.map((path) => ({ path, write: true })),
    ],
    async run({ command, workdir, background, timeout = DEFAULT_TIMEOUT_MS, ...args }, context) {
      const needs = await granted(args, context);
      const place = workdir === undefined ? { cwd: context.folder, lasts: true } : { cwd: await context.locate(workdir), lasts: false };
      const file = context.outputs.file(roomFor(context));
      try {
        return background === true
          ? await runInBackground(command, { cwd: place.cwd, needs, file }, context)
          : await runToEnd(command, { ...place, needs, timeout, file }, context);
      } catch (error) {
        file.close();
        throw error;
      }
    },
  });
}

const ASKED = "A command that must do more says so in needs, and the user is asked; try it without first.";

interface Needed {
  network: boolean;
  outside: boolean;
  paths: string[];
}

function needed(args: object): Needed {
  const found = "needs" in args && v.is(Needs, args.needs) ? args.needs : [];
  const paths = found.filter((need) => need !== "network" && need !== "outside");
  return { network: found.includes("network"), outside: found.includes("outside"), paths };
}

/** The needs of a call that got a yes, with the paths that were judged. */
async function granted(args: object, context: ToolContext): Promise<Granted> {
  const { paths, ...needs } = needed(args);
  const write = await Promise.all(paths.map((path) => context.locate(path)));
  for (const path of write) {
    if ((await context.workspace.info(path)) === null)
      throw toolError(`needs: ${path} does not exist; name the folder that it is to be in`);
  }
  return { ...needs, write };
}

type Granted = NonNullable<ExecRequest["needs"]>;

interface Place {
  cwd: string | undefined;
  needs: Granted;
  file: OutputFile;
}

interface Foreground extends Place {
  /** The folder in which a command ends is the start folder of the next one. */
  lasts: boolean;
  timeout: number;
}

async function runToEnd(command: string, { cwd, needs, lasts, timeout, file }: Foreground, context: ToolContext): Promise<ToolResult> {
  const output = { stdout: new OutputBuffer(context.outputChars), stderr: new OutputBuffer(context.outputChars) };
  const progress = progressOf((text, channel) => context.progress(text, channel));
  const safe = { stdout: context.redactor.stream(), stderr: context.redactor.stream() };
  let moved: BackgroundCommand | undefined;
  const tell = (channel: "stdout" | "stderr", text: string): void => {
    if (text === "") return;
    if (moved !== undefined) return moved.push(text);
    file.push(text);
    output[channel].push(text);
    progress.push(channel, text);
  };
  const flush = (): void => {
    for (const channel of ["stdout", "stderr"] as const) tell(channel, safe[channel].flush());
  };
  const mark = lasts && needs.outside !== true && CHANGES_FOLDER.test(command) ? context.outputs.mark() : undefined;
  const running = await startShell(context, {
    args: () => ["-c", mark === undefined ? command : `trap 'command pwd -P >"${mark.inside}"' EXIT; ${command}`],
    onOutput: (channel, text) => tell(channel, safe[channel].push(text)),
    needs,
    ...(cwd !== undefined && { cwd }),
  });
  void running.exited.then(flush);
  const ending = await endingOf(running, timeout, context.signal, running.isHosted === true ? "end" : "keep");
  progress.end();
  if (ending === "interrupted") {
    file.close();
    return failure("The command was interrupted.");
  }
  if (ending === "timed out") {
    if (running.isHosted === true) return terminal([`Command timed out after ${timeout}ms`, ...outputSections(output, context)], null);
    const { redactor, outputChars } = context;
    moved = context.shell.commands.add({ command, running, file, outputChars, redactor });
    keep(moved, running, context);
    const { id } = moved;
    const words = `Still running after ${timeout}ms: it goes on in the background as ${id}. BashOutput reads on, waits for its end, or ends it.`;
    return {
      parts: [
        { type: "terminal", text: [words, `Whole output: ${moved.file}`, ...outputSections(output, context)].join("\n"), exitCode: null },
      ],
    };
  }
  file.close();
  adopt(running, context);
  const exitCode = ending.code ?? 128 + signalNumber(ending.signal);
  const killed = ending.signal === null ? "" : ` (killed by ${ending.signal})`;
  const whole = file.path === undefined ? [] : [`Whole output: ${file.path}`];
  const folder = mark === undefined ? [] : await enterFolder(mark, context);
  return terminal([`Exit code: ${exitCode}${killed}`, ...folder, ...whole, ...outputSections(output, context)], exitCode);
}

async function runInBackground(command: string, { cwd, needs, file }: Place, context: ToolContext): Promise<ToolResult> {
  const safe = context.redactor.stream();
  let early = "";
  let started: BackgroundCommand | undefined;
  const push = (text: string): void => {
    if (started === undefined) early += text;
    else started.push(text);
  };
  const running = await startShell(context, {
    // With an open input bash believes it is a remote shell, and would read the user's .bashrc.
    args: (shell) => {
      const plain = shell === "bash" ? ["--norc"] : [];
      return [...plain, "-c", 'exec "$@" 2>&1', shell, shell, ...plain, "-c", command];
    },
    onOutput: (_, text) => push(safe.push(text)),
    leftovers: true,
    interactive: true,
    needs,
    ...(cwd !== undefined && { cwd }),
  });
  void running.exited.then(() => push(safe.flush()));
  const { redactor, outputChars } = context;
  started = context.shell.commands.add({ command, running, file, outputChars, redactor });
  started.push(early);
  keep(started, running, context);
  const { id } = started;
  const { pid } = running;
  return textResult(
    `Running in the background as ${id}, process ${pid}.\nOutput: ${started.file}\nBashOutput with the id reads it, writes input, or ends it.`,
  );
}

/** The command ends with the session, and so do processes that it leaves behind. */
function keep(command: BackgroundCommand, running: Running, context: ToolContext): void {
  adopt(running, context);
  void Promise.all([command.ended, running.leftover]).then(([, isLeft]) => (isLeft ? undefined : command.close()));
}

// The folder

/** A command without these words ends in its start folder. */
const CHANGES_FOLDER = /\b(?:cd|pushd|popd)\b/;

/** Makes the folder in which the command ended the agent's new folder. Returns words about it. */
async function enterFolder(mark: FolderMark, { shell, workspace, folder = workspace.root }: ToolContext): Promise<string[]> {
  const path = readMark(mark.outside);
  if (path === undefined || path === folder) return [];
  const place = await workspace.resolve(path);
  if (!place.inside) return [`The next command begins in ${folder} again: ${path} lies outside the workspace.`];
  shell.folder = place.path;
  return [`The next command begins in ${place.path}.`];
}

/** Undefined if the shell could not report the folder. The command can write to the file: nothing but a short plain file is read. */
function readMark(mark: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(mark, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!fstatSync(file).isFile()) return undefined;
    const bytes = Buffer.alloc(MAX_PATH_BYTES + 1);
    const path = bytes.toString("utf8", 0, readSync(file, bytes)).replace(/\n$/, "");
    return isAbsolute(path) && !path.includes("\n") && path.length <= MAX_PATH_BYTES ? path : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
    rmSync(mark, { recursive: true, force: true });
  }
}

const MAX_PATH_BYTES = 4096;

// The shell

interface ShellRequest extends Pick<ExecRequest, "onOutput" | "leftovers" | "interactive" | "cwd" | "needs"> {
  args(shell: string): string[];
}

/** Bash; sh if there is no bash. */
async function startShell(context: ToolContext, { args, ...request }: ShellRequest): Promise<Running> {
  const start = (shell: string): Promise<Running> => context.workspace.exec({ ...request, confined: true, argv: [shell, ...args(shell)] });
  try {
    return await start("bash");
  } catch (error) {
    if (!(error instanceof ParleyError) || error.fault.code !== "launch") throw error;
    return start("sh");
  }
}

/** A process that runs on, such as a server behind `&`, may live as long as the session, even after its shell has exited. */
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

// The result

function roomFor({ outputChars }: ToolContext): number {
  return Math.max(Math.floor(outputChars / 3), outputChars - NOTES_CHARS);
}

/** stdout may use the room that stderr leaves, and the reverse; long ones share it. */
function outputSections(output: { stdout: OutputBuffer; stderr: OutputBuffer }, context: ToolContext): string[] {
  const max = roomFor(context);
  const half = Math.floor(max / 2);
  return [
    ...section("STDOUT", output.stdout, Math.max(half, max - output.stderr.length)),
    ...section("STDERR", output.stderr, Math.max(half, max - output.stdout.length)),
  ];
}

function section(name: string, buffer: OutputBuffer, max: number): string[] {
  return buffer.length === 0 ? [] : [`${name}:\n${buffer.text(max).replace(/\r?\n$/, "")}`];
}

function terminal(sections: readonly string[], exitCode: number | null): ToolResult {
  return { parts: [{ type: "terminal", text: sections.join("\n"), exitCode }], ...(exitCode !== 0 && { failed: true }) };
}

function signalNumber(signal: string | null): number {
  return Object.entries(system.signals).find(([name]) => name === signal)?.[1] ?? 0;
}
