/** A YAML text as files of people are read: keys are text, tags mean nothing, and every problem has its place. */
import { LineCounter, parseDocument, type Document } from "yaml";
import { duplicatesIn } from "./duplicates.js";

export interface YamlText {
  doc: Document.Parsed;
  lines: LineCounter;
  /** The places that are no YAML or have two meanings; empty where the text can be used. */
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
