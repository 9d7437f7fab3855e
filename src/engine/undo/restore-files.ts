/** Restores files to their state before the first of these changes, by the workspace's own handles. */
import { messageOf } from "../../core/errors.js";
import type { FileState } from "../store/entry.js";
import type { Change } from "../store/logged-turns.js";
import type { FileCopies } from "../store/store.js";
import { exactText } from "../tools/files/text-file.js";
import type { Workspace } from "../workspace/workspace.js";
import { contentName, look, UNKNOWN } from "./file-state.js";

export interface Restoring {
  /** Records its own changes. */
  workspace: Workspace;
  copies: FileCopies;
  /** Also restores files that others have changed since, and files that need an approval. */
  force: boolean;
  /** The reason for which a file is not restored; `always`: not even if the user insists. */
  forbids(path: string): Promise<{ why: string; always: boolean } | undefined>;
}

export interface Restored {
  files: string[];
  /** Files in their old state, also those that had it already, with their state before and now. */
  asBefore: { path: string; then: FileState | null; now: FileState | null }[];
  left: { path: string; why: string }[];
}

/** A file to restore. */
interface Wanted {
  path: string;
  before: FileState | null;
}

/** Which files are to be restored, which are as before already, and which stay as they are. Nothing is changed. */
export async function wantedFiles(
  changes: readonly Change[],
  restoring: Restoring,
): Promise<Omit<Restored, "files"> & { wanted: readonly Wanted[] }> {
  const restored: Omit<Restored, "files"> = { asBefore: [], left: [] };
  const wanted: Wanted[] = [];
  for (const [path, ofFile] of byPath(changes)) {
    const [{ before }] = ofFile;
    try {
      const { state: now } = await look(restoring.workspace, path);
      const why = await reasonToLeave(path, ofFile, now, restoring);
      if (why !== undefined) restored.left.push({ path, why });
      else if (isSame(before, now)) restored.asBefore.push({ path, then: before, now });
      else wanted.push({ path, before });
    } catch (error) {
      restored.left.push({ path, why: messageOf(error) });
    }
  }
  return { ...restored, wanted };
}

export async function restoreFiles(changes: readonly Change[], restoring: Restoring): Promise<Restored> {
  const { wanted, ...found } = await wantedFiles(changes, restoring);
  const restored: Restored = { files: [], ...found };
  // Deletions come first: on file systems that ignore case, a renamed file must come back last.
  const goingFirst = wanted.toSorted((one, other) => Number(one.before !== null) - Number(other.before !== null));
  for (const { path, before } of goingFirst) {
    try {
      await restore(path, before, restoring);
      restored.files.push(path);
      restored.asBefore.push({ path, then: before, now: (await look(restoring.workspace, path)).state });
    } catch (error) {
      restored.left.push({ path, why: messageOf(error) });
    }
  }
  return restored;
}

/** The changes of each file, oldest first. */
export function byPath(changes: readonly Change[]): Map<string, [Change, ...Change[]]> {
  const found = new Map<string, [Change, ...Change[]]>();
  for (const change of changes) {
    const known = found.get(change.path);
    if (known === undefined) found.set(change.path, [change]);
    else known.push(change);
  }
  return found;
}

const OTHERS = "it was changed since, by a command or by somebody else";
const NOT_KEPT = "no copy of it is kept";

function isSame(one: FileState | null, other: FileState | null): boolean {
  return contentName(one) === contentName(other) && contentName(one) !== UNKNOWN;
}

/** Undefined if the file can be restored, or needs no change. */
async function reasonToLeave(
  path: string,
  changes: [Change, ...Change[]],
  now: FileState | null,
  { force, forbids }: Restoring,
): Promise<string | undefined> {
  const [{ before }] = changes;
  if (isSame(before, now)) return undefined;
  if (before !== null && before.sha256 === undefined) return NOT_KEPT;
  const forbidden = await forbids(path);
  if (forbidden !== undefined && (forbidden.always || !force)) return forbidden.why;
  return force || areOurs(changes, contentName(now)) ? undefined : OTHERS;
}

/** Whether each change began at the end of the one before, and the file is as the last one left it. A change may not have been made. */
function areOurs(changes: readonly Change[], now: string): boolean {
  let known = new Set([contentName(changes[0]?.before ?? null)]);
  for (const { before, after } of changes) {
    const found = contentName(before);
    if (found !== UNKNOWN && !known.has(found) && !known.has(UNKNOWN)) return false;
    known = new Set([found, after === undefined ? UNKNOWN : contentName(after === null ? null : { sha256: after })]);
  }
  return known.has(now);
}

async function restore(path: string, before: FileState | null, { workspace, copies }: Restoring): Promise<void> {
  if (before === null) return workspace.remove(path);
  const bytes = await copies.read(before.sha256 ?? "");
  if (bytes === undefined) throw new Error(NOT_KEPT);
  await workspace.write(path, exactText(bytes) ?? bytes, before.mode);
}
