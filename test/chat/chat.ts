/** The chat at a pseudo-terminal: somebody writes lines, and looks at what comes. */
import { expect } from "vitest";
import { scratch, script } from "../process/harness.js";
import { terminal, type Terminal } from "../process/terminal.js";

export { CTRL_C, CTRL_D, CTRL_Z, hasTerminal, shellWith } from "../process/terminal.js";

export const TAB = "\t";
export const UP = "\u001b[A";
export const CLEAR_LINE = "\u0015";
/** What a terminal sends when this is pasted. */
export const pasted = (text: string): string => `\u001b[200~${text}\u001b[201~`;

export interface ChatOptions {
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
  /** What the model says; without them it takes plain orders. */
  responses?: unknown[];
  then?: "stop" | "repeat" | "orders";
}

export function chat({ args = [], env = {}, cwd = scratch(), responses, then }: ChatOptions = {}): Chat {
  const model = responses === undefined ? [] : ["--model", script(responses, then)];
  return new Chat(terminal(["--provider", "rehearsal", ...model, ...args], env, cwd));
}

export class Chat {
  readonly pty: Terminal;

  constructor(pty: Terminal) {
    this.pty = pty;
  }

  /** Writes a line at the next prompt. */
  async enter(line: string, prompt = "> "): Promise<void> {
    await this.pty.type(`\n${prompt}`, `${line}\r`);
  }

  /** Keys, once this is shown; without it, at the next prompt. */
  async press(keys: string, after = "\n> "): Promise<void> {
    await this.pty.type(after, keys);
  }

  /** Waits until these are shown, one after the other, below what was waited for before. */
  async shows(...texts: string[]): Promise<void> {
    for (const text of texts) await this.pty.type(text, "");
  }

  /** What is on the screen so far. */
  get seen(): string {
    return this.pty.seen;
  }

  /** Leaves with /quit, at the prompt. */
  async leave(prompt?: string): Promise<void> {
    await this.enter("/quit", prompt);
    expect(await this.pty.exited).toBe(0);
    expect(this.seen).not.toMatch(/node:internal|\n\s+at |unsettled|rehearsal expectation failed/i);
  }
}
