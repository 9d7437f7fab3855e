/** Which links a message of somebody elsewhere may bring along: to the web, by value, or to a file that the platform itself has put where files belong. */
import { realpathSync } from "node:fs";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";
import { clipped } from "../../core/truncate-list.js";
import type { Attachment } from "./turn.js";

const ELSEWHERE: ReadonlySet<string> = new Set(["http:", "https:", "data:"]);

/** Why they are not passed on; undefined when they are. `folder` is where the platform's files are. */
export function linkProblem(attachments: readonly Attachment[], folder: string): string | undefined {
  const wrong = attachments.find(({ url }) => !isAllowed(url, folder));
  if (wrong === undefined) return undefined;
  return `The link '${clipped(wrong.url)}' is not passed on: attachments are http, https or data links, and files of this machine are not theirs to name`;
}

function isAllowed(url: string, folder: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol } = new URL(url);
  return ELSEWHERE.has(protocol) || (protocol === "file:" && liesIn(folder, url));
}

/** Wherever links on the disk lead. */
function liesIn(folder: string, url: string): boolean {
  try {
    return realpathSync(fileURLToPath(url)).startsWith(realpathSync(folder) + sep);
  } catch {
    return false;
  }
}
