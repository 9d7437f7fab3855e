/** The command line of an agent that we start: the given words, and the dialect's flags for the session. */

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
