/** Parses a YAML text that a person wrote: keys are text, tags have no meaning, and each problem has its place. */
import { LineCounter, parseDocument, type Document } from "yaml";
import { duplicatesIn } from "./duplicates.js";

export interface YamlText {
  doc: Document.Parsed;
  lines: LineCounter;
  /** The places that cannot be parsed or are ambiguous; empty if the text can be used. */
  problems: { offset: number; message: string }[];
}

export function readYaml(text: string): YamlText {
  const lines = new LineCounter();
  const doc = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    resolveKnownTags: false,
    uniqueKeys: false,
  });
  const problems = [
    ...[...doc.errors, ...doc.warnings].map(({ pos, message }) => ({ offset: pos[0], message })),
    ...duplicatesIn(doc).map((offset) => ({ offset, message: "Map keys must be unique" })),
  ];
  return { doc, lines, problems };
}
