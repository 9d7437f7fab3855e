/** The output of a tool or a command as rows. */
import type { Part } from "../../../core/content.js";
import { shown } from "../../../core/text/terminal-text.js";
import { wrapped } from "./blocks.js";
import { diffRows } from "./diff-rows.js";
import { fitted, folded, type Ends, type Folding } from "./folded.js";

const OUTPUT: Ends = { head: 4, tail: 6 };
const DIFF: Ends = { head: 20, tail: 8 };

export interface Drawing extends Folding {
  width: number;
  isFailed?: boolean;
}

export function partRows(part: Part, drawing: Drawing): string[] {
  const { theme, width } = drawing;
  switch (part.type) {
    case "diff": {
      const { added, removed } = part.stat;
      const head = `${foreign(part.path)}  ${theme.paint("added", `+${added}`)} ${theme.paint("removed", `-${removed}`)}`;
      return [head, ...folded(diffRows(foreign(part.patch), theme, width), drawing, DIFF)];
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
      return outputRows(part.text, drawing);
    case "json":
      return outputRows(JSON.stringify(part.data, undefined, 2), drawing);
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

export function outputRows(text: string, drawing: Drawing): string[] {
  const { theme, width, isUnfolded, isFailed = false } = drawing;
  if (text.trim() === "") return [];
  const lines = foreign(text).replace(/\s+$/, "").split("\n");
  const rows = isUnfolded
    ? lines.flatMap((line) => wrapped(line.replaceAll("\t", "    "), width))
    : lines.map((line) => fitted(line, width));
  return folded(rows, drawing, OUTPUT).map((row) => theme.paint(isFailed ? "error" : "aside", row));
}

/** Text of others cannot steer the terminal. */
export function foreign(text: string): string {
  return shown(text, { isTTY: true });
}
