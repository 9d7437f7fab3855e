/** A message as its sender means it: words. Programs for people make more of some of them, and a chat is not their terminal. */
import { basename } from "node:path";
import { withoutCommand, withoutMentions } from "../../core/plain-words.js";
import { EXPANSIONS, type Expansion } from "../profile/fields.js";

/** Programs that expand mentions and commands in their machine modes, too, by the names of their commands and packages. */
const EXPANDING = /^(claude(-code)?|gemini(-cli)?|qwen(-code)?)(\.\w+)?$/;

/** The message, written so that the program makes nothing more of it. Placeholders and wires alike hold it so. */
export function plainMessage(message: string, expands: readonly Expansion[]): string {
  const words = expands.includes("mentions") ? withoutMentions(message) : message;
  return expands.includes("commands") ? withoutCommand(words) : words;
}

/** The expansions of a command whose profile does not name them. A dialect writes prompts as words by itself. */
export function knownExpansions(argv: readonly string[], dialect: string | undefined): readonly Expansion[] {
  return dialect === undefined && argv.some((word) => EXPANDING.test(basename(word))) ? EXPANSIONS : [];
}
