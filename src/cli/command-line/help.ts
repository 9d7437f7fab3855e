/** Help texts, made from the tables of commands and flags and as wide as the terminal is. */
import type { Flag } from "./flags.js";
import { table, wrapped } from "./table.js";

export interface Topic {
  usage: string;
  summary: string;
  details?: string;
  flags: readonly Flag[];
}

/** The width of a text for an output without one; wider lines are hard to read. */
const WIDEST = 100;
const NARROWEST = 50;

/** `commands` are those below this topic. */
export function helpText(topic: Topic, commands: readonly { name: string; summary: string }[], columns = WIDEST): string {
  const width = Math.max(NARROWEST, Math.min(WIDEST, columns));
  const shown = topic.flags.filter(({ hidden }) => hidden !== true);
  const sections = [
    `Usage: ${topic.usage}`,
    paragraph(topic.summary, width),
    ...(topic.details === undefined ? [] : [paragraph(topic.details, width)]),
    ...(commands.length === 0 ? [] : [`Commands:\n${table(commandRows(commands), width)}`]),
    ...groups(shown).map(([title, flags]) => `${title}:\n${table(flags.map(flagRow), width)}`),
  ];
  return `${sections.join("\n\n")}\n`;
}

type Row = readonly [left: string, right: string];

function commandRows(commands: readonly { name: string; summary: string }[]): Row[] {
  return commands.map(({ name, summary }) => [`parley ${name}`, summary]);
}

/** A command's own flags come first; the other groups keep the order in which they appear. */
function groups(flags: readonly Flag[]): [title: string, flags: Flag[]][] {
  const found = new Map<string, Flag[]>([["Flags", []]]);
  for (const flag of flags) found.set(flag.group ?? "Flags", [...(found.get(flag.group ?? "Flags") ?? []), flag]);
  return [...found];
}

function flagRow({ name, short, alias, value, help }: Flag): Row {
  const names = [...(short === undefined ? [] : [`-${short}`]), `--${name}`, ...(alias === undefined ? [] : [`--${alias}`])].join(", ");
  return [value === undefined ? names : `${names} ${value}`, help];
}

/** Wraps each line of the text by itself. */
function paragraph(text: string, width: number): string {
  return text
    .split("\n")
    .flatMap((line) => wrapped(line, width))
    .join("\n");
}
