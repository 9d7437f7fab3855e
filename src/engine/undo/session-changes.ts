/** The files that a session's tools changed, as they were before the first change and as they are now. */
import { messageOf } from "../../core/errors.js";
import { textPart, type Part } from "../../core/content.js";
import type { Change } from "../store/logged-turns.js";
import type { FileCopies } from "../store/store.js";
import { diffParts } from "../tools/files/diff-part.js";
import { exactText, shownPath } from "../tools/files/text-file.js";
import type { Workspace } from "../workspace/workspace.js";
import { contentName, look, UNKNOWN } from "./file-state.js";
import { byPath } from "./restore-files.js";

/** One part a file that is not as before, in the order of their names. */
export async function sessionChanges(changes: readonly Change[], workspace: Workspace, copies: FileCopies): Promise<Part[]> {
  const parts: Part[] = [];
  for (const [path, [{ before }]] of [...byPath(changes)].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const name = shownPath(workspace, path);
    try {
      const now = await look(workspace, path);
      if (contentName(before) === contentName(now.state) && contentName(before) !== UNKNOWN) continue;
      const old = before === null ? null : await copies.read(before.sha256 ?? "");
      const [was, is] = [old === null ? null : textIn(old), now.state === null ? "" : textIn(now.bytes)];
      if (was === undefined || is === undefined) parts.push(textPart(`${name} was changed; it is no text, or no copy of it is kept`));
      else parts.push(...(await diffParts(name, was, is, { isDeleted: now.state === null })));
    } catch (error) {
      parts.push(textPart(`${name}: ${messageOf(error)}`));
    }
  }
  return parts;
}

function textIn(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : (exactText(bytes) ?? undefined);
}
