/** Checks the links of a message: links to the web, data URLs, and files in the platform's own folder may pass. */
import { realpathSync } from "node:fs";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";
import { clipped } from "../../core/text/truncate-list.js";
import type { Attachment } from "./turn.js";

const ELSEWHERE: ReadonlySet<string> = new Set(["http:", "https:", "data:"]);

/** The reason why the links are refused; undefined when they may pass. `folder` is the folder of the platform's files. */
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

/** Compares real paths, with links resolved. */
function liesIn(folder: string, url: string): boolean {
  try {
    return realpathSync(fileURLToPath(url)).startsWith(realpathSync(folder) + sep);
  } catch {
    return false;
  }
}
