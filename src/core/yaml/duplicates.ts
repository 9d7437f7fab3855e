/** Finds repeated keys in a YAML text. The parser compares every key with every other, which takes minutes for a long mapping. */
import { isScalar, visit, type Document } from "yaml";

/** The places of all repeated keys but the first. The document must be parsed with `uniqueKeys: false`. */
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
