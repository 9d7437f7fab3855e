/**
 * Decides whether a conversation was left unfinished, by the same rule for a live session and a stored log.
 */
import type { EventOf } from "../../core/event.js";
import type { Message } from "../models/model.js";

/** `answered`: the model's last answer is complete. `cut`: the turn ended before that. Undefined: decide by the conversation alone. */
export type LastTurn = "answered" | "cut" | undefined;

/** `last` is the newest message of the turn. */
export function afterTurn({ outcome }: Pick<EventOf<"turn.ended">, "outcome">, last: Message | undefined): LastTurn {
  return outcome === "completed" && last?.role === "assistant" ? "answered" : "cut";
}

/** After a reset the cut turn may no longer be in the conversation. */
export function afterReset(last: LastTurn): LastTurn {
  return last === "cut" ? undefined : last;
}

/** `prompt`: a user message has no answer. `turn`: the conversation stops in the middle of a turn. */
export function unfinishedIn(messages: readonly Message[], lastTurn: LastTurn): "prompt" | "turn" | undefined {
  const last = messages.at(-1);
  if (last === undefined || lastTurn === "answered") return undefined;
  if (last.role === "user") return "prompt";
  return last.role === "tool" || lastTurn === "cut" ? "turn" : undefined;
}
