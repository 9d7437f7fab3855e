/** Answers that are no end: cut off at the limit of their length, empty, or paused by the vendor. The model is asked to go on. */
import { textPart } from "../../core/content.js";
import { mayAsk } from "./cost-limit.js";
import type { Response } from "./response.js";
import type { Turn } from "./turn.js";

/** Times in one turn that a model is asked to go on behind the limit of an answer. */
const MOST_CUT = 3;
/** Empty answers in a row that are asked for again. */
const MOST_EMPTY = 1;
/** Pauses of one answer that the vendor wants to be asked on after. */
const MOST_PAUSES = 20;

const GO_ON = "Your answer was cut off at the limit of its length. Go on exactly where it stopped, and repeat nothing.";
const THINK_LESS = "Your answer was cut off at the limit of its length before you said anything. Think less, and go on.";
const SAY_SOMETHING = "Your last answer was empty. Go on with the task; if it is done, say so in a few words.";

/** `finish` is how the turn ends when the model is asked no more. */
export type Unfinished = "length" | "empty" | "pause";

export class Continuation {
  #cut = 0;
  #empty = 0;
  #pauses = 0;

  /** Whether the model is to be asked again; what it is told then stands in the history. A response that is an end is none of these. */
  async goesOn(turn: Turn, response: Response): Promise<boolean> {
    const why = unfinished(response);
    if (why !== "empty") this.#empty = 0;
    if (why === undefined) return false;
    const { count, most, words, text } = this.#step(why, response);
    if (count > most || !mayAsk(turn)) {
      await turn.emit({ type: "notice", level: "warning", kind: why, text: `${text} It stays unfinished`, data: { asked: count - 1 } });
      return false;
    }
    await turn.emit({ type: "notice", level: "info", kind: why, text: `${text} The model is asked to go on (${count}/${most})` });
    if (words !== undefined) turn.history.push({ role: "user", parts: [textPart(words)] });
    return true;
  }

  #step(why: Unfinished, response: Response): { count: number; most: number; words?: string; text: string } {
    switch (why) {
      case "length": {
        const words = hasText(response) ? GO_ON : THINK_LESS;
        return { count: ++this.#cut, most: MOST_CUT, words, text: "The answer was cut off at the limit of its length." };
      }
      case "empty":
        return { count: ++this.#empty, most: MOST_EMPTY, words: SAY_SOMETHING, text: "The model's answer was empty." };
      case "pause":
        return { count: ++this.#pauses, most: MOST_PAUSES, text: "The vendor paused the answer." };
      default:
        throw new TypeError(why satisfies never);
    }
  }
}

/** Undefined for an answer that is an end, or that calls tools. */
export function unfinished(response: Response): Unfinished | undefined {
  const { finish, calls } = response;
  if (calls.length > 0) return undefined;
  if (finish === "length" || finish === "pause") return finish;
  return (finish === "stop" || finish === "tool_calls" || finish === "other") && !hasText(response) ? "empty" : undefined;
}

function hasText({ blocks }: Response): boolean {
  return blocks.some((block) => block.type === "text" && block.text.trim() !== "");
}
