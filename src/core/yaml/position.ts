/** Finds the place in a YAML text of a value inside it. */
import { isAlias, isMap, isNode, isScalar, isSeq, type Document } from "yaml";

/** The character at which the key or the value at the path `keys` starts; the last known point if the path ends early. An empty value is at its key. */
export function offsetOf(doc: Document.Parsed, keys: readonly (string | number)[], on: "key" | "value"): number {
  let node: unknown = doc.contents;
  let offset = startOf(node) ?? 0;
  for (const [index, name] of keys.entries()) {
    const entry = entryOf(isAlias(node) ? node.resolve(doc) : node, name);
    if (entry === undefined) return offset;
    const isEmpty = isScalar(entry.value) && entry.value.value === null;
    const wanted = isEmpty || (on === "key" && index === keys.length - 1) ? entry.key : entry.value;
    offset = startOf(wanted) ?? startOf(entry.key) ?? offset;
    node = entry.value;
  }
  return offset;
}

function entryOf(node: unknown, name: string | number): { key: unknown; value: unknown } | undefined {
  if (isMap(node)) return node.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(name));
  if (!isSeq(node)) return undefined;
  const item = node.items[Number(name)];
  return item === undefined ? undefined : { key: item, value: item };
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
