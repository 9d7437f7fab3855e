/** Words of a profile that YAML takes for numbers or truth values: an argument 1.10 is no 1.1, and an id has more digits than a number keeps. */
import { isPair, isScalar, visit, type Document } from "yaml";

/** The keys whose values a program gets as text. */
const WORDS: readonly unknown[] = ["args", "env"];

/** Gives every such value back the characters that it was written with. */
export function keepWords(doc: Document.Parsed): void {
  visit(doc, {
    Scalar(_, node, path) {
      const isWord = path.some((step) => isPair(step) && isScalar(step.key) && WORDS.includes(step.key.value));
      if (isWord && (typeof node.value === "number" || typeof node.value === "boolean")) node.value = node.source ?? node.value;
    },
  });
}
