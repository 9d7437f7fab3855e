/** Write: a whole file, new or replaced. */
import * as v from "valibot";
import { textPart } from "../../../core/content.js";
import { diffParts } from "./diff-part.js";
import { lossNote, maskProblem } from "./masked-text.js";
import { exactText, failure, isBinary, isStale, isUnchanged, linesOf, MAX_FILE_BYTES, noteSeen, shownPath } from "./text-file.js";
import { oneLine } from "../title.js";
import type { Workspace } from "../../workspace/workspace.js";
import { defineTool } from "../tool.js";

export const write = defineTool({
  name: "Write",
  category: "edit",
  access: "shared",
  description:
    "Writes a whole file, making its folders as needed, and replaces what was there. " +
    "Refused when the file was changed on disk since you last saw it: then Read it again. To change a part of a file use Edit.",
  args: v.object({
    file_path: v.pipe(v.string(), v.minLength(1), v.description("The file, absolute or relative to the workspace.")),
    content: v.pipe(v.string(), v.description("The file's whole new content.")),
  }),
  title: (args) => `Write to ${oneLine(args.file_path)}`,
  paths: (args) => [{ path: args.file_path, write: true }],
  async preview({ file_path, content }, workspace, redactor) {
    const { path } = await workspace.resolve(file_path);
    const info = await workspace.info(path);
    if (info !== null && info.kind !== "file") return [];
    const before = info === null ? null : await oldText(workspace, path, info.size);
    const problem = maskProblem(file_path, before ?? null, content, redactor);
    if (problem !== undefined) return [textPart(problem)];
    return before === undefined
      ? []
      : [...(await diffParts(shownPath(workspace, path), before, content)), ...lossNote(before, content, redactor)];
  },
  async run({ file_path: name, content }, context) {
    const path = await context.locate(name);
    const info = await context.workspace.info(path);
    if (info !== null && info.kind !== "file") return failure(`Failed to write file ${name}: there is a folder or device of that name.`);
    if (info !== null && isStale(context, path, info.stamp)) {
      return failure(`${name} was changed on disk after you last saw it. Read it again before you write it.`);
    }
    const before = info === null ? null : await oldText(context.workspace, path, info.size);
    const problem = maskProblem(name, before ?? null, content, context.redactor);
    if (problem !== undefined) return failure(problem);
    if (!(await isUnchanged(context, path, info))) return failure(`${name} was changed on disk just now. Read it before you write it.`);
    await context.workspace.write(path, content);
    await noteSeen(context, path);
    const diff = before === undefined ? [] : await diffParts(shownPath(context.workspace, path), before, content);
    const done = info === null ? "Created" : "Updated";
    return {
      parts: [
        { type: "text", text: `${done} ${name} (${linesOf(content).length} lines)` },
        ...diff,
        ...lossNote(before, content, context.redactor),
      ],
    };
  },
});

/** The old text of the file; undefined if it is not text that a diff can show. */
async function oldText(workspace: Workspace, path: string, size: number): Promise<string | undefined> {
  if (size > MAX_FILE_BYTES) return undefined;
  const bytes = await workspace.read(path, MAX_FILE_BYTES);
  return isBinary(bytes) ? undefined : (exactText(bytes) ?? undefined);
}
