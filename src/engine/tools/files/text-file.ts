/**
 * The helpers of the file tools: the reading bound, the bytes that count as text, the form of shown paths, and the check whether a file
 * has changed since it was seen.
 */
import { relative, sep } from "node:path";
import type { FileInfo, Workspace } from "../../workspace/workspace.js";
import { textResult, type ToolContext, type ToolResult } from "../tool.js";

/** Characters reserved for headings and notes, so that the whole result stays within the output's bound. */
export const NOTES_CHARS = 200;

export const MAX_FILE_BYTES = 20 * 1024 * 1024;

export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8192).includes(0);
}

/** Null for bytes that are not UTF-8. A byte order mark stays, so that the text can be written back. */
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

/** Relative to the workspace's root if inside it, absolute otherwise. */
export function shownPath(workspace: Workspace, path: string): string {
  if (path === workspace.root) return ".";
  const below = relative(workspace.root, path);
  return below.startsWith(`..${sep}`) || below === ".." ? path : below;
}

/** Whether the session saw the file and it has changed since. */
export function isStale(context: ToolContext, path: string, stamp: string): boolean {
  const seen = context.seen.stampOf(path);
  return seen !== undefined && seen !== stamp;
}

/** Call it last, just before replacing the file: another program may have written it meanwhile. */
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
