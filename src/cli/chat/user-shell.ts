/** `!command`: runs in the user's own name, and is told to the model with the next prompt. */
import { messageOf } from "../../core/errors.js";
import type { Redactor } from "../../core/secrets/redact.js";
import { OutputBuffer } from "../../engine/workspace/output.js";
import { startTree, type Tree } from "../../os/processes/process.js";

const MOST_CHARS = 30_000;
const GRACE_MS = 500;

export interface UserCommand {
  /** For the user. */
  text: string;
  /** For the model. */
  told: string;
}

export class UserShell {
  readonly #redactor: Redactor;
  readonly #running = new Set<Tree>();

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  async run(command: string, cwd: string): Promise<UserCommand> {
    const output = new OutputBuffer(MOST_CHARS);
    const ending = await this.#ended(command, cwd, output).catch((error: unknown) => messageOf(error));
    const printed = output.text().trimEnd();
    const text = [printed, ending].filter(Boolean).join("\n") || "(no output)";
    return { text, told: this.#redactor.text(`The user ran a command in the workspace:\n$ ${command}\n${text}`) };
  }

  /** Ends what runs. */
  stop(): void {
    for (const tree of this.#running) void tree.end(GRACE_MS);
  }

  /** How it ended, where that is worth a word. */
  async #ended(command: string, cwd: string, output: OutputBuffer): Promise<string> {
    const tree = await startTree(["/bin/sh", "-c", command], { cwd, env: process.env, stdio: ["ignore", "pipe", "pipe"] });
    this.#running.add(tree);
    for (const stream of [tree.child.stdout, tree.child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => output.push(text));
    const { code, signal } = await tree.exited;
    this.#running.delete(tree);
    return code === 0 ? "" : `(${code === null ? `ended by ${signal ?? "a signal"}` : `exit code ${code}`})`;
  }
}
