/** Grep: lines by regular expression, by ripgrep or, if it is missing, by our own search. */
import { basename, dirname, join, sep } from "node:path";
import * as v from "valibot";
import { listFiles, ripgrepFlags } from "./list-files.js";
import { headOf } from "../../workspace/output.js";
import { matchingPaths } from "./pattern.js";
import { findRipgrep } from "./ripgrep.js";
import { runLines, type LineContext } from "./run-lines.js";
import { FoundLines, shownLine } from "./found-lines.js";
import { lineSearch, searchFiles, type Mode } from "./search-files.js";
import { failure, NOTES_CHARS, shownPath } from "../files/text-file.js";
import { oneLine } from "../title.js";
import { defineTool, textResult, type Tool, type ToolContext, type ToolResult } from "../tool.js";

const MAX_LINES = 250;
/** Characters of one line to show, and to read: a secret across the first bound is masked before the cut. */
const SHOWN_COLUMNS = 500;
const READ_COLUMNS = 8000;
const TIME_LIMIT_MS = 60_000;

const Args = v.object({
  pattern: v.pipe(v.string(), v.minLength(1), v.description("The regular expression.")),
  path: v.optional(v.pipe(v.string(), v.minLength(1), v.description("The file or folder to search, the workspace's root unless given."))),
  glob: v.optional(v.pipe(v.string(), v.minLength(1), v.description('Only files that match, such as "*.ts" or "src/**/*.js".'))),
  case_insensitive: v.optional(v.boolean()),
  output_mode: v.optional(
    v.pipe(
      v.picklist(["content", "files", "count"]),
      v.description("content (default): the lines; files: the files that match; count: how many lines of each do."),
    ),
  ),
  context: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100), v.description("Lines to show around each match, with content.")),
  ),
});
type Args = v.InferOutput<typeof Args>;

export const grep = grepTool(TIME_LIMIT_MS);

export function grepTool(limitMs: number): Tool {
  return defineTool({
    name: "Grep",
    category: "info",
    access: "shared",
    description:
      `Searches file contents by a regular expression, line by line, and returns path:line:text, ${MAX_LINES} lines at most. ` +
      "Hidden files count; binary files and what .gitignore names do not.",
    args: Args,
    title: (args) => `Grep '${oneLine(args.pattern)}' in ${oneLine(args.path ?? ".")}`,
    paths: (args) => [{ path: args.path ?? ".", write: false }],
    async run(args, context) {
      const target = await context.locate(args.path ?? ".");
      const info = await context.workspace.info(target);
      if (info === null || info.kind === "other") return failure(`There is no file or folder ${args.path ?? "."}.`);
      const folder = info.kind === "folder" ? target : dirname(target);
      const files = info.kind === "folder" ? undefined : [basename(target)];
      const lines = collected(context, folder, (args.output_mode ?? "content") === "content");
      const limit = AbortSignal.timeout(limitMs);
      const running = { workspace: context.workspace, signal: AbortSignal.any([context.signal, limit]) };
      try {
        const search: Search = { args, folder, files: await searched(args, folder, files, lines, context, running), lines, running };
        const ripgrep = await findRipgrep();
        const problem = ripgrep === null ? await withoutRipgrep(search) : await withRipgrep(search, ripgrep);
        return problem === undefined ? lines.result() : failure(problem);
      } catch (error) {
        if (!limit.aborted || context.signal.aborted) throw error;
        return lines.result(`(the search was given up after ${limitMs / 1000} s; narrow it by path, glob or pattern)`);
      }
    },
  });
}

interface Search {
  args: Args;
  folder: string;
  /** Its signal ends the search at an interrupt and at the time limit. */
  running: LineContext;
  /** Paths relative to the folder; undefined: all files that are not ignored. */
  files: string[] | undefined;
  lines: Collected;
}

/** The named files, or all that are not ignored, without files that do not match or must not be read. */
async function searched(
  { glob }: Args,
  folder: string,
  named: string[] | undefined,
  lines: Collected,
  context: ToolContext,
  running: LineContext,
): Promise<string[] | undefined> {
  const hides = context.hiding(["Grep", "Read"]);
  if (glob === undefined && hides === undefined) return named;
  const listed = named ?? (await listFiles(running, folder, "path"));
  const matched = glob === undefined ? listed : await matching(glob, listed);
  const shown = hides === undefined ? matched : matched.filter((file) => !hides(join(folder, file)));
  lines.leaveOut(matched.length - shown.length);
  return shown;
}

/** The reason for which a search failed, as a sentence. */
type Problem = string | undefined;

/**
 * All threads search, and the results are sorted here. If there are too many to keep, a single thread searches in order: it
 * soon has enough.
 */
async function withRipgrep(search: Search, ripgrep: string): Promise<Problem> {
  const found = new FoundLines();
  try {
    const problem = await runRipgrep(search, ripgrep, "--sort=none", (line) => found.add(line));
    if (problem !== undefined || !found.isFull) return problem;
  } finally {
    if (!found.isFull) addAll(found.inOrder(), search.lines);
  }
  return runRipgrep(search, ripgrep, "--sort=path", (line) => search.lines.add(shownLine(line)));
}

