/** Help texts, made from the tables of commands and flags and as wide as the terminal is. */
import type { Flag } from "./flags.js";

export interface Topic {
  usage: string;
  summary: string;
  details?: string;
  flags: readonly Flag[];
}

/** Where nobody says how wide it is; wider lines are hard to read. */
const WIDEST = 100;
const NARROWEST = 50;
const INDENT = "  ";

/** `commands`: those below this one. */
export function helpText(topic: Topic, commands: readonly { name: string; summary: string }[], columns = WIDEST): string {
  const width = Math.max(NARROWEST, Math.min(WIDEST, columns));
  const shown = topic.flags.filter(({ hidden }) => hidden !== true);
  const sections = [
    `Usage: ${topic.usage}`,
    wrapped(topic.summary, width),
    ...(topic.details === undefined ? [] : [wrapped(topic.details, width)]),
    ...(commands.length === 0 ? [] : [`Commands:\n${table(commandRows(commands), width)}`]),
    ...groups(shown).map(([title, flags]) => `${title}:\n${table(flags.map(flagRow), width)}`),
  ];
  return `${sections.join("\n\n")}\n`;
}

type Row = readonly [left: string, right: string];

function commandRows(commands: readonly { name: string; summary: string }[]): Row[] {
  return commands.map(({ name, summary }) => [`parley ${name}`, summary]);
}

/** In the order in which the groups first appear, but a command's own flags first. */
function groups(flags: readonly Flag[]): [title: string, flags: Flag[]][] {
  const found = new Map<string, Flag[]>([["Flags", []]]);
  for (const flag of flags) found.set(flag.group ?? "Flags", [...(found.get(flag.group ?? "Flags") ?? []), flag]);
  return [...found];
}

function flagRow({ name, short, alias, value, help }: Flag): Row {
  const names = [...(short === undefined ? [] : [`-${short}`]), `--${name}`, ...(alias === undefined ? [] : [`--${alias}`])].join(", ");
  return [value === undefined ? names : `${names} ${value}`, help];
}

function table(rows: readonly Row[], width: number): string {
  const left = Math.max(...rows.map(([cell]) => cell.length));
  const gap = INDENT.repeat(2).length + left;
  const lines = rows.map(([cell, text]) => {
    const [first = "", ...rest] = wrapped(text, width - gap).split("\n");
    return [`${INDENT}${cell.padEnd(left)}${INDENT}${first}`, ...rest.map((line) => `${" ".repeat(gap)}${line}`)].join("\n");
  });
  return lines.join("\n");
}

/** Lines that are too long are broken between words; the text's own lines stay apart. */
function wrapped(text: string, width: number): string {
  return text
    .split("\n")
    .map((line) => line.split(" ").reduce((before, word) => joined(before, word, width)))
    .join("\n");
}

function joined(before: string, word: string, width: number): string {
  const lastLine = before.length - (before.lastIndexOf("\n") + 1);
  return `${before}${lastLine + 1 + word.length > width ? "\n" : " "}${word}`;
}
