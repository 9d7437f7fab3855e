/**
 * Words of a profile that YAML reads as numbers or truth values: the argument 1.10 is not 1.1, and an id has more digits than a number
 * keeps.
 */
import { isPair, isScalar, visit, type Document } from "yaml";

/** The keys whose values a program gets as text. */
const WORDS: readonly unknown[] = ["args", "env"];

/** Restores the characters that such a value was written with. */
export function keepWords(doc: Document.Parsed): void {
  visit(doc, {
    Scalar(_, node, path) {
      const isWord = path.some((step) => isPair(step) && isScalar(step.key) && WORDS.includes(step.key.value));
      if (isWord && (typeof node.value === "number" || typeof node.value === "boolean")) node.value = node.source ?? node.value;
    },
  });
}
