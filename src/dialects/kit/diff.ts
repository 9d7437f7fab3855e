/** Reads diffs of wires that have a patch but not the texts. */
import type { PartOf } from "../../core/content.js";

/** The texts before and after stay empty. */
export function patchPart(patch: string, path: string): PartOf<"diff"> {
  const lines = patch.split("\n");
  const hunks = lines.slice(lines.findIndex((line) => line.startsWith("@@")));
  const count = (mark: string): number => hunks.filter((line) => line.startsWith(mark)).length;
  return { type: "diff", path, before: null, after: "", patch, stat: { added: count("+"), removed: count("-") } };
}
