/**
 * Escapes text for agents that attach the file named by `@path` in a prompt and run a prompt that begins with `/command`:
 * plain text must do neither.
 */

/** An invisible character that agents do not trim as white space. */
const NO_COMMAND = "\u200b";

/** Qwen Code, Gemini CLI, Claude Code and our own agent read `\@` as a plain letter. */
export function withoutMentions(text: string): string {
  return text.replace(/(?<!\\)@/g, "\\@");
}

/** `begins` matches the beginning of a command of that agent. */
export function withoutCommand(text: string, begins = /^\s*\//): string {
  return begins.test(text) ? `${NO_COMMAND}${text}` : text;
}
