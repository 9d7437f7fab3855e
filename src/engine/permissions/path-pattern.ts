/**
 * The pattern language of rules on paths: globs in the manner of .gitignore, case-sensitive (but deny and ask take any case on macOS and
 * Windows, whose file systems do), with a dot as a letter like any other.
 *
 * Deny and ask look at a path as it is written and at where its links lead; allow only at the latter.
 * A relative pattern is tested against the path from the workspace's root, an absolute one (`/etc/**`, `~/.ssh/**`) against the absolute
 * path. Without a slash inside (`.env`, `*.pem`) it means that name at any depth. There is no negation and no extended glob.
 * Deny and ask also cover all that lies below a match, `secrets/` at any depth, and by name or `**` also what lies outside the workspace.
 * Allow covers just what it says: `src/**` or `src/` for all below the root's src, and nothing outside unless the pattern is absolute.
 * A search is judged by the folder it names, and the files in it that deny and ask speak of are left out.
 */
import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute } from "node:path";
import type { Subject } from "./rule-subject.js";

/** An absolute path; `relative` is set for a path in the workspace, and "" is its root. */
interface Place {
  path: string;
  relative?: string;
}

/** The path with its links resolved. A forbidden file is also forbidden by the name of a link to it. */
export interface CallPath extends Place {
  named?: Place;
}

export interface PathPattern {
  readonly kind: "path";
  hits(path: Place): boolean;
  covers(path: Place): boolean;
}

/** Systems whose file systems usually ignore the case of letters. */
const FOLDS_CASE = process.platform === "darwin" || process.platform === "win32";

export async function compilePathPattern(pattern: string, foldsCase = FOLDS_CASE): Promise<PathPattern | { problem: string }> {
  if (pattern.startsWith("!")) return { problem: "begins with '!'; negation is not understood, write what it should match" };
  const globs = (await withHomes(pattern)).map((each) => tidy(each));
  const sought = [...globs, ...(await Promise.all(globs.map((glob) => behindLinks(glob)))).flat()];
  const finders = await Promise.all(sought.map((glob) => compile(findingGlobs(glob), foldsCase)));
  const coverers = await Promise.all(globs.map((glob) => compile(coveringGlobs(glob), false)));
  if (finders.includes(undefined) || coverers.includes(undefined)) return { problem: "is not a valid glob; check its brackets and braces" };

  return {
    kind: "path",
    hits: (path) =>
      sought.some((glob, at) => {
        const inside = insidePath(path);
        return finders[at]?.(isAbsolute(glob) || inside === undefined ? path.path : inside) === true;
      }),
    covers: (path) =>
      globs.some((glob, at) => {
        const tested = isAbsolute(glob) ? path.path : insidePath(path);
        return tested !== undefined && coverers[at]?.(tested) === true;
      }),
  };
}

export function pathSubject(paths: readonly CallPath[]): Subject<PathPattern> {
  return {
    hit: (pattern) => ({ hit: paths.some((path) => pattern.hits(path) || (path.named && pattern.hits(path.named))) ? "yes" : "no" }),
    cover(patterns) {
      if (paths.length === 0) return { why: "the call names no path" };
      const used = new Set<number>();
      for (const path of paths) {
        const by = patterns.findIndex((pattern) => pattern.covers(path));
        if (by < 0) return { why: `no rule allows '${path.path}'` };
        used.add(by);
      }
      return { by: [...used] };
    },
  };
}

/** Paths of calls are real ones, so a home behind a link is named by both. */
async function withHomes(pattern: string): Promise<string[]> {
  if (pattern !== "~" && !pattern.startsWith("~/")) return [pattern];
  const home = homedir();
  const real = await realpath(home).catch(() => home);
  return [...new Set([home, real])].map((folder) => `${escapeGlob(folder)}${pattern.slice(1)}`);
}

/** The same glob, if the fixed beginning of an absolute one leads through links. */
async function behindLinks(glob: string): Promise<string[]> {
  const [base = ""] = /^\/(?:[^*?[\]{}\\/]+\/)*/.exec(glob) ?? [];
  const rest = glob.slice(base.length);
  const isPlain = !/[*?[\]{}\\]/.test(rest);
  const folder = isPlain ? glob : base;
  if (folder === "" || folder === "/") return [];
  const real = await realpath(folder).catch(() => folder);
  const found = isPlain ? escapeGlob(real) : `${escapeGlob(real)}/${rest}`;
  return found === glob ? [] : [found];
}

function escapeGlob(path: string): string {
  return path.replace(/[*?[\]{}]/g, "\\$&");
}

/** Brackets of extended globs are plain characters here, as in .gitignore. */
function tidy(pattern: string): string {
  const plain = pattern.replace(/^(?:\.\/+)+/, "").replace(/[()]/g, "\\$&");
  return plain === "" || plain === "." ? "**" : plain;
}

function findingGlobs(glob: string): string[] {
  const name = glob.replace(/\/+$/, "");
  if (name === "") return ["**", "/**"];
  const anchored = name.includes("/") ? name : `**/${name}`;
  return [anchored, `${anchored}/**`];
}

function coveringGlobs(glob: string): string[] {
  if (glob.endsWith("/")) return [`${glob}**`];
  return [glob.includes("/") ? glob : `**/${glob}`];
}

async function compile(globs: string[], anyCase: boolean): Promise<((path: string) => boolean) | undefined> {
  const { default: picomatch } = await import("picomatch");
  if (globs.some((glob) => glob === "**" || glob === "**/**")) return () => true;
  try {
    const flags = anyCase ? "si" : "s";
    // `s`: a line break in a file name must not hide it. `debug`: a glob that does not compile throws instead of never matching.
    const matchers = globs.map((glob) => picomatch(glob, { dot: true, nonegate: true, strictBrackets: true, flags, debug: true }));
    return (path) => matchers.some((matches) => matches(path));
  } catch {
    return undefined;
  }
}

function insidePath({ relative }: Place): string | undefined {
  if (relative === undefined || relative === ".." || relative.startsWith("../") || isAbsolute(relative)) return undefined;
  return relative === "" ? "." : relative;
}
