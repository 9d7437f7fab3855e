/** Reminds the model of a todo list that has open items and was not changed for long. */
import type { TodoItem } from "../../core/content.js";
import type { CallResult } from "../models/model.js";

/** Answers of the model without a change of the list. */
const STALE_AFTER = 10;
/** Characters of the list that are shown. */
const SHOWN_CHARS = 2000;

export class StaleTodos {
  #open: readonly TodoItem[];
  #answers = 0;

  constructor(items: readonly TodoItem[]) {
    this.#open = openOf(items);
  }

  /** Notes the results of one answer's calls. Words for the model where the list is stale; then it is quiet for as long again. */
  notes(results: readonly CallResult[]): string | undefined {
    const list = results.flatMap(({ parts }) => parts).findLast((part) => part.type === "todo");
    if (list !== undefined) {
      this.#open = openOf(list.items);
      this.#answers = 0;
      return undefined;
    }
    if (this.#open.length === 0 || ++this.#answers < STALE_AFTER) return undefined;
    this.#answers = 0;
    const items = this.#open.map(({ text, status }) => `- ${text} (${status === "in_progress" ? "in progress" : "pending"})`);
    const shown = items.join("\n").slice(0, SHOWN_CHARS);
    return `Note: the todo list was not changed for ${STALE_AFTER} steps. Bring it up to date with TodoWrite, or clear it if it no longer fits. Open items:\n${shown}`;
  }
}

function openOf(items: readonly TodoItem[]): TodoItem[] {
  return items.filter(({ status }) => status !== "completed");
}