function addAll(found: Iterable<string>, lines: Collected): void {
  for (const line of found) if (!lines.add(line)) return;
}

async function runRipgrep(
  { args, folder, files, running }: Search,
  ripgrep: string,
  order: string,
  onLine: (line: string) => boolean,
): Promise<Problem> {
  const argv = [ripgrep, ...ripgrepFlags(folder), order, ...modeFlags(args), "-e", args.pattern, "--"];
  let isEnough = false;
  for (const batch of files === undefined ? [["./"]] : inBatches(files.map((path) => `./${path}`))) {
    const take = (line: string): boolean => isBinaryNote(line) || !(isEnough = !onLine(line));
    const { code, stderr } = await runLines(running, [...argv, ...batch], folder, take);
    if (code === 2 && stderr !== "") return stderr.trim();
    if (isEnough) return undefined;
  }
  return undefined;
}

async function withoutRipgrep({ args, folder, files, lines, running }: Search): Promise<Problem> {
  const test = lineSearch(args.pattern, args.case_insensitive === true);
  if (typeof test === "string") return test;
  return searchFiles({
    workspace: running.workspace,
    files: files ?? (await listFiles(running, folder, "path")),
    folder,
    test,
    mode: args.output_mode ?? "content",
    around: args.context ?? 0,
    signal: running.signal,
    onLine: (line) => lines.add(line),
  });
}

function modeFlags(args: Args): string[] {
  const byMode: Record<Mode, string[]> = {
    content: ["--null", "--line-number", `--context=${args.context ?? 0}`, `--max-columns=${READ_COLUMNS}`, "--max-columns-preview"],
    files: ["--files-with-matches"],
    count: ["--null", "--count"],
  };
  const always = ["--no-heading", "--with-filename", "--path-separator=/", "--crlf"];
  return [...always, ...byMode[args.output_mode ?? "content"], ...(args.case_insensitive === true ? ["--ignore-case"] : [])];
}

function matching(pattern: string, files: readonly string[]): Promise<string[]> {
  return matchingPaths({ rest: pattern.replace(/^\.?\//, ""), anywhere: !pattern.includes("/") }, files);
}

/** The most characters of paths on one command line. */
const BATCH_CHARS = process.platform === "win32" ? 24_000 : 100_000;

function inBatches(files: readonly string[]): string[][] {
  const batches: string[][] = [];
  let room = 0;
  for (const file of files) {
    if (file.length > room || batches.length === 0) {
      batches.push([]);
      room = BATCH_CHARS;
    }
    batches.at(-1)?.push(file);
    room -= file.length + 1;
  }
  return batches;
}

/** Ripgrep's message for a binary file. */
function isBinaryNote(line: string): boolean {
  return /^\.\/.*: (?:WARNING: stopped searching )?binary file (?:matches|after match) \(found .* offset \d+\)\r?$/.test(line);
}

function shortened(line: string): string {
  const start = /^\.\/.*?[:-]\d+[:-]/s.exec(line)?.[0].length ?? 0;
  if (line.length - start <= SHOWN_COLUMNS) return line;
  return `${headOf(line, start + SHOWN_COLUMNS)} [... omitted end of long line]`;
}

interface Collected {
  /** Returns false if there is no room for more. */
  add(line: string): boolean;
  readonly full: boolean;
  /** Notes the number of files that rules kept out of the search. */
  leaveOut(files: number): void;
  /** `note` comes after the lines. */
  result(note?: string): ToolResult;
}

/** Takes lines that begin with "./" and a path below `folder`, up to the limit. `withText`: the line's text follows the path. */
function collected(context: ToolContext, folder: string, withText: boolean): Collected {
  const shown = shownPath(context.workspace, folder);
  const prefix = shown === "." ? "" : shown.endsWith(sep) ? shown : join(shown, sep);
  const lines: string[] = [];
  let room = context.outputChars - NOTES_CHARS;
  let full = false;
  let leftOut = 0;
  return {
    add(line) {
      const masked = context.redactor.text(line.replace(/\r$/, ""));
      const text = (withText ? shortened(masked) : masked).replace(/^\.\//, () => prefix);
      room -= text.length + 1;
      full ||= lines.length === MAX_LINES || (room < 0 && lines.length > 0);
      if (!full) lines.push(text);
      return !full;
    },
    get full() {
      return full;
    },
    leaveOut(files) {
      leftOut = files;
    },
    result(note) {
      const found = lines.length === 0 && note === undefined ? ["No matches found"] : lines;
      const cut = full ? [`(only the first ${lines.length} lines are shown; narrow the search to see more)`] : [];
      const hidden = leftOut > 0 ? [`(${leftOut === 1 ? "1 file was" : `${leftOut} files were`} not searched: rules forbid it)`] : [];
      return textResult([...found, ...cut, ...hidden, ...(note === undefined ? [] : [note])].join("\n"));
    },
  };
}
