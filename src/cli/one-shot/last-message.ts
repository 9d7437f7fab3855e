/** The file that gets the last message of a turn that was completed. */
import { writeFile } from "node:fs/promises";
import type { Event } from "../../core/event.js";
import { messageOf } from "../../core/errors.js";

export class LastMessage {
  readonly #path: string | undefined;
  #text: string | undefined;

  /** Without a path nothing is kept. */
  constructor(path: string | undefined) {
    this.#path = path;
  }

  /** Sub-agents' words are not the answer. */
  see(event: Event): void {
    if (event.type === "text.done" && event.under === undefined && event.replay !== true) this.is(event.text);
  }

  is(text: string | undefined): void {
    if (this.#path !== undefined && text !== undefined) this.#text = text;
  }

  /** A file that cannot be written is no failure of the turn: its answer is on stdout, too. */
  async write(isCompleted: boolean): Promise<void> {
    if (this.#path === undefined || !isCompleted) return;
    if (this.#text === undefined) process.stderr.write(`parley: there was no last message; ${this.#path} is empty\n`);
    await writeFile(this.#path, this.#text ?? "").catch((error: unknown) => {
      process.stderr.write(`parley: the last message could not be written to ${this.#path ?? ""}: ${messageOf(error)}\n`);
    });
  }
}
