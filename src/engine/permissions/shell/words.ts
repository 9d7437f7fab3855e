/** How certain a shell word is before the run: the one place that reads the parser's word parts. */
import { posix } from "node:path";
import type { Assignment, Word, WordPart } from "unbash";

/**
 * `literal`: the value is exactly the argument. `glob`: file names replace it. `expansion`: a value known only at the run,
 * which may become several words. `value` is dequoted; for an expansion it is the source text.
 */
export interface ShellWord {
  readonly value: string;
  readonly kind: "literal" | "glob" | "expansion";
  /** For a glob or an expansion: none of its words begins with a dash, so none is an option. */
  readonly operand?: true;
  /** For a glob or an expansion: it becomes exactly one word. */
  readonly whole?: true;
}

/** Thrown inside the analysis; `analyseShell` turns it into `parsed: false`. */
export class Unreadable extends Error {}

export function readWord(node: Word | Assignment): ShellWord {
  if (node.type === "Word") {
    const kind = kindOfWord(node);
    if (kind === "literal") return { value: node.value, kind };
    const whole = !hasBraces(node.text) && (node.parts ?? []).every((part) => part.type !== "Glob" && staysWhole(part));
    return {
      value: node.value,
      kind,
      ...(isOperand(node) && { operand: true }),
      ...(whole && node.parts !== undefined && { whole: true }),
    };
  }
  const { value, index } = node;
  if (value.type !== "Word" || index !== undefined) return { value: node.text, kind: "expansion" };
  return { value: `${node.name}${node.append === true ? "+=" : "="}${value.value}`, kind: kindOf(value.parts ?? []) };
}

/** The parser takes `{a},b}` for literal, which bash expands to `a} b`, and `$\⏎x`, which bash takes for `$x`. */
function kindOfWord({ text, parts = [] }: Word): ShellWord["kind"] {
  if (hasSplitDollar(text)) return "expansion";
  const kind = kindOf(parts);
  return kind !== "expansion" && hasBraces(text) ? "expansion" : kind;
}

/** A `$` that stands for something, with its name in the next line. */
function hasSplitDollar(text: string): boolean {
  if (!text.includes("$\\\n")) return false;
  return someLetter(text, (letter, at, quote) => letter === "$" && /^"?$/.test(quote) && text.startsWith("\\\n", at + 1));
}

/** An unquoted `{` with an unquoted `,` or `..` somewhere behind it. */
function hasBraces(text: string): boolean {
  if (!text.includes("{")) return false;
  let opened = false;
  return someLetter(text, (letter, at, quote) => {
    if (quote !== "") return false;
    if (letter === "{") opened = true;
    return opened && (letter === "," || text.startsWith("..", at));
  });
}

/** Whether a letter that no backslash escapes is one of those. `quote` is the quoting around it: `'`, `"`, `$` for `$'…'`, or none. */
function someLetter(text: string, isOne: (letter: string, at: number, quote: string) => boolean): boolean {
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at);
    if (letter === "\\" && quote !== "'") at++;
    else if (isOne(letter, at, quote)) return true;
    else if (quote !== "") quote = letter === (quote === "$" ? "'" : quote) ? "" : quote;
    else if (letter === "$" && text.charAt(at + 1) === "'") quote = text.charAt(at++);
    else if (letter === "'" || letter === '"') quote = letter;
  }
  return false;
}

/** A glob or a quoted text stays in one piece, so that its beginning is certain. */
function isOperand({ text, parts = [] }: Word): boolean {
  if (hasBraces(text) || !parts.every((part) => staysWhole(part))) return false;
  const [first] = parts;
  const head = first?.type === "DoubleQuoted" ? first.parts[0] : first;
  return (head?.type === "Literal" || head?.type === "SingleQuoted") && /^[^-]/.test(head.value);
}

/** `"$@"` and `"${a[@]}"` become several words in spite of their quotes. */
function staysWhole(part: WordPart): boolean {
  if (part.type === "DoubleQuoted") return part.parts.every(({ type, text }) => !/Simple|Parameter/.test(type) || !/[@*!]/.test(text));
  return part.type === "Literal" || part.type === "SingleQuoted" || (part.type === "Glob" && part.parts === undefined);
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
      return "literal";
    // The parser does not know `\x{65}`, which is an `e`.
    case "AnsiCQuoted":
      return part.text.includes("\\x{") ? "expansion" : "literal";
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

/** The value of a word that decides which program runs. */
export function sure(words: readonly ShellWord[], at: number, name: string): string {
  const word = words[at];
  if (word === undefined || word.kind === "literal") return word?.value ?? "";
  throw new Unreadable(`what ${name} runs depends on ${quoted(word.value)}, which is only known when it runs`);
}

/**
 * A program's name without its folder, as the tables have it: Windows adds an extension, and Windows and macOS ignore case.
 */
export function baseName(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  return name.toLowerCase().replace(/(?<=.)\.(?:exe|cmd|bat|com)$/, "");
}

export function quoted(text: string): string {
  return text.length > 60 ? `'${text.slice(0, 60)}…'` : `'${text}'`;
}

/** Whether a program that gets this path as its script may read its input instead, also from a folder that it is told to enter. */
export function isStream(path: string): boolean {
  const plain = posix.normalize(path);
  return (
    path === "-" ||
    path.startsWith("<(") ||
    /^\/(?:dev|proc)(?:\/|$)/i.test(plain) ||
    /^\.\.\/(?:.*\/)?(?:dev|proc)\//i.test(plain) ||
    /(?:^|\/)(?:stdin|fd\/\d+|\d+)$/i.test(plain)
  );
}
