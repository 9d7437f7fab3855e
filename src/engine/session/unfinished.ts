/**
 * Decides whether a conversation was left unfinished. A live session and a log that is read back use the same rule.
 */
import type { EventOf } from "../../core/event.js";
import type { Message } from "../models/model.js";

/** `answered`: the model had its last word. `cut`: something ended the turn before that. Undefined: the conversation alone tells. */
export type LastTurn = "answered" | "cut" | undefined;

/** `last` is the newest message that the turn brought. */
export function afterTurn({ outcome }: Pick<EventOf<"turn.ended">, "outcome">, last: Message | undefined): LastTurn {
  return outcome === "completed" && last?.role === "assistant" ? "answered" : "cut";
}

/** After a reset the turn that was cut off may no longer be in the conversation. */
export function afterReset(last: LastTurn): LastTurn {
  return last === "cut" ? undefined : last;
}

/** `prompt`: a user message waits for its answer. `turn`: it stops in the middle of one. */
export function unfinishedIn(messages: readonly Message[], lastTurn: LastTurn): "prompt" | "turn" | undefined {
  const last = messages.at(-1);
  if (last === undefined || lastTurn === "answered") return undefined;
  if (last.role === "user") return "prompt";
  return last.role === "tool" || lastTurn === "cut" ? "turn" : undefined;
}
