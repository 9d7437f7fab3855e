/** One question to the person at the terminal, before anything else runs there. */
import { createInterface } from "node:readline/promises";

/** The answer without blanks around it; empty when the terminal was closed. Ctrl-C leaves. */
export async function askOnce(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  terminal.on("SIGINT", () => process.exit(130));
  const closed = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  try {
    return (await Promise.race([terminal.question(question), closed])).trim();
  } finally {
    terminal.close();
  }
}
