/** Glob patterns: the folder where the search begins, and the paths below it that match. */
import { ParleyError } from "../../../core/errors.js";
import { oneLine } from "../title.js";

export interface SplitPattern {
  /** The folder before the pattern's first wildcard, as given; "." if there is none. */
  base: string;
  /** The rest of the pattern, below the base. */
  rest: string;
  /** A pattern without a slash matches a file's name in any folder. */
  anywhere: boolean;
}

/** A relative pattern starts in `folder`. */
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

/** The matching paths, relative to the base. Throws if the match takes too long. */
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
