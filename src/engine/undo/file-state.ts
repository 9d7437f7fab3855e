/** The present state of a file: its content by hash, and its mode. */
import { contentHash } from "../../os/digest.js";
import type { FileState } from "../store/entry.js";
import { MAX_FILE_BYTES } from "../tools/files/text-file.js";
import type { Workspace } from "../workspace/workspace.js";

/** Null if there is no file. `bytes` are missing for a file that is too large to read, or is no regular file. */
export interface Look {
  state: FileState | null;
  bytes?: Uint8Array;
}

export async function look(workspace: Workspace, path: string): Promise<Look> {
  const info = await workspace.info(path);
  if (info === null) return { state: null };
  const { mode, kind, size, stamp } = info;
  if (kind !== "file" || size > MAX_FILE_BYTES) return { state: { mode, stamp } };
  const bytes = await workspace.read(path, MAX_FILE_BYTES, info);
  return { state: { sha256: contentHash(bytes), mode, stamp }, bytes };
}

/** A name of a content for comparison: missing file, unknown content, or the hash. */
export function contentName(state: Pick<FileState, "sha256"> | null): string {
  if (state === null) return "none";
  return state.sha256 ?? UNKNOWN;
}

export const UNKNOWN = "unknown";
