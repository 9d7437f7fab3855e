/** The command line of an agent that we start: what somebody wrote, and what its dialect adds for the session. */

/** What the command says itself is not said twice. */
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
