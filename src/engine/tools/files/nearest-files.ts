/** Suggests existing files for the name of a missing file. Files that a rule hides are never named. */
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { listFiles } from "../search/list-files.js";
import type { ToolContext } from "../tool.js";
import { shownPath } from "./text-file.js";

/** The most names in one suggestion. */
const MOST = 3;
/** The most files of the workspace to search for a name. */
const LOOKED_AT = 50_000;

/** A clause after "no such file"; empty if no name is near. */
export async function suggestion(context: ToolContext, path: string, asGiven: string): Promise<string> {
  const hides = context.hiding(["Read"]) ?? ((): boolean => false);
  const names = await readdir(dirname(path)).catch(() => []);
  const wanted = basename(path);
  const beside = ranked(names, wanted)
    .filter((name) => !hides(join(dirname(path), name)))
    .map((name) => join(dirname(asGiven), name));
  const near = beside.length > 0 ? beside : await elsewhere(context, path, hides);
  if (near.length === 0) return "";
  return `. Did you mean ${near.slice(0, MOST).join(", or ")}?`;
}

/** Files of exactly that name in other folders, those in the most similar folders first. */
async function elsewhere(context: ToolContext, path: string, hides: (path: string) => boolean): Promise<string[]> {
  const { root } = context.workspace;
  const wanted = basename(path).toLowerCase();
  const files = await listFiles(context, root, "found", LOOKED_AT).catch(() => []);
  return files
    .filter((file) => basename(file).toLowerCase() === wanted)
    .map((file) => join(root, file))
    .filter((file) => !hides(file))
    .map((file) => ({ file: shownPath(context.workspace, file), shared: sharedSteps(file, path) }))
    .sort((a, b) => b.shared - a.shared || (a.file < b.file ? -1 : 1))
    .map(({ file }) => file);
}

function sharedSteps(a: string, b: string): number {
  const steps = new Set(dirname(b).split("/"));
  return dirname(a)
    .split("/")
    .filter((step) => steps.has(step)).length;
}

function ranked(names: readonly string[], wanted: string): string[] {
  return names
    .map((name) => ({ name, distance: editDistance(name.toLowerCase(), wanted.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(wanted.length / 3)) || stem(name) === stem(wanted))
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
}

function stem(name: string): string {
  return name.replace(/(.)\..*$/, "$1").toLowerCase();
}

/** The Levenshtein distance, computed row by row. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
