/** Puts files back as they were before the first of these changes, each through the workspace's own handles. */
import { messageOf } from "../../core/errors.js";
import type { FileState } from "../store/entry.js";
import type { Change } from "../store/logged-turns.js";
import type { FileCopies } from "../store/store.js";
import { exactText } from "../tools/files/text-file.js";
import type { Workspace } from "../workspace/workspace.js";
import { contentName, look, UNKNOWN } from "./file-state.js";

export interface Restoring {
  /** Notes the changes that it makes. */
  workspace: Workspace;
  copies: FileCopies;
  /** Also files that others have changed since, and files that are asked about. */
  force: boolean;
  /** Why a file stays as it is, whoever asks; `always`: even where the user insists. */
  forbids(path: string): Promise<{ why: string; always: boolean } | undefined>;
}

export interface Restored {
  files: string[];
  /** Files that are as they were, also those that were so already: their state then, and now. */
  asBefore: { path: string; then: FileState | null; now: FileState | null }[];
  left: { path: string; why: string }[];
}

/** A file that is to go back. */
interface Wanted {
  path: string;
  before: FileState | null;
}

export async function restoreFiles(changes: readonly Change[], restoring: Restoring): Promise<Restored> {
  const restored: Restored = { files: [], asBefore: [], left: [] };
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
  // Files that go are the first to go: where names in another case are the same name, a file that was renamed comes back last.
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

function byPath(changes: readonly Change[]): Map<string, [Change, ...Change[]]> {
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

/** Undefined where it can go back, or is as it was. */
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

/** Whether each change began where the one before it ended, and the file is as the last one left it. A change may not have been made. */
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
