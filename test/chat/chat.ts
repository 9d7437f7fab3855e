/** The chat at a pseudo-terminal: somebody presses keys, and looks at the screen. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFailed } from "vitest";
import { scratch, script, until } from "../process/harness.js";
import { inTerminal, shellLine, type Terminal } from "../process/terminal.js";
import { Screen, type Size } from "./screen.js";

export { CTRL_C, CTRL_D, CTRL_Z, hasTerminal } from "../process/terminal.js";

export const ENTER = "\r";
export const ESC = "\u001b";
/** The terminal says that it is in front. */
export const FOCUS_IN = "\u001b[I";
export const TAB = "\t";
export const SHIFT_TAB = "\u001b[Z";
export const UP = "\u001b[A";
export const DOWN = "\u001b[B";
export const CTRL_J = "\n";
export const ALT_ENTER = "\u001b\r";
export const CTRL_ENTER = "\u001b[13;5u";
export const CTRL_O = "\u000f";
export const CTRL_R = "\u0012";
export const CLEAR_LINE = "\u0015";
/** The bytes that a terminal sends when this is pasted. */
export const pasted = (text: string): string => `\u001b[200~${text}\u001b[201~`;

/** The chat asks the terminal for it as soon as it reads keys; shells do not. */
const REPORTS_FOCUS = "\u001b[?1004h";
const SIZE: Size = { columns: 100, rows: 30 };

export interface ChatOptions {
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
  /** The answers of the model; without them it takes plain orders. */
  responses?: unknown[];
  then?: "stop" | "repeat" | "orders";
  size?: Size;
}

export function chat(options: ChatOptions = {}): Chat {
  return new Chat(shellLine(argumentsOf(options)), options);
}

/** A shell with job control in which the chat is started, by itself or `behind` a program that waits for it as npx does. */
export async function chatInShell(behind: "program" | "nothing", options: ChatOptions = {}): Promise<Chat> {
  const { env = {} } = options;
  const talk = new Chat("bash --norc --noprofile -i", { ...options, env: { PS1: "shell: ", ...env } });
  const exec = behind === "program" ? "" : "exec ";
  const runner = join(scratch({ run: `${exec}${shellLine(argumentsOf(options))}\nexit $?\n` }), "run");
  await talk.shows("shell:");
  talk.write(`sh ${runner}\r`);
  await talk.isReady();
  return talk;
}

function argumentsOf({ args = [], responses, then }: ChatOptions): string[] {
  const model = responses === undefined ? [] : ["--model", script(responses, then)];
  return [...(args.includes("--provider") ? [] : ["--provider", "rehearsal"]), ...model, ...args];
}

export class Chat {
  readonly pty: Terminal;
  readonly screen: Screen;
  readonly #terminalName: string;

  constructor(command: string, { env = {}, cwd = scratch(), size = SIZE }: ChatOptions = {}) {
    this.#terminalName = join(scratch(), "tty");
    const start = `tty > ${this.#terminalName}; stty rows ${size.rows} columns ${size.columns}; exec ${command}`;
    this.pty = inTerminal(start, { LANG: "C.UTF-8", ...env }, cwd);
    this.screen = new Screen(size, (reply) => this.write(reply));
    this.pty.listen((output) => this.screen.draw(output));
    onTestFailed(() => console.error(`On the screen:\n${this.screen.history.slice(-100).join("\n").trim()}`));
  }

  /** Resolves once the chat reads keys as keys. */
  async isReady(times = 1): Promise<void> {
    await until(
      () => this.pty.raw.split(REPORTS_FOCUS).length > times,
      () => "the chat to read keys",
    );
  }

  /** Sends keys at once. */
  write(keys: string): void {
    this.pty.write(keys);
  }

  /** Sends keys, once the chat reads them. */
  async press(...keys: string[]): Promise<void> {
    await this.isReady();
    for (const key of keys) this.write(key);
  }

  /** Writes a line and Enter. */
  async enter(line: string): Promise<void> {
    await this.press(`${line}\r`);
  }

  /** Waits until these are on the screen, one below the other, however their words are wrapped. */
  async shows(...texts: string[]): Promise<void> {
    await until(
      () => inOrder(this.text, texts),
      () => `${JSON.stringify(texts)} on the screen`,
    );
  }

  /** Waits until this is not in sight. */
  async hides(text: string): Promise<void> {
    await until(
      () => !flat(this.screen.rows.join("\n")).includes(flat(text)),
      () => `${JSON.stringify(text)} to leave the window`,
    );
  }

  /** Waits until a row of the screen is so. */
  async showsRow(pattern: RegExp): Promise<void> {
    await until(
      () => this.screen.history.some((row) => pattern.test(row)),
      () => `a row ${String(pattern)}`,
    );
  }

  /** Waits until this is so many times on the screen. */
  async counts(pattern: RegExp, times: number): Promise<void> {
    await until(
      () => [...this.text.matchAll(new RegExp(pattern, "g"))].length === times,
      () => `${String(pattern)} ${times} times`,
    );
  }

  /** All rows, with those that scrolled away. */
  get text(): string {
    return this.screen.history.join("\n").trimEnd();
  }

  /** The terminal gets another size, as when its window is drawn larger. */
  resize(size: Size): void {
    this.screen.resize(size);
    const name = readFileSync(this.#terminalName, "utf8").trim();
    execFileSync("stty", ["-F", name, "rows", String(size.rows), "columns", String(size.columns)]);
  }

  /** Leaves with /quit. */
  async leave(): Promise<void> {
    await this.enter("/quit");
    await this.exits(0);
    expect(this.text).not.toMatch(TROUBLE);
  }

  async exits(code: number): Promise<void> {
    expect(await this.pty.exited).toBe(code);
    await this.screen.drawn();
  }
}

/** The trace of an error, and a script that heard something else than it expects. */
export const TROUBLE = /node:internal|AbortError|\n\s+at \S+ \(|unsettled|rehearsal expectation failed/;

function inOrder(text: string, wanted: readonly string[]): boolean {
  const all = flat(text);
  let at = 0;
  return wanted.every((each) => {
    const found = all.indexOf(flat(each), at);
    at = found + flat(each).length;
    return found !== -1;
  });
}

/** Words wrap anywhere, so that all white space is one space. */
function flat(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** A call of a script. */
export function bash(command: string): { tool: string; args: { command: string } } {
  return { tool: "Bash", args: { command } };
}

/** A call that ends when this file is there. */
export function untilThere(file: string, then = "true"): { tool: string; args: { command: string } } {
  return bash(`until test -e ${file}; do sleep 0.02; done; ${then}`);
}
