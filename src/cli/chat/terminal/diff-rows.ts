/** A unified diff as rows: the file first, then lines with their numbers. */
import type { Role, Theme } from "../theme.js";
import { fitted } from "./folded.js";

interface Row {
  number: number | undefined;
  mark: "+" | "-" | " ";
  text: string;
}

export function diffRows(patch: string, theme: Theme, width: number): string[] {
  const rows = rowsOf(patch);
  const digits = String(Math.max(0, ...rows.map(({ number = 0 }) => number))).length;
  return rows.map(({ number, mark, text }) => {
    if (number === undefined) return theme.paint("hunk", fitted(text, width));
    const role: Role = mark === "+" ? "added" : mark === "-" ? "removed" : "aside";
    return theme.paint(role, fitted(`${String(number).padStart(digits)} ${mark} ${text}`, width));
  });
}

/** Lines that went carry the old file's numbers, all others the new file's. */
function rowsOf(patch: string): Row[] {
  const rows: Row[] = [];
  let [before, after] = [0, 0];
  for (const line of patch.trimEnd().split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (hunk !== null) {
      [before, after] = [Number(hunk[1]), Number(hunk[2])];
      if (rows.length > 0) rows.push({ number: undefined, mark: " ", text: "⋯" });
    } else if (before + after === 0) {
      // The names of the files stand in the title.
    } else if (line.startsWith("+")) rows.push({ number: after++, mark: "+", text: line.slice(1) });
    else if (line.startsWith("-")) rows.push({ number: before++, mark: "-", text: line.slice(1) });
    else if (line.startsWith("\\")) rows.push({ number: undefined, mark: " ", text: line });
    else {
      rows.push({ number: after, mark: " ", text: line.slice(1) });
      before++;
      after++;
    }
  }
  return rows;
}
