/** Finds the command that a command line means. */
import { nearest } from "../../core/text/nearest-word.js";
import { COMMANDS, type Command } from "./commands.js";
import { given, usage, type Parsed } from "./flags.js";

const HELP = "help";

/** The command with the longest name that fits, else the default command. */
export function commandOf(argv: readonly string[]): { command: Command; words: readonly string[] } {
  const named = COMMANDS.filter(({ name }) => name.split(" ").every((word, at) => word === argv[at]));
  const command = named.toSorted((one, other) => other.name.length - one.name.length)[0] ?? COMMANDS.find(({ name }) => name === "");
  if (command === undefined) throw new Error("there is no default command");
  return { command, words: command.name === "" ? argv : argv.slice(command.name.split(" ").length) };
}

/** The command that `parley help NAME` asks about; undefined for any other command line. */
export function helpTopic([first, ...name]: readonly string[]): Command | undefined {
  if (first !== HELP) return undefined;
  const { command, words } = commandOf(name);
  const [unknown] = words.filter((word) => !word.startsWith("-"));
  if (unknown !== undefined) throw usage(`There is no command '${name.join(" ")}'${meant(unknown)} ('parley help' lists them)`);
  return command;
}

/**
 * The command that the first word nearly is. A misspelt word is no prompt, unless further words are quoted with it: a model would be asked, and
 * paid, for a slip of the finger.
 */
export function misspelt({ name }: Command, parsed: Parsed): string | undefined {
  const [word = ""] = parsed.positionals;
  return name !== "" || given(parsed, "print") ? undefined : nearestCommand(word);
}

/** Asks at a terminal whether the command is meant, and leaves where neither is; elsewhere the word is wrong usage. */
export async function isAccepted(command: string, { positionals: [word = ""] }: Parsed): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw usage(`There is no command '${word}'; did you mean 'parley ${command}'? (as a prompt: parley -p ${word})`);
  const { askOnce } = await import("./ask-once.js");
  const reply = await askOnce(`There is no command '${word}'. [r]un 'parley ${command}', send it as a [p]rompt, or leave: `);
  if (/^[ry]/i.test(reply)) return true;
  if (/^p/i.test(reply)) return false;
  throw usage(`There is no command '${word}', and nothing was done`);
}

/** The command line with this command in place of its first word. */
export function withCommand(argv: readonly string[], command: string): string[] {
  const at = argv.findIndex((word) => !word.startsWith("-") && nearestCommand(word) === command);
  return [command, ...argv.filter((_, index) => index !== at)];
}

function nearestCommand(word: string): string | undefined {
  // A command of the chat, a file or a question is a prompt.
  if (word.length < 3 || !/^[a-z-]+$/i.test(word)) return undefined;
  return nearest(word, [...new Set([...COMMANDS.map(({ name }) => name.split(" ")[0] ?? ""), HELP])]);
}

function meant(word: string): string {
  const near = nearestCommand(word);
  return near === undefined ? "" : `; did you mean 'parley ${near}'?`;
}

export function isCommand(word: string): boolean {
  return word !== "" && COMMANDS.some(({ name }) => name === word);
}

/** Whether the command without a name has this flag. */
export function isFlag(name: string): boolean {
  return COMMANDS.find((command) => command.name === "")?.flags.some((flag) => flag.name === name || flag.alias === name) === true;
}

/** The commands below this one that do something; a name that only begins others is left out. */
export function commandsBelow({ name: above }: Command): Command[] {
  const isBelow = (name: string): boolean => name !== above && (above === "" || name.startsWith(`${above} `));
  const beginsOthers = (name: string): boolean => COMMANDS.some((other) => other.name.startsWith(`${name} `));
  return COMMANDS.filter(({ name }) => isBelow(name) && !beginsOthers(name));
}
