/** The prompt of a one-prompt run: an argument with the piped input, or standard input alone. */
import { fstatSync } from "node:fs";
import { messageOf, ParleyError } from "../../core/errors.js";
import { usage } from "./flags.js";

const MAX_MIB = 8;
/** A program writes into a shell's pipe, however late it begins. */
const PIPE_SECONDS = 30;
/** Programs that start others may leave them a socket that nobody writes to or closes. */
const SOCKET_SECONDS = 3;

export async function promptOf(given: string | undefined): Promise<string> {
  const isGiven = given !== undefined && given !== "-";
  const text = isGiven ? given : await stdinText();
  if (text.trim() === "") throw usage("There is no prompt: give one with -p PROMPT or on stdin");
  const piped = isGiven ? await stdinText(fstatSync(0).isFIFO() ? PIPE_SECONDS : SOCKET_SECONDS) : "";
  return piped.trim() === "" ? text : `${text}\n\n${fenced(piped)}`;
}

/** Reads all of stdin, up to a limit; nothing at a terminal. With `seconds`, the first byte must come within that time. */
async function stdinText(seconds?: number): Promise<string> {
  const { stdin } = process;
  if (stdin.isTTY) return "";
  const giveUp = (): void => {
    process.stderr.write(`parley: Nothing came on stdin within ${seconds} s; the prompt goes on without it\n`);
    stdin.destroy();
  };
  const timer = seconds === undefined ? undefined : setTimeout(giveUp, seconds * 1000);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stdin) {
      clearTimeout(timer);
      const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
      size += bytes.length;
      if (size > MAX_MIB * 2 ** 20)
        throw usage(`A prompt takes no more: more than ${MAX_MIB} MiB came on stdin; name a file to read instead`);
      chunks.push(bytes);
    }
  } catch (error) {
    if (error instanceof ParleyError) throw error;
    // We closed stdin, or it was never readable, as under nohup: there is no input.
    if (size > 0) throw usage(`stdin could not be read to its end: ${messageOf(error)}`);
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString();
}

/** The fence is longer than any run of backticks within. */
function fenced(text: string): string {
  let fence = "```";
  for (const [run] of text.matchAll(/`{3,}/g)) if (run.length >= fence.length) fence = `${run}\``;
  return `${fence}stdin\n${text.replace(/\n$/, "")}\n${fence}`;
}
