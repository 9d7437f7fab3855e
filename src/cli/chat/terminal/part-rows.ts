/** What a tool or a command shows, as rows. */
import type { Part } from "../../../core/content.js";
import { shown } from "../../../core/text/terminal-text.js";
import type { Theme } from "../theme.js";
import { wrapped } from "./blocks.js";
import { diffRows } from "./diff-rows.js";
import { fitted, folded } from "./folded.js";

/** Rows of a diff that are shown before the rest is folded. */
const DIFF_HEAD = 20;
const DIFF_TAIL = 8;

export interface Drawing {
  theme: Theme;
  width: number;
  isUnfolded: boolean;
  isFailed?: boolean;
}

export function partRows(part: Part, { theme, width, isUnfolded, isFailed = false }: Drawing): string[] {
  switch (part.type) {
    case "diff": {
      const { added, removed } = part.stat;
      const head = `${foreign(part.path)}  ${theme.paint("added", `+${added}`)} ${theme.paint("removed", `-${removed}`)}`;
      return [head, ...folded(diffRows(foreign(part.patch), theme, width), isUnfolded, theme, DIFF_HEAD, DIFF_TAIL)];
    }
    case "todo": {
      const marks = { pending: theme.marks.open, in_progress: theme.marks.active, completed: theme.marks.closed };
      if (part.items.length === 0) return [theme.paint("aside", "(the todo list is empty)")];
      return part.items.flatMap(({ status, text }) => wrapped(foreign(text), width, `${marks[status]} `));
    }
    case "plan":
      // The plan is shown whole, because the user approves it.
      return wrapped(foreign(part.text.trimEnd()), width);
    case "text":
    case "terminal":
      return outputRows(part.text, { theme, width, isUnfolded, isFailed });
    case "json":
      return outputRows(JSON.stringify(part.data, undefined, 2), { theme, width, isUnfolded, isFailed });
    case "image":
      return [theme.paint("aside", `(image, ${part.mime})`)];
    case "file":
    case "resource":
      return [theme.paint("aside", `(${foreign(part.type === "file" ? (part.path ?? part.name ?? part.uri ?? "file") : part.uri)})`)];
    default:
      part satisfies never;
      return [];
  }
}

export function outputRows(text: string, { theme, width, isUnfolded, isFailed = false }: Drawing): string[] {
  if (text.trim() === "") return [];
  const lines = foreign(text).replace(/\s+$/, "").split("\n");
  const rows = isUnfolded
    ? lines.flatMap((line) => wrapped(line.replaceAll("\t", "    "), width))
    : lines.map((line) => fitted(line, width));
  return folded(rows, isUnfolded, theme).map((row) => theme.paint(isFailed ? "error" : "aside", row));
}

/** Text of others cannot steer the terminal. */
export function foreign(text: string): string {
  return shown(text, { isTTY: true });
}
