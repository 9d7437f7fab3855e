/** How sure we are of a shell word before it runs: the one place that reads the parser's word parts. */
import type { Assignment, Word, WordPart } from "unbash";

/**
 * `literal`: its value is what the command will get. `glob`: file names stand in for it. `expansion`: a value that only the run knows,
 * and that may become several words. `value` is dequoted; of an expansion it is the source text.
 */
export interface ShellWord {
  readonly value: string;
  readonly kind: "literal" | "glob" | "expansion";
}

/** Thrown inside the analysis only; `analyseShell` turns it into `parsed: false`. */
export class Unreadable extends Error {}

export function readWord(node: Word | Assignment): ShellWord {
  if (node.type === "Word") return { value: node.value, kind: kindOf(node.parts ?? []) };
  const { value, index } = node;
  if (value.type !== "Word" || index !== undefined) return { value: node.text, kind: "expansion" };
  return { value: `${node.name}${node.append === true ? "+=" : "="}${value.value}`, kind: kindOf(value.parts ?? []) };
}

function kindOf(parts: readonly WordPart[]): ShellWord["kind"] {
  const kinds = parts.map((part) => kindOfPart(part));
  if (kinds.includes("expansion")) return "expansion";
  return kinds.includes("glob") ? "glob" : "literal";
}

function kindOfPart(part: WordPart): ShellWord["kind"] {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return "literal";
    case "DoubleQuoted":
      return kindOf(part.parts);
    case "Glob":
      return part.parts === undefined ? "glob" : kindOf(part.parts) === "expansion" ? "expansion" : "glob";
    // A locale string is replaced by its translation, which a catalogue in the workspace could provide.
    case "LocaleString":
    case "SimpleExpansion":
    case "ParameterExpansion":
    case "CommandExpansion":
    case "ArithmeticExpansion":
    case "ProcessSubstitution":
    case "ExtendedGlob":
    case "BraceExpansion":
      return "expansion";
  }
}

/** The value of a word that decides what runs. */
export function sure(words: readonly ShellWord[], at: number, name: string): string {
  const word = words[at];
  if (word === undefined || word.kind === "literal") return word?.value ?? "";
  throw new Unreadable(`what ${name} runs depends on ${quoted(word.value)}, which is only known when it runs`);
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export function quoted(text: string): string {
  return text.length > 60 ? `'${text.slice(0, 60)}…'` : `'${text}'`;
}
