/** The end of an earlier conversation, shown again when it is resumed. */
import type { Event } from "../../core/event.js";
import type { ChatView } from "./view.js";

const MOST_EVENTS = 40;
const SHOWN_AGAIN: ReadonlySet<Event["type"]> = new Set(["user.message", "text.done", "tool.requested", "tool.started", "tool.ended"]);

export class Recall {
  #events: Event[] = [];
  #left: number;

  /** `count` is the number of replayed events that follow. */
  constructor(count: number) {
    this.#left = count;
  }

  get left(): number {
    return this.#left;
  }

  /** The last event shows the replay. */
  take(event: Event, view: Pick<ChatView, "show" | "say">): void {
    if (SHOWN_AGAIN.has(event.type) && event.under === undefined) this.#events.push(event);
    this.#left--;
    if (this.#left > 0) return;
    if (this.#events.length > MOST_EVENTS) view.say("aside", "…");
    // A whole text of a replay was streamed long ago.
    for (const shown of this.#events.splice(0).slice(-MOST_EVENTS))
      view.show(shown.type === "text.done" ? { ...shown, streamed: undefined } : shown);
  }
}
