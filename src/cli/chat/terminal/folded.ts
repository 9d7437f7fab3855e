/** Long output on the screen: its first and its last rows, and a word on how to see the rest. */
import { truncateToWidth } from "@earendil-works/pi-tui";
import type { Theme } from "../theme.js";

const HEAD = 4;
const TAIL = 6;

/** Beyond this only the ends are kept, however much is unfolded. */
const MOST_ROWS = 2000;

export function folded(rows: readonly string[], isUnfolded: boolean, theme: Theme, head = HEAD, tail = TAIL): string[] {
  const most = isUnfolded ? MOST_ROWS : head + tail + 1;
  if (rows.length <= most) return [...rows];
  const [first, last] = isUnfolded ? [MOST_ROWS / 2, MOST_ROWS / 2] : [head, tail];
  const hidden = rows.length - first - last;
  const hint = isUnfolded ? "" : " (Ctrl-O shows them)";
  return [
    ...rows.slice(0, first),
    theme.paint("aside", `${theme.marks.more} ${hidden} more lines${hint}`),
    ...rows.slice(rows.length - last),
  ];
}

/** A row that is too long for the screen is cut while it is folded, so that a file of one line does not fill it. */
export function fitted(row: string, width: number): string {
  return truncateToWidth(row.replaceAll("\t", "    "), Math.max(1, width), "…");
}
