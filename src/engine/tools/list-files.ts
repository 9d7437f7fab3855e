/** The files below a folder that a search looks at: hidden ones too, but neither `.git` nor what is ignored, and no links. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { ParleyError } from "../../core/errors.js";
import { ignoreRules } from "./ignore-rules.js";
import { findRipgrep } from "./ripgrep.js";
import { runLines } from "./run-lines.js";
import type { ToolContext } from "./tool.js";

/** How ripgrep is always run. A pattern with `-g` would overrule the ignore files, so patterns are matched by us. */
export const RIPGREP_FLAGS = ["--no-config", "--no-messages", "--color=never", "--hidden", "--no-require-git", "--glob=!.git"] as const;

/** Paths relative to `folder`, with `/`. By path, or the newest first. */
export async function listFiles(context: ToolContext, folder: string, order: "path" | "newest"): Promise<string[]> {
  const ripgrep = await findRipgrep();
  return ripgrep === null ? walk(context, folder, order) : listWithRipgrep(context, ripgrep, folder, order);
}

async function listWithRipgrep(context: ToolContext, ripgrep: string, folder: string, order: "path" | "newest"): Promise<string[]> {
  const files: string[] = [];
  const sort = order === "path" ? "--sort=path" : "--sortr=modified";
  await runLines(context, [ripgrep, ...RIPGREP_FLAGS, "--files", "--path-separator=/", sort, "--", "./"], folder, (line) => {
    files.push(line.replace(/^\.\//, ""));
    return true;
  });
  return files;
}

async function walk(context: ToolContext, folder: string, order: "path" | "newest"): Promise<string[]> {
  const [{ fdir }, rules] = await Promise.all([import("fdir"), ignoreRules(folder)]);
  const files = await new fdir({
    pathSeparator: "/",
    relativePaths: true,
    suppressErrors: true,
    excludeSymlinks: true,
    signal: context.signal,
    exclude: (name, path) => name === ".git" || rules.ignores(path.replace(/\/$/, ""), true),
    filters: [(path) => path !== ".git" && !path.endsWith("/.git") && !rules.ignores(join(folder, path), false)],
  })
    .crawl(folder)
    .withPromise();
  if (context.signal.aborted) throw new ParleyError({ code: "tool", message: "The search was interrupted.", retryable: false });
  return order === "path" ? files.sort(byPath) : newestFirst(folder, files.sort(byPath));
}

/** As ripgrep sorts: name by name down the path. */
function byPath(a: string, b: string): number {
  const [left, right] = [a.replaceAll("/", "\0"), b.replaceAll("/", "\0")];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

async function newestFirst(folder: string, files: readonly string[]): Promise<string[]> {
  const dated: { path: string; at: number }[] = [];
  const batch = 256;
  for (let start = 0; start < files.length; start += batch) {
    const dates = files.slice(start, start + batch).map(async (path) => ({ path, at: await changedAt(join(folder, path)) }));
    dated.push(...(await Promise.all(dates)));
  }
  return dated.sort((a, b) => b.at - a.at).map(({ path }) => path);
}

function changedAt(path: string): Promise<number> {
  return stat(path).then(
    (stats) => stats.mtimeMs,
    () => 0,
  );
}
