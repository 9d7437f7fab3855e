/** Writes a message so that its words stay words. Programs for people expand some words, and a chat is not their terminal. */
import { basename } from "node:path";
import { withoutCommand, withoutMentions } from "../../core/text/plain-words.js";
import { EXPANSIONS, type Expansion } from "../profile/fields.js";

/** Programs that expand mentions and commands in their machine modes, too, by the names of their commands and packages. */
const EXPANDING = /^(claude(-code)?|gemini(-cli)?|qwen(-code)?)(\.\w+)?$/;

/** The message in a form that the program does not expand. Placeholders and wires use this form. */
export function plainMessage(message: string, expands: readonly Expansion[]): string {
  const words = expands.includes("mentions") ? withoutMentions(message) : message;
  return expands.includes("commands") ? withoutCommand(words) : words;
}

/** The expansions of a command whose profile names none. A dialect writes prompts as words by itself. */
export function knownExpansions(argv: readonly string[], dialect: string | undefined): readonly Expansion[] {
  return dialect === undefined && argv.some((word) => EXPANDING.test(basename(word))) ? EXPANSIONS : [];
}
