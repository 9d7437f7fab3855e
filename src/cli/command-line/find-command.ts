/** Finds the command that a command line means. */
import { nearest } from "../../core/text/nearest-word.js";
import { COMMANDS, type Command } from "./commands.js";
import { given, usage, type Parsed } from "./flags.js";

/** The command with the longest name that fits, else the default command. */
export function commandOf(argv: readonly string[]): { command: Command; words: readonly string[] } {
  const named = COMMANDS.filter(({ name }) => name.split(" ").every((word, at) => word === argv[at]));
  const command = named.toSorted((one, other) => other.name.length - one.name.length)[0] ?? COMMANDS.find(({ name }) => name === "");
  if (command === undefined) throw new Error("there is no default command");
  return { command, words: command.name === "" ? argv : argv.slice(command.name.split(" ").length) };
}

/** The command that `parley help NAME` asks about; undefined for any other command line. */
export function helpTopic([first, ...name]: readonly string[]): Command | undefined {
  if (first !== "help") return undefined;
  const { command, words } = commandOf(name);
  const [unknown] = words.filter((word) => !word.startsWith("-"));
  if (unknown !== undefined) throw usage(`There is no command '${name.join(" ")}'${meant(unknown)} ('parley help' lists them)`);
  return command;
}

/** A lone word that is nearly a command is no prompt: a model would be asked, and paid, for a slip of the finger. */
export function refuseMisspelt({ name }: Command, parsed: Parsed): void {
  const [word = "", ...others] = parsed.positionals;
  if (name !== "" || others.length > 0 || given(parsed, "print") || meant(word) === "") return;
  throw usage(`There is no command '${word}'${meant(word)} (as a prompt: parley -p ${word})`);
}

function meant(word: string): string {
  const near =
    word.length < 3 || /\s/.test(word) ? undefined : nearest(word, [...new Set(COMMANDS.map(({ name }) => name.split(" ")[0] ?? ""))]);
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
