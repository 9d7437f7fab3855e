/** Edit: an exact replacement in a file that the session has seen. */
import * as v from "valibot";
import { textPart } from "../../../core/content.js";
import { diffParts } from "./diff-part.js";
import { lossNote, maskedQuote, maskProblem } from "./masked-text.js";
import { exactText, failure, isStale, isUnchanged, MAX_FILE_BYTES, noteSeen, shownPath } from "./text-file.js";
import { oneLine } from "../title.js";
import { defineTool } from "../tool.js";

export const edit = defineTool({
  name: "Edit",
  category: "edit",
  access: "shared",
  description:
    "Replaces old_string by new_string in a file. The file must have been read or written in this session and be unchanged since. " +
    "old_string must be exactly what the file holds (without Read's line numbers) and occur once, unless replace_all is true.",
  args: v.object({
    file_path: v.pipe(v.string(), v.minLength(1), v.description("The file, absolute or relative to the workspace.")),
    old_string: v.pipe(v.string(), v.description("The text to replace, with enough of its surroundings to be unique.")),
    new_string: v.pipe(v.string(), v.description("The text to put in its place.")),
    replace_all: v.optional(v.pipe(v.boolean(), v.description("Replace every occurrence."))),
  }),
  title: (args) => `Edit ${oneLine(args.file_path)}`,
  paths: (args) => [{ path: args.file_path, write: true }],
  async preview({ file_path, old_string, new_string, replace_all }, workspace, redactor) {
    const { path } = await workspace.resolve(file_path);
    if ((await workspace.info(path))?.kind !== "file") return [];
    const before = exactText(await workspace.read(path, MAX_FILE_BYTES));
    if (before === null || old_string === "") return [];
    const { pieces, put } = cut(before, old_string, new_string);
    if (pieces.length < 2 || (pieces.length > 2 && replace_all !== true)) return [];
    const after = pieces.join(put);
    const problem = maskProblem(file_path, before, after, redactor);
    if (problem !== undefined) return [textPart(problem)];
    return [...(await diffParts(shownPath(workspace, path), before, after)), ...lossNote(before, after, redactor)];
  },
  async run({ file_path: name, old_string, new_string, replace_all }, context) {
    if (old_string === "") return failure("old_string is empty. To make a new file use Write; to insert, quote the text beside the place.");
    if (old_string === new_string) return failure("old_string and new_string are the same; there is nothing to change.");
    const path = await context.locate(name);
    const info = await context.workspace.info(path);
    if (info === null) return failure(`Failed to edit ${name}: no such file. To make a new file use Write.`);
    if (info.kind !== "file") return failure(`Failed to edit ${name}: it is not a file.`);
    if (context.seen.stampOf(path) === undefined) return failure(`You must Read ${name} before editing it.`);
    if (isStale(context, path, info.stamp)) {
      return failure(`${name} was changed on disk after you last saw it. Read it again before you edit it.`);
    }
    const before = exactText(await context.workspace.read(path, MAX_FILE_BYTES, info));
    if (before === null) return failure(`Failed to edit ${name}: it is not UTF-8 text. Change it with a program in Bash.`);
    const { pieces, put } = cut(before, old_string, new_string);
    const count = pieces.length - 1;
    if (count === 0) return failure(maskedQuote(name, old_string, context.redactor) ?? `old_string not found in file ${name}`);
    if (count > 1 && replace_all !== true) {
      return failure(`Multiple matches found (${count}). Use replace_all or provide more context.`);
    }
    const after = pieces.join(put);
    const problem = maskProblem(name, before, after, context.redactor);
    if (problem !== undefined) return failure(problem);
    if (!(await isUnchanged(context, path, info)))
      return failure(`${name} was changed on disk just now. Read it again before you edit it.`);
    await context.workspace.write(path, after);
    await noteSeen(context, path);
    const diff = await diffParts(shownPath(context.workspace, path), before, after);
    const done = `Edited ${name}: replaced ${count} occurrence(s)`;
    return { parts: [{ type: "text", text: done }, ...diff, ...lossNote(before, after, context.redactor)] };
  },
});

/** The text between what is to be replaced, and what is put there. */
function cut(text: string, old: string, replacement: string): { pieces: string[]; put: string } {
  const { find, put } = lineEndingsOf(text, old, replacement);
  return { pieces: text.split(find), put };
}

/** Models write LF. In a CRLF file both strings are meant with CRLF; in a mixed one only where LF finds nothing. */
function lineEndingsOf(text: string, find: string, put: string): { find: string; put: string } {
  const meantAsIs = find.includes("\r") || !text.includes("\r\n") || (/(?:^|[^\r])\n/.test(text) && text.includes(find));
  return meantAsIs ? { find, put } : { find: toCrlf(find), put: toCrlf(put) };
}

function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}
