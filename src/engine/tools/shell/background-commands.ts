/**
 * The commands of one agent that run in the background: started there, or past their time. Each keeps its output for the next BashOutput,
 * and its end is told to the model once.
 */
import type { Redactor } from "../../../core/secrets/redact.js";
import { OutputBuffer } from "../../workspace/output.js";
import type { Running } from "../../workspace/workspace.js";
import type { OutputFile } from "./output-files.js";
import { oneLine } from "../title.js";

const SHOWN_CHARS = 80;
/** The number of ended commands that are kept for an agent; the oldest are forgotten first. */
const MAX_ENDED = 64;

export interface CommandParts {
  command: string;
  running: Running;
  file: OutputFile;
  /** The most characters of one answer. */
  outputChars: number;
  redactor: Redactor;
}

export class BackgroundCommand {
  readonly id: string;
  readonly title: string;
  readonly file: string;
  /** Settles when the command has ended and its last output has arrived. */
  readonly ended: Promise<void>;
  readonly #running: Running;
  readonly #file: OutputFile;
  readonly #outputChars: number;
  readonly #redactor: Redactor;
  readonly #waiting = new Set<() => void>();
  #unread: OutputBuffer;
  #exit: string | undefined;

  constructor(id: string, { command, running, file, outputChars, redactor }: CommandParts) {
    this.id = id;
    this.title = oneLine(redactor.text(command), SHOWN_CHARS);
    this.file = file.open();
    this.#running = running;
    this.#file = file;
    this.#outputChars = outputChars;
    this.#redactor = redactor;
    this.#unread = new OutputBuffer(outputChars);
    this.ended = running.exited.then(({ code, signal }) => {
      this.#exit = signal === null ? `exit code ${code ?? "unknown"}` : `killed by ${signal}`;
      this.#wake();
    });
  }

  /** "exit code 0"; undefined while the command runs. */
  get exit(): string | undefined {
    return this.#exit;
  }

  /** Takes redacted output. */
  push(text: string): void {
    if (text === "") return;
    this.#file.push(text);
    this.#unread.push(text);
    this.#wake();
  }

  /** The output since the last call. */
  take(): string {
    const text = this.#unread.text();
    this.#unread = new OutputBuffer(this.#outputChars);
    return this.#redactor.text(text);
  }

  get hasOutput(): boolean {
    return this.#unread.length > 0;
  }

  /** Returns false if the command takes no input. */
  write(text: string): boolean {
    return this.#running.write?.(text) ?? false;
  }

  async end(graceMs: number): Promise<void> {
    await this.#running.end(graceMs);
    await this.ended;
  }

  /** Stops writing to the file. */
  close(): void {
    this.#file.close();
  }

  /** Resolves with the next output or the end. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
    });
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

export class BackgroundCommands {
  readonly #commands = new Map<string, BackgroundCommand>();
  readonly #untold = new Set<BackgroundCommand>();
  readonly #ids: { last: number };

  /** Agents of one session share `ids`. */
  constructor(ids: { last: number } = { last: 0 }) {
    this.#ids = ids;
  }

  /** Makes the commands of a sub-agent. */
  below(): BackgroundCommands {
    return new BackgroundCommands(this.#ids);
  }

  add(parts: CommandParts): BackgroundCommand {
    const command = new BackgroundCommand(`bash_${++this.#ids.last}`, parts);
    this.#take(command);
    return command;
  }

  get(id: string): BackgroundCommand | undefined {
    return this.#commands.get(id);
  }

  all(): readonly BackgroundCommand[] {
    return [...this.#commands.values()];
  }

  /** The model has been told the end of the command. */
  told(command: BackgroundCommand): void {
    if (command.exit !== undefined) this.#untold.delete(command);
  }

  /** A sentence about each command that ended since the last call. */
  endings(): string[] {
    const ended = [...this.#untold].filter(({ exit }) => exit !== undefined);
    for (const command of ended) this.#untold.delete(command);
    return ended.map(
      ({ id, title, exit, file }) =>
        `The background command ${id} (${title}) has ended: ${exit}. Its output is in ${file}; BashOutput reads it.`,
    );
  }

  /** Takes over the commands of a sub-agent that has ended. */
  handTo(parent: BackgroundCommands): void {
    for (const command of this.#commands.values()) if (command.exit === undefined) parent.#take(command);
    this.#commands.clear();
    this.#untold.clear();
  }

  #take(command: BackgroundCommand): void {
    this.#commands.set(command.id, command);
    this.#untold.add(command);
    const ended = this.all().filter(({ exit }) => exit !== undefined);
    for (const old of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) {
      this.#commands.delete(old.id);
      this.#untold.delete(old);
    }
  }
}
