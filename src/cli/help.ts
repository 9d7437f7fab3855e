/** Help texts, made from the tables of commands and flags. */
import type { Flag } from "./flags.js";

export interface Topic {
  usage: string;
  summary: string;
  details?: string;
  flags: readonly Flag[];
}

export function helpText(topic: Topic, commands: readonly { usage: string; summary: string }[] = []): string {
  const sections = [
    `Usage: ${topic.usage}\n\n${topic.summary}${topic.details === undefined ? "" : `\n\n${topic.details}`}`,
    commands.length === 0 ? "" : `Commands:\n${table(commands.map(({ usage, summary }) => [usage, summary]))}`,
    `Flags:\n${table(topic.flags.filter(({ hidden }) => hidden !== true).map((flag) => [flagForm(flag), flag.help]))}`,
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

function flagForm({ name, short, alias, value }: Flag): string {
  const names = [...(short === undefined ? [] : [`-${short}`]), `--${name}`, ...(alias === undefined ? [] : [`--${alias}`])].join(", ");
  return value === undefined ? names : `${names} ${value}`;
}

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
