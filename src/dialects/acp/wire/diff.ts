/** Builds a diff part from the two texts of a file: the wire has no patch. */
import type { PartOf } from "../../../core/content.js";

const CONTEXT = 3;

/** The patch has one hunk, from the first to the last differing line. */
export function diffPart(path: string, before: string | null, after: string): PartOf<"diff"> {
  const [old, now] = [linesOf(before ?? ""), linesOf(after)];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const removed = old.slice(head, old.length - tail);
  const added = now.slice(head, now.length - tail);
  const stat = { added: added.length, removed: removed.length };
  if (removed.length + added.length === 0) return { type: "diff", path, before, after, patch: "", stat };
  const from = Math.max(0, head - CONTEXT);
  const leading = old.slice(from, head);
  const trailing = old.slice(old.length - tail, old.length - tail + CONTEXT);
  const place = (removedOrAdded: number): string => {
    const lines = leading.length + removedOrAdded + trailing.length;
    return `${lines === 0 ? 0 : from + 1},${lines}`;
  };
  const name = path.replace(/^\/+/, "");
  const patch = [
    `--- ${before === null ? "/dev/null" : `a/${name}`}`,
    `+++ b/${name}`,
    `@@ -${place(removed.length)} +${place(added.length)} @@`,
    ...leading.map((line) => marked(" ", line)),
    ...removed.map((line) => marked("-", line)),
    ...added.map((line) => marked("+", line)),
    ...trailing.map((line) => marked(" ", line)),
  ];
  return { type: "diff", path, before, after, patch: `${patch.join("\n")}\n`, stat };
}

/** Lines keep their line ends, so that a last line without one differs from a last line with one. */
function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/).filter((line) => line !== "");
}

function marked(mark: string, line: string): string {
  return line.endsWith("\n") ? `${mark}${line.slice(0, -1)}` : `${mark}${line}\n\\ No newline at end of file`;
}
