/** Prompts of MCP servers as commands, `server:prompt`, and their arguments out of a line: in order, or by name as `name=value`. */
import type { Part } from "../../../core/content.js";
import { usageFault } from "./command.js";
import type { PromptSource } from "./sources.js";

interface Argument {
  name: string;
  required: boolean;
}

interface ServerPrompt {
  server: string;
  name: string;
  description: string;
  arguments: readonly Argument[];
}

interface ServerPrompts {
  prompts(): readonly ServerPrompt[];
  prompt(server: string, name: string, args: Record<string, string>, signal: AbortSignal): Promise<Part[]>;
}

export function mcpPromptSource(servers: ServerPrompts): PromptSource {
  return {
    list: () =>
      servers.prompts().map((prompt) => ({
        name: commandName(prompt),
        description: prompt.description,
        ...(prompt.arguments.length > 0 && { argumentHint: hintOf(prompt) }),
      })),
    async prompt(name, args, signal) {
      const prompt = servers.prompts().find((each) => commandName(each) === name);
      if (prompt === undefined) throw usageFault(`The prompt '${name}' is gone`);
      return servers.prompt(prompt.server, prompt.name, argumentsOf(prompt, args), signal);
    },
  };
}

/**
 * Each argument gets a word, quotes keep spaces, and the last argument gets the rest. Throws when an argument is missing or too many are
 * given.
 */
export function argumentsOf(prompt: ServerPrompt, line: string): Record<string, string> {
  const given = new Map<string, string>();
  const words: string[] = [];
  for (const word of wordsIn(line)) {
    const named = prompt.arguments.find(({ name }) => word.startsWith(`${name}=`));
    if (named === undefined) words.push(word);
    else given.set(named.name, word.slice(named.name.length + 1));
  }
  const open = prompt.arguments.filter(({ name }) => !given.has(name));
  if (words.length > 0 && open.length === 0) throw usageFault(`/${commandName(prompt)} does not take '${words.join(" ")}'${usage(prompt)}`);
  for (const [at, { name }] of open.entries()) {
    const mine = at === open.length - 1 ? words.slice(at) : words.slice(at, at + 1);
    if (mine.length > 0) given.set(name, mine.join(" "));
  }
  const missing = prompt.arguments.find(({ name, required }) => required && !given.has(name));
  if (missing !== undefined) throw usageFault(`/${commandName(prompt)} needs '${missing.name}'${usage(prompt)}`);
  return Object.fromEntries(given);
}

function commandName({ server, name }: ServerPrompt): string {
  return `${server}:${name}`;
}

function usage(prompt: ServerPrompt): string {
  return prompt.arguments.length === 0 ? "" : `: /${commandName(prompt)} ${hintOf(prompt)}`;
}

function hintOf(prompt: ServerPrompt): string {
  return prompt.arguments.map(({ name, required }) => (required ? `<${name}>` : `[${name}]`)).join(" ");
}

/** Quotes may stand anywhere in a word (`name="a b"`); one that is never closed is a letter like others. */
function wordsIn(line: string): string[] {
  const words = line.match(/(?:"[^"]*"|'[^']*'|\S)+/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ""));
}
