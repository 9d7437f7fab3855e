/** Glob: files by pattern. */
import { join } from "node:path";
import * as v from "valibot";
import { listFiles } from "./list-files.js";
import { matchingPaths, splitPattern } from "./pattern.js";
import { failure, shownPath } from "../files/text-file.js";
import { oneLine } from "../title.js";
import { defineTool, textResult } from "../tool.js";

const MAX_FILES = 100;
const NONE = "No files matched the pattern";

export const glob = defineTool({
  name: "Glob",
  category: "info",
  access: "shared",
  description:
    `Finds files by a glob pattern such as "**/*.ts" or "src/*.{js,ts}", the newest first, ${MAX_FILES} at most. ` +
    "A pattern without a slash matches names in every folder. Hidden files count; what .gitignore names does not.",
  args: v.object({
    pattern: v.pipe(v.string(), v.minLength(1), v.description("The pattern, relative to path.")),
    path: v.optional(v.pipe(v.string(), v.minLength(1), v.description("The folder to search, the workspace's root unless given."))),
  }),
  title: (args) => `Search for ${oneLine(args.pattern)}`,
  paths: (args) => [{ path: splitPattern(args.pattern, args.path).base, write: false }],
  async run(args, context) {
    const pattern = splitPattern(args.pattern, args.path);
    const folder = await context.locate(pattern.base);
    const info = await context.workspace.info(folder);
    if (info?.kind !== "folder") return args.path === undefined ? textResult(NONE) : failure(`There is no folder ${pattern.base}.`);
    const hides = context.hiding(["Glob"]);
    const matched = await matchingPaths(pattern, await listFiles(context, folder, "newest"));
    const found = hides === undefined ? matched : matched.filter((path) => !hides(join(folder, path)));
    if (found.length === 0) return textResult(NONE);
    const shown = found.slice(0, MAX_FILES).map((path) => shownPath(context.workspace, join(folder, path)));
    if (found.length > MAX_FILES) shown.push(`(${found.length - MAX_FILES} more; narrow the pattern to see them)`);
    return textResult(shown.join("\n"));
  },
});
