/** Edit: replacements in a file that the session has seen, all or none of them. */
import * as v from "valibot";
import { textPart } from "../../../core/content.js";
import type { Redactor } from "../../../core/secrets/redact.js";
import { diffParts } from "./diff-part.js";
import { lossNote, maskProblem } from "./masked-text.js";
import { replaceText, type Replacement } from "./replace-text.js";
import { exactText, failure, isStale, isUnchanged, MAX_FILE_BYTES, noteSeen, shownPath } from "./text-file.js";
import { oneLine } from "../title.js";
import { defineTool } from "../tool.js";

const MAX_EDITS = 100;

const entries = {
  old_string: v.pipe(v.string(), v.description("The text to replace, with enough of its surroundings to be unique.")),
  new_string: v.pipe(v.string(), v.description("The text to put in its place.")),
  replace_all: v.optional(v.pipe(v.boolean(), v.description("Replace every occurrence."))),
};

const Args = v.pipe(
  v.object({
    file_path: v.pipe(v.string(), v.minLength(1), v.description("The file, absolute or relative to the workspace.")),
    old_string: v.optional(entries.old_string),
    new_string: v.optional(entries.new_string),
    replace_all: entries.replace_all,
    edits: v.optional(
      v.pipe(
        v.array(v.object(entries)),
        v.maxLength(MAX_EDITS, `at most ${MAX_EDITS} edits`),
        v.description("Several replacements in this file, made one after the other; all or none. In place of old_string and new_string."),
      ),
    ),
  }),
  v.check(
    (args) => isSingle(args) || (args.edits ?? []).length > 0,
    "give old_string and new_string, or edits with an old_string and a new_string each",
  ),
);
type Args = v.InferOutput<typeof Args>;

interface SingleForm {
  old_string?: string | undefined;
  new_string?: string | undefined;
  edits?: readonly unknown[] | undefined;
}

export const edit = defineTool({
  name: "Edit",
  category: "edit",
  access: "shared",
  description:
    "Replaces old_string by new_string in a file, or makes several such edits, all or none. The file must have been read or written in " +
    "this session and be unchanged since. old_string must be what the file holds (without Read's line numbers) and occur once, unless " +
    "replace_all is true.",
  args: Args,
  title: (args) => `Edit ${oneLine(args.file_path)}`,
  paths: (args) => [{ path: args.file_path, write: true }],
  async preview(args, workspace, redactor) {
    const { file_path } = args;
    const { path } = await workspace.resolve(file_path);
    if ((await workspace.info(path))?.kind !== "file") return [];
    const before = exactText(await workspace.read(path, MAX_FILE_BYTES));
    if (before === null) return [];
    const edited = allEdits(file_path, before, editsOf(args), redactor);
    if ("problem" in edited) return [];
    const problem = maskProblem(file_path, before, edited.text, redactor);
    if (problem !== undefined) return [textPart(problem)];
    return [...(await diffParts(shownPath(workspace, path), before, edited.text)), ...lossNote(before, edited.text, redactor)];
  },
  async run(args, context) {
    const name = args.file_path;
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
    const edited = allEdits(name, before, editsOf(args), context.redactor);
    if ("problem" in edited) return failure(edited.problem);
    const { text: after, notes } = edited;
    const problem = maskProblem(name, before, after, context.redactor);
    if (problem !== undefined) return failure(problem);
    if (!(await isUnchanged(context, path, info)))
      return failure(`${name} was changed on disk just now. Read it again before you edit it.`);
    await context.workspace.write(path, after);
    await noteSeen(context, path);
    const diff = await diffParts(shownPath(context.workspace, path), before, after);
    const done = [`Edited ${name}: replaced ${edited.count} occurrence(s)`, ...notes].join("\n");
    return { parts: [{ type: "text", text: done }, ...diff, ...lossNote(before, after, context.redactor)] };
  },
});

/** Some models send empty strings beside `edits`. */
function isSingle({ old_string, new_string, edits = [] }: SingleForm): boolean {
  if (old_string === undefined || new_string === undefined) return false;
  return edits.length === 0 || old_string !== "" || new_string !== "";
}

function editsOf(args: Args): Replacement[] {
  const { old_string = "", new_string = "", replace_all, edits = [] } = args;
  return isSingle(args) ? [{ old_string, new_string, replace_all }, ...edits] : edits;
}

interface Edited {
  text: string;
  count: number;
  notes: string[];
}

/** Each edit applies to the result of the edits before it. */
function allEdits(name: string, before: string, edits: readonly Replacement[], redactor: Redactor): Edited | { problem: string } {
  const edited: Edited = { text: before, count: 0, notes: [] };
  for (const [at, each] of edits.entries()) {
    const which = edits.length === 1 ? "" : `edit ${at + 1} of ${edits.length}`;
    const done = replaceText(name, edited.text, each, redactor);
    if ("problem" in done) return { problem: which === "" ? done.problem : `No edit was made. ${which}: ${done.problem}` };
    edited.text = done.text;
    edited.count += done.count;
    if (done.forgiven !== undefined) {
      const quote = which === "" ? "old_string" : `old_string of ${which}`;
      edited.notes.push(`(${quote} differs from the file in ${done.forgiven}; the file's own was kept)`);
    }
  }
  return edited;
}
