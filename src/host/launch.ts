/** The command line of an agent that we start: the given words, and the dialect's flags for the session. */
import { basename } from "node:path";
import type { Dialect } from "../dialects/dialect.js";

/** The command of an agent of the dialect: the name of a well-known program alone gets the words by which it speaks that wire. */
export function commandFor({ wordsOf = {} }: Pick<Dialect, "wordsOf">, command: readonly string[]): readonly string[] {
  const [program = "", ...words] = command;
  const name = basename(program).replace(/\.(exe|cmd)$/i, "");
  return words.length === 0 && Object.hasOwn(wordsOf, name) ? [program, ...(wordsOf[name] ?? [])] : command;
}

/** Adds the flags that the command does not have itself. */
export function withFlags(command: readonly string[], flags: readonly string[]): string[] {
  const added: string[] = [];
  for (let at = 0; at < flags.length;) {
    const flag = flags[at] ?? "";
    const next = flags[at + 1];
    const value = next !== undefined && !next.startsWith("--") ? [next] : [];
    if (!command.some((word) => word === flag || word.startsWith(`${flag}=`))) added.push(flag, ...value);
    at += 1 + value.length;
  }
  return [...command, ...added];
}
