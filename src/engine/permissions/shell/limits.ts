/**
 * Bounds the cost of analysing one command. A command beyond these limits counts as one that cannot be parsed. Work is counted in characters
 * read or listed, so that it is the same on every machine, and memory is bounded with it.
 */
import { Unreadable } from "./words.js";

export const MAX_COMMANDS = 1000;
export const MAX_DEPTH = 16;
export const MAX_STEPS = 1_000_000;
/** The most syntax errors to look for: each costs a walk through a broken tree. */
export const MAX_DOUBTS = 50;

/** The limit holds everywhere, also for text that may be no command. */
export class LimitReached extends Unreadable {}

export class Work {
  #steps = 0;

  get steps(): number {
    return this.#steps;
  }

  /** Throws once the steps are used up. */
  spend(steps: number): void {
    this.#steps = Math.min(this.#steps + steps, MAX_STEPS + 1);
    if (this.exhausted) throw new LimitReached("it takes too much work to read");
  }

  get exhausted(): boolean {
    return this.#steps > MAX_STEPS;
  }
}

/** An opener whose closer is far away or missing makes the parser read all following text again. */
export function parsingSteps(text: string): number {
  return text.length + Math.ceil((text.length * rescans(text)) / 8);
}

function rescans(text: string): number {
  let found = 0;
  for (let at = 0; at < text.length; at++) {
    const opener = text.charAt(at);
    const before = text.charAt(at - 1);
    if (opener === "{") found += before === "$" ? 1 : 1 / 8;
    else if (opener === "[" && before === "$") found += 8;
    else if (opener === "<" && before === "<") found += 1 / 4;
    else if (opener === "(") found += before === "(" ? 2 : "$<>".includes(before) && before !== "" ? 1 : 0;
  }
  return found;
}
