/** The lines of `parley bridge check` for people. */
import { shown } from "../../core/text/terminal-text.js";

/** Writes the last line, and returns the exit code. */
export function verdict(name: string, problems: readonly string[]): number {
  const count = `${problems.length} problem${problems.length === 1 ? "" : "s"}`;
  write(process.stdout, problems.length === 0 ? `${name} is fine` : `${name} has ${count}`);
  return problems.length === 0 ? 0 : 1;
}

/** Escapes control characters: the checked profile may not be trusted yet. */
export function write(stream: NodeJS.WriteStream, line: string): void {
  stream.write(`${shown(line, stream)}\n`);
}
