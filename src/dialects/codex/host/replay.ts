/** The past turns of a resumed thread as replayed events. */
import * as v from "valibot";
import type { Event } from "../../../core/event.js";
import { TurnReader } from "../../kit/turn-reader.js";
import { readFault } from "../wire/errors.js";
import { readInput } from "../wire/input.js";
import { items } from "../wire/items.js";
import type { Turn } from "../wire/threads.js";
import { completeItem } from "./read-items.js";

export function replayOf(turns: readonly Turn[], session: string): Event[] {
  return turns.flatMap((turn) => ofTurn(turn, session)).map((event) => ({ ...event, replay: true }));
}

function ofTurn({ id, items: said, status, error, startedAt }: Turn, session: string): Event[] {
  const told = new TurnReader({ session, turn: id });
  const events = (said ?? []).flatMap((item): Event[] => {
    if (!v.is(items.userMessage, item)) return completeItem(item, { told, under: undefined, denied: new Map() });
    const parts = readInput(item.content);
    return typeof parts === "string" ? [] : [{ type: "user.message", ...told.address, parts }];
  });
  const fault = error == null ? undefined : readFault(error);
  const end =
    status === "failed"
      ? told.close({ outcome: "failed", ...(fault !== undefined && { fault, reason: fault.message }) })
      : told.close({ outcome: status === "completed" ? "completed" : "interrupted" });
  const at = startedAt == null ? {} : { at: startedAt * 1000 };
  return [...told.start(), ...events, ...end].map((event) => ({ ...event, ...at }));
}
