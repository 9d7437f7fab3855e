/** The search without ripgrep: the same lines in the same form, slower. */
import { join } from "node:path";
import { messageOf, ParleyError } from "../../../core/errors.js";
import { TimeBox } from "./time-box.js";
import { isBinary, linesOf } from "../files/text-file.js";
import type { Workspace } from "../../workspace/workspace.js";

export type Mode = "content" | "files" | "count";

const MAX_BYTES = 2 * 1024 * 1024;
/** Files that are in memory at once. */
const BATCH = 16;

interface FileSearch {
  workspace: Workspace;
  /** Paths relative to the folder. */
  files: readonly string[];
  folder: string;
  test: (line: string) => boolean;
  mode: Mode;
  /** Lines around a match, with content. */
  around: number;
  signal: AbortSignal;
  /** Each line begins with "./" and the file's path. Returns false when it has enough. */
  onLine(line: string): boolean;
}

/** A test for lines, or a sentence saying why the pattern is none. */
export function lineSearch(pattern: string, ignoreCase: boolean): ((line: string) => boolean) | string {
  const flags = ignoreCase ? "i" : "";
  try {
    const expression = compiled(pattern, flags);
    return (line) => expression.test(line);
  } catch (error) {
    return `regex parse error: ${messageOf(error)}`;
  }
}

/** Unicode classes need the `u` flag, which on the other hand refuses needless escapes. */
function compiled(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, `${flags}u`);
  } catch {
    return new RegExp(pattern, flags);
  }
}

/** Why the search was given up, if it was. */
export async function searchFiles(search: FileSearch): Promise<string | undefined> {
  const time = new TimeBox();
  let first = true;
  for (let at = 0; at < search.files.length; at += BATCH) {
    if (search.signal.aborted) throw new ParleyError({ code: "tool", message: "The search was interrupted.", retryable: false });
    const batch = await Promise.all(
      search.files
        .slice(at, at + BATCH)
        .map(async (file) => ({ file, lines: await textLines(search.workspace, join(search.folder, file)) })),
    );
    const found = time.run(() => batch.map(({ lines }) => lines.flatMap((line, index) => (search.test(line) ? [index] : []))));
    if (found === undefined) return "The pattern takes too long to match; use a simpler one, or search fewer files.";
    for (const [index, { file, lines }] of batch.entries()) {
      const hits = found.done[index] ?? [];
      if (hits.length === 0) continue;
      for (const line of report(`./${file}`, lines, hits, search, first)) {
        if (!search.onLine(line)) return undefined;
      }
      first = false;
    }
  }
  return undefined;
}

function report(name: string, lines: readonly string[], hits: readonly number[], search: FileSearch, first: boolean): Iterable<string> {
  switch (search.mode) {
    case "files":
      return [name];
    case "count":
      return [`${name}:${hits.length}`];
    case "content":
      return contentLines(name, lines, hits, search.around, first);
    default:
      return search.mode satisfies never;
  }
}

/** With context, groups of lines that do not touch are parted by "--". */
function* contentLines(name: string, lines: readonly string[], hits: readonly number[], around: number, first: boolean): Generator<string> {
  const isHit = new Set(hits);
  let next = -1;
  for (const hit of hits) {
    const start = Math.max(hit - around, next, 0);
    const parted = next === -1 ? !first : start > next;
    if (around > 0 && parted) yield "--";
    const end = Math.min(hit + around, lines.length - 1);
    for (let index = start; index <= end; index++) {
      const mark = isHit.has(index) ? ":" : "-";
      yield `${name}${mark}${index + 1}${mark}${lines[index] ?? ""}`;
    }
    next = Math.max(next, end + 1);
  }
}

/** The lines of a file; none where it is large, binary or not to be read. */
async function textLines(workspace: Workspace, path: string): Promise<string[]> {
  try {
    const bytes = await workspace.read(path, MAX_BYTES);
    return isBinary(bytes) ? [] : linesOf(new TextDecoder().decode(bytes)).map((line) => line.replace(/\r$/, ""));
  } catch {
    return [];
  }
}
