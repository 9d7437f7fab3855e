/** Keys that a YAML text gives twice. The parser finds them, too, but compares every key with every other: a long mapping keeps it busy for minutes. */
import { isScalar, visit, type Document } from "yaml";

/** Where each of them stands, but for the first of its name. To be asked of documents that were parsed with `uniqueKeys: false`. */
export function duplicatesIn(doc: Document.Parsed): number[] {
  const offsets: number[] = [];
  visit(doc, {
    Map(_, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) offsets.push(key.range?.[0] ?? 0);
        seen.add(key.value);
      }
    },
  });
  return offsets.sort((a, b) => a - b);
}
