/** Measures the nesting of a YAML text before parsing: the parser recurses, and a stack overflow may end the process. */
import { Lexer } from "yaml";

/** Tokens without text of their own; the text behind the last of them is a scalar. */
const MARKERS: ReadonlySet<string> = new Set(["\u0002", "\u0018", "\u001F"]);
const SCALAR = "\u001F";

/** The first place that is nested deeper than `limit`. Each bracket, dash and column of indentation counts as a level. */
export function tooDeepAt(text: string, limit: number): { line: number; column: number } | undefined {
  let offset = 0;
  let brackets = 0;
  let dashes = 0;
  let indent = 0;
  let previous = "\n";
  for (const lexeme of new Lexer().lex(text)) {
    const isScalar = previous === SCALAR;
    if (lexeme.endsWith("\n")) dashes = indent = 0;
    else if (previous.endsWith("\n") && lexeme.trim() === "") indent = lexeme.length;
    else if (!isScalar && (lexeme === "[" || lexeme === "{")) brackets += 1;
    else if (!isScalar && (lexeme === "]" || lexeme === "}")) brackets -= 1;
    else if (!isScalar && (lexeme === "-" || lexeme === "?")) dashes += 1;
    if (brackets + dashes + indent > limit) return positionAt(text, offset);
    if (isScalar || !MARKERS.has(lexeme)) offset += lexeme.length;
    previous = lexeme;
  }
  return undefined;
}

function positionAt(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}
