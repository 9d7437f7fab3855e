/** Long output on the screen: its first and its last rows, and a word on how to see the rest. */
import { truncateToWidth } from "@earendil-works/pi-tui";
import type { Theme } from "../theme.js";

/** The rows that are shown of something long. */
export interface Ends {
  head: number;
  tail: number;
}

export interface Folding {
  theme: Theme;
  isUnfolded: boolean;
  /** Rows that there is room for; without it the ends are shown. */
  most?: number;
}

/** Beyond this only the ends are kept, however much is unfolded. */
const UNFOLDED: Ends = { head: 1000, tail: 1000 };

export function folded(rows: readonly string[], { theme, isUnfolded, most }: Folding, ends: Ends): string[] {
  const { head, tail } = isUnfolded ? UNFOLDED : most === undefined ? ends : endsOf(most);
  if (rows.length <= head + tail + 1) return [...rows];
  const hint = isUnfolded ? "" : " (Ctrl-O shows them)";
  return [
    ...rows.slice(0, head),
    theme.paint("aside", `${theme.marks.more} ${rows.length - head - tail} more lines${hint}`),
    ...rows.slice(rows.length - tail),
  ];
}

/** One row is left for the word on the rest. */
function endsOf(most: number): Ends {
  const tail = Math.floor((most - 1) / 3);
  return { head: most - 1 - tail, tail };
}

/** A row that is too long for the screen is cut while it is folded, so that a file of one line does not fill it. */
export function fitted(row: string, width: number): string {
  return truncateToWidth(row.replaceAll("\t", "    "), Math.max(1, width), "…");
}
