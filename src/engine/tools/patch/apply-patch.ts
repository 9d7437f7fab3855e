/** apply_patch: one patch that adds, updates, moves and deletes files, all or none of them. */
import * as v from "valibot";
import { textPart, type Part } from "../../../core/content.js";
import type { Redactor } from "../../../core/secrets/redact.js";
import type { Workspace } from "../../workspace/workspace.js";
import { diffParts } from "../files/diff-part.js";
import { lossNote } from "../files/masked-text.js";
import { failure, isStale, linesOf, shownPath } from "../files/text-file.js";
import { oneLine } from "../title.js";
import { defineTool, type EquivalentCall, type ToolContext } from "../tool.js";
import { parsePatch, type Section } from "./parse-patch.js";
import { planPatch, type FileChange } from "./plan-patch.js";
import { writeChanges } from "./write-changes.js";

const Args = v.object({
  input: v.pipe(
    v.string(),
    v.rawCheck(({ dataset, addIssue }) => {
      const found = dataset.typed ? parsePatch(dataset.value) : [];
      if ("problem" in found) addIssue({ message: found.problem });
    }),
    v.description("The whole patch, from *** Begin Patch to *** End Patch."),
  ),
});

export const applyPatch = defineTool({
  name: "apply_patch",
  category: "edit",
  access: "shared",
  description: `Adds, updates, moves and deletes files by one patch, all or none. A file must have been read in this session before it is
updated. Form of a patch:
*** Begin Patch
*** Add File: path/new.txt
+each line of the new file begins with a plus
*** Update File: path/old.txt
*** Move to: path/renamed.txt
@@ function or class that encloses the change, where the lines below are not unique
 a line that stays begins with a blank
-a line that goes
+a line that comes
*** End of File
*** Delete File: path/gone.txt
*** End Patch
"*** Move to" is left out unless the file moves, and "*** End of File" unless the hunk ends there. Paths are relative to the workspace or
absolute. Give three lines that stay before and after each change.`,
  args: Args,
  standsFor: ["Edit", "Write"],
  equivalents: ({ input }) => sectionsOf(input).flatMap(equivalentsOf),
  title: ({ input }) => oneLine(titleOf(sectionsOf(input))),
  paths: ({ input }) => pathsOf(sectionsOf(input)).map((path) => ({ path, write: true })),
  async preview({ input }, workspace, redactor) {
    const locate = async (path: string): Promise<string> => (await workspace.resolve(path)).path;
    const planned = await planPatch(sectionsOf(input), { workspace, redactor, locate, refusal: () => undefined });
    if ("problem" in planned) return [textPart(planned.problem)];
    return (await Promise.all(planned.changes.map((change) => shown(change, workspace, redactor)))).flat();
  },
  async run({ input }, context) {
    const { workspace, redactor } = context;
    const planned = await planPatch(sectionsOf(input), {
      workspace,
      redactor,
      locate: (path) => context.locate(path),
      refusal: (file, isDeleted) => refusal(file, isDeleted, context),
    });
    if ("problem" in planned) return failure(`Nothing was changed. ${planned.problem}`);
    const { changes, notes } = planned;
    if (changes.length === 0) return failure("Nothing was changed: the patch leaves every file as it is.");
    const seen = new Set(changes.filter(({ old }) => old !== null && context.seen.stampOf(old.path) !== undefined));
    const problem = await writeChanges(changes, context);
    if (problem !== undefined) return failure(problem);
    // The result shows the model only text that it has read or written.
    const diffs = await Promise.all(
      changes.filter((change) => change.old === null || seen.has(change)).map((change) => shown(change, workspace, redactor)),
    );
    return { parts: [textPart([...changes.map(done), ...notes].join("\n")), ...diffs.flat()] };
  },
});

function sectionsOf(input: string): Section[] {
  const found = parsePatch(input);
  return "problem" in found ? [] : found;
}

function pathsOf(sections: readonly Section[]): string[] {
  return [
    ...new Set(
      sections.flatMap((section) => (section.do === "update" && section.to !== undefined ? [section.path, section.to] : [section.path])),
    ),
  ];
}

/** The calls of other tools with the same effect: deleting a file amounts to a command. */
function equivalentsOf(section: Section): EquivalentCall[] {
  const { path } = section;
  switch (section.do) {
    case "add":
      return [{ tool: "Write", category: "edit", args: { file_path: path, content: section.content }, path }];
    case "delete":
      return removal(path);
    case "update": {
      const edit: EquivalentCall = { tool: "Edit", category: "edit", args: { file_path: path }, path };
      if (section.to === undefined) return [edit];
      return [edit, { tool: "Write", category: "edit", args: { file_path: section.to }, path: section.to }, ...removal(path)];
    }
  }
}

function removal(path: string): EquivalentCall[] {
  const command = `rm ${path.startsWith("-") ? "./" : ""}${quoted(path)}`;
  return [
    { tool: "Write", category: "edit", args: { file_path: path }, path, onlyForbids: true },
    { tool: "Bash", category: "exec", args: { command } },
  ];
}

function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

const VERBS = { add: "add", update: "update", delete: "delete" } as const;

function titleOf(sections: readonly Section[]): string {
  const words = sections.map((section) => {
    const to = section.do === "update" && section.to !== undefined ? ` → ${section.to}` : "";
    return `${VERBS[section.do]} ${section.path}${to}`;
  });
  return `Apply a patch: ${words.join(", ")}`;
}

function refusal(
  { name, path, info }: Parameters<Parameters<typeof planPatch>[1]["refusal"]>[0],
  isDeleted: boolean,
  context: ToolContext,
): string | undefined {
  if (!isDeleted && context.seen.stampOf(path) === undefined) return `You must Read ${name} before updating it.`;
  if (isStale(context, path, info.stamp)) return `${name} was changed on disk after you last saw it. Read it again before you patch it.`;
  return undefined;
}

async function shown({ path, old, after }: FileChange, workspace: Workspace, redactor: Redactor): Promise<Part[]> {
  if (old !== null && old.text === null) return [];
  const before = old?.text ?? null;
  const from = old === null || old.path === path ? undefined : shownPath(workspace, old.path);
  const diff = await diffParts(shownPath(workspace, path), before, after ?? "", { isDeleted: after === null, from });
  return [...diff, ...lossNote(before, after ?? "", redactor)];
}

function done({ name, path, old, after }: FileChange): string {
  if (after === null) return `Deleted ${name}`;
  if (old === null) return `Created ${name} (${linesOf(after).length} lines)`;
  if (old.path === path) return `Updated ${name}`;
  return old.text === after ? `Moved ${old.name} to ${name}` : `Updated ${old.name} and moved it to ${name}`;
}
