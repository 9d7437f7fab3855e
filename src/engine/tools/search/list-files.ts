/** The files below a folder that a search covers: hidden ones too, but not `.git`, ignored files, or links. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { ParleyError } from "../../../core/errors.js";
import { ignoreRules } from "./ignore-rules.js";
import { findRipgrep } from "./ripgrep.js";
import { runLines, type LineContext } from "./run-lines.js";

/** The fixed arguments of ripgrep. A pattern with `-g` would overrule the ignore files, so patterns are matched here. */
const RIPGREP_FLAGS = ["--no-config", "--no-messages", "--color=never", "--hidden", "--no-require-git", "--glob=!.git"] as const;

/** At the root of the system, folders that describe processes are left out: they contain secrets. */
export function ripgrepFlags(folder: string): readonly string[] {
  return folder === "/" ? [...RIPGREP_FLAGS, "--glob=!/proc"] : RIPGREP_FLAGS;
}

/** Sorted by path, or the newest first, or unsorted, which is the fastest. */
type Order = "path" | "newest" | "found";

const SORTING: Record<Order, string> = { path: "--sort=path", newest: "--sortr=modified", found: "--sort=none" };

/** Paths relative to `folder`, with `/`; the first `most` that were found. */
export async function listFiles(context: LineContext, folder: string, order: Order, most = Infinity): Promise<string[]> {
  const ripgrep = await findRipgrep();
  if (ripgrep === null) return (await walk(context, folder, order)).slice(0, most);
  return listWithRipgrep(context, [ripgrep, ...ripgrepFlags(folder), SORTING[order]], folder, most);
}

async function listWithRipgrep(context: LineContext, ripgrep: string[], folder: string, most: number): Promise<string[]> {
  const files: string[] = [];
  await runLines(context, [...ripgrep, "--files", "--path-separator=/", "--", "./"], folder, (line) => {
    files.push(line.replace(/^\.\//, ""));
    return files.length < most;
  });
  return files;
}

async function walk(context: LineContext, folder: string, order: Order): Promise<string[]> {
  const [{ fdir }, rules] = await Promise.all([import("fdir"), ignoreRules(folder)]);
  const files = await new fdir({
    pathSeparator: "/",
    relativePaths: true,
    suppressErrors: true,
    excludeSymlinks: true,
    signal: context.signal,
    exclude: (name, path) => name === ".git" || path === "/proc/" || rules.ignores(path.replace(/\/$/, ""), true),
    filters: [(path) => path !== ".git" && !path.endsWith("/.git") && !rules.ignores(join(folder, path), false)],
  })
    .crawl(folder)
    .withPromise();
  if (context.signal.aborted) throw new ParleyError({ code: "tool", message: "The search was interrupted.", retryable: false });
  return order === "newest" ? newestFirst(folder, files.sort(byPath)) : files.sort(byPath);
}

/** Sorts as ripgrep does: name by name along the path. */
export function byPath(a: string, b: string): number {
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
