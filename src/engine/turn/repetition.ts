/** Notices a model that goes round in circles: the same calls with the same results, again and again. */
import type { CallResult, ModelCall } from "../models/model.js";

/** Equal rounds in a row that end the turn. A model that waits for something repeats itself, too, so the number is high. */
const MOST = 50;

export class Repetition {
  #last = "";
  #count = 0;

  /** Notes a round, and tells whether it was repeated too often. */
  notes(calls: readonly ModelCall[], results: readonly CallResult[]): boolean {
    const round = JSON.stringify([calls.map(({ name, args }) => [name, args]), results.map(({ parts }) => parts)]);
    this.#count = round === this.#last ? this.#count + 1 : 1;
    this.#last = round;
    return this.#count >= MOST;
  }
}
