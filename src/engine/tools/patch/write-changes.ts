/** Makes the changes of a patch on disk, all of them or none. */
import { messageOf } from "../../../core/errors.js";
import { isUnchanged, noteSeen } from "../files/text-file.js";
import type { ToolContext } from "../tool.js";
import type { FileChange } from "./plan-patch.js";

/** Undefined if all changes were made; else a sentence with the reason for which none was. */
export async function writeChanges(changes: readonly FileChange[], context: ToolContext): Promise<string | undefined> {
  for (const { name, path, old } of changes) {
    const isSame = old === null || old.path !== path ? await isUnchanged(context, path, null) : true;
    if (!isSame || (old !== null && !(await isUnchanged(context, old.path, old.info))))
      return `${name} was changed on disk just now. Nothing was written: Read it again before you patch it.`;
  }
  const undo: (() => Promise<void>)[] = [];
  try {
    for (const change of changes) await make(change, context, undo);
  } catch (error) {
    const left = await undone(undo);
    const state = left === 0 ? "All files are as they were." : `${left} changes could not be taken back: look at the files.`;
    return `${messageOf(error)}. ${state}`;
  }
  for (const { path, after } of changes) if (after !== null) await noteSeen(context, path);
  return undefined;
}

/** A moved file is renamed first, so that it keeps its mode. */
async function make({ path, old, after }: FileChange, { workspace }: ToolContext, undo: (() => Promise<void>)[]): Promise<void> {
  if (after === null) {
    await workspace.remove(path);
    if (old !== null) undo.push(() => workspace.write(path, old.bytes, old.info.mode));
    return;
  }
  if (old !== null && old.path !== path) {
    await workspace.rename(old.path, path);
    undo.push(() => workspace.rename(path, old.path));
  }
  const before = old?.bytes;
  if (old !== null && old.text === after) return;
  await workspace.write(path, after);
  undo.push(() => (before === undefined ? workspace.remove(path) : workspace.write(path, before)));
}

/** Reverts the changes, the last first; returns the number that could not be reverted. */
async function undone(undo: readonly (() => Promise<void>)[]): Promise<number> {
  let left = 0;
  for (const step of undo.toReversed()) await step().catch(() => left++);
  return left;
}
