/**
 * The helpers of the file tools: how much they read, which bytes count as text, how paths are shown, and whether a file is still as it was
 * seen.
 */
import { relative, sep } from "node:path";
import type { FileInfo, Workspace } from "../../workspace/workspace.js";
import { textResult, type ToolContext, type ToolResult } from "../tool.js";

/** Room that a result leaves for its headings and notes, so that the whole stays within the output's bound. */
export const NOTES_CHARS = 200;

export const MAX_FILE_BYTES = 20 * 1024 * 1024;

export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8192).includes(0);
}

/** Null when the bytes are not UTF-8; a byte order mark stays, so that the text can be written back. */
export function exactText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** A newline ends a line; the last line may go without. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Relative to the workspace's root where it lies inside, absolute where not. */
export function shownPath(workspace: Workspace, path: string): string {
  if (path === workspace.root) return ".";
  const below = relative(workspace.root, path);
  return below.startsWith(`..${sep}`) || below === ".." ? path : below;
}

/** True when the session saw the file and it has changed since. */
export function isStale(context: ToolContext, path: string, stamp: string): boolean {
  const seen = context.seen.stampOf(path);
  return seen !== undefined && seen !== stamp;
}

/** Call it last, just before the file is replaced: another program may write it meanwhile. */
export async function isUnchanged({ workspace }: ToolContext, path: string, before: FileInfo | null): Promise<boolean> {
  return (await workspace.info(path))?.stamp === before?.stamp;
}

export async function noteSeen(context: ToolContext, path: string): Promise<void> {
  const info = await context.workspace.info(path);
  if (info !== null) context.seen.note(path, info.stamp);
}

export function failure(text: string): ToolResult {
  return textResult(text, true);
}
