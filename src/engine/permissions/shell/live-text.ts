/** Quoted text in variables that the shell evaluates later, by way of PS4, PROMPT_COMMAND or arithmetic. */
import type { ParameterOperation, Word } from "unbash";
import { Unreadable } from "./words.js";

/** Throws for text with a dollar or a backtick. */
export function refuseLiveText(word: Word): void {
  if (isLive(word)) throw new Unreadable("a variable is given quoted text that may run a command later");
}

function isLive({ value, parts }: Word): boolean {
  return parts === undefined ? /[$`]/.test(value) : parts.some((part) => isLivePart(part));
}

function isLivePart(part: NonNullable<Word["parts"]>[number]): boolean {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return /[$`]/.test(part.value);
    case "DoubleQuoted":
    case "LocaleString":
      return part.parts.some((inner) => isLivePart(inner));
    case "ParameterExpansion":
      return operands(part.operation).some((word) => isLive(word));
    case "Glob":
    case "ExtendedGlob":
    case "BraceExpansion":
      return /[$`]/.test(part.text);
    case "SimpleExpansion":
    case "CommandExpansion":
    case "ArithmeticExpansion":
    case "ProcessSubstitution":
      return false;
  }
}

function operands(operation: ParameterOperation | undefined): Word[] {
  if (operation?.type === "Default") return [operation.operand];
  return operation?.type === "Replace" ? [operation.replacement] : [];
}
