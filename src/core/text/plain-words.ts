/**
 * Words that stay words. Some agents attach the file that `@path` in a prompt names, and run a prompt that begins as `/command` does: a
 * prompt that asks for neither is written so that they do neither.
 */

/** Takes no room, and is no blank that an agent would cut off. */
const NO_COMMAND = "\u200b";

/** An `@` behind a backslash is a letter to Qwen Code, Gemini CLI, Claude Code and our own agents. */
export function withoutMentions(text: string): string {
  return text.replace(/(?<!\\)@/g, "\\@");
}

/** `begins`: how a command begins there. */
export function withoutCommand(text: string, begins = /^\s*\//): string {
  return begins.test(text) ? `${NO_COMMAND}${text}` : text;
}
