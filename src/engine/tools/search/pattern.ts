/** Glob patterns: where one begins to search, and which paths below that it takes. */
import { ParleyError } from "../../../core/errors.js";
import { oneLine } from "../title.js";

export interface SplitPattern {
  /** The folder that the pattern names before its first wildcard, as given; "." when none. */
  base: string;
  /** The pattern below the base. */
  rest: string;
  /** A pattern without a slash means a file's name, in any folder. */
  anywhere: boolean;
}

/** `folder` is where a relative pattern starts. */
export function splitPattern(pattern: string, folder: string | undefined): SplitPattern {
  const names = pattern.split("/");
  const wild = names.findIndex((name) => /[*?[\]{}()!]/.test(name));
  const last = names.at(-1) ?? "";
  const isFolder = wild === -1 && ["", ".", ".."].includes(last);
  const cut = isFolder ? names.length : wild === -1 ? names.length - 1 : wild;
  const prefix = names.slice(0, cut).join("/") || (cut > 0 ? "/" : "");
  const rest = names.slice(cut).join("/") || "**";
  return { base: joined(folder, prefix), rest, anywhere: !pattern.includes("/") && !isFolder };
}

/** The paths, relative to the base, that the pattern takes. Throws when that cannot be told in time. */
export async function matchingPaths(pattern: Pick<SplitPattern, "rest" | "anywhere">, paths: readonly string[]): Promise<string[]> {
  const [{ default: picomatch }, { TimeBox }] = await Promise.all([import("picomatch"), import("./time-box.js")]);
  const matches = picomatch(pattern.rest, { dot: true, basename: pattern.anywhere });
  const found = new TimeBox().run(() => paths.filter((path) => matches(path)));
  if (found !== undefined) return found.done;
  const message = `The pattern ${oneLine(pattern.rest)} takes too long to match; use a simpler one.`;
  throw new ParleyError({ code: "tool", message, retryable: false });
}

/** The path is not normalised: the workspace follows a link before a `..`. */
function joined(folder: string | undefined, prefix: string): string {
  if (folder === undefined || /^(?:\/|~\/|[A-Za-z]:)/.test(prefix)) return prefix || ".";
  return prefix === "" ? folder : `${folder.replace(/\/+$/, "")}/${prefix}`;
}
