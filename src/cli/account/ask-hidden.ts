/** A question at a terminal whose answer is not shown. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

/** Empty when the terminal was closed. Ctrl-C leaves. */
export async function askHidden(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 });
  // The terminal shows no keys from here on.
  process.stderr.write(question);
  terminal.on("SIGINT", () => {
    terminal.close();
    process.stderr.write("\n");
    process.exit(130);
  });
  const closed = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  try {
    return await Promise.race([terminal.question(""), closed]);
  } finally {
    terminal.close();
    process.stderr.write("\n");
  }
}
