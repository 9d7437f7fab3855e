/** The diff part of a changed file: a patch that `git apply` and `patch -p1` take. */
import type { StructuredPatch, StructuredPatchHunk } from "diff";
import type { PartOf } from "../../../core/content.js";
import { linesOf } from "./text-file.js";

/** A larger diff would not fit a line: the patch repeats the text, and a character may have three bytes. */
const MAX_CHARS = 2 * 1024 * 1024;

/** After this time a coarse diff is made instead of a fine one. */
const TIMEOUT_MS = 500;

/** The whole text of a file before and after the change. */
interface FileFate {
  isDeleted?: boolean;
  /** The path before a move. */
  from?: string | undefined;
}

/** `before` is null for a new file. Returns no part if the texts are too large. */
export async function diffParts(
  path: string,
  before: string | null,
  after: string,
  { isDeleted = false, from }: FileFate = {},
): Promise<PartOf<"diff">[]> {
  if ((before ?? "").length + after.length > MAX_CHARS) return [];
  const { formatPatch, FILE_HEADERS_ONLY, structuredPatch } = await import("diff");
  const old = before ?? "";
  const name = path.replace(/^\/+/, "");
  const created = before === null;
  const oldName = created ? "/dev/null" : `a/${from === undefined ? name : from.replace(/^\/+/, "")}`;
  const newName = isDeleted ? "/dev/null" : `b/${name}`;
  const fine = structuredPatch(oldName, newName, old, after, undefined, undefined, { context: 3, timeout: TIMEOUT_MS });
  const patch: StructuredPatch = fine ?? {
    oldFileName: oldName,
    newFileName: newName,
    oldHeader: undefined,
    newHeader: undefined,
    hunks: [wholeFileHunk(old, after)],
  };
  return [{ type: "diff", path, before, after, patch: patchText(), stat: countLines(patch.hunks) }];

  function patchText(): string {
    // Only Git's own header can say that an empty file was created or deleted, or that a file moved.
    if (created && after === "") return formatPatch({ ...patch, isGit: true, isCreate: true });
    if (isDeleted && old === "") return formatPatch({ ...patch, isGit: true, isDelete: true });
    if (from !== undefined) return formatPatch({ ...patch, isGit: true, isRename: true });
    return patch.hunks.length === 0 ? "" : withTabs(formatPatch(patch, FILE_HEADERS_ONLY));
  }
}

/** Git writes a tab behind an unquoted name with blanks; without the tab `patch` would take the first word as the name. */
function withTabs(patch: string): string {
  return patch.replace(/^.*\n.*\n/, (headers) => headers.replace(/^... [^"\n]* [^"\n]*$/gm, "$&\t"));
}

function wholeFileHunk(before: string, after: string): StructuredPatchHunk {
  const removed = sideLines("-", before);
  const added = sideLines("+", after);
  return { oldStart: 1, oldLines: removed.count, newStart: 1, newLines: added.count, lines: [...removed.lines, ...added.lines] };
}

function sideLines(mark: "-" | "+", text: string): { lines: string[]; count: number } {
  const lines = linesOf(text).map((line) => mark + line);
  const count = lines.length;
  if (text !== "" && !text.endsWith("\n")) lines.push("\\ No newline at end of file");
  return { lines, count };
}

function countLines(hunks: readonly StructuredPatchHunk[]): { added: number; removed: number } {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return { added: lines.filter((line) => line.startsWith("+")).length, removed: lines.filter((line) => line.startsWith("-")).length };
}
