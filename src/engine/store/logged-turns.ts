/** The turns of a session's log: those that stand, with the files that were changed in each and until the next, and those that were undone. */
import { plainText } from "../../core/content.js";
import type { Entry, ReadEntry } from "./entry.js";

export type Change = Extract<Entry, { kind: "change" }>;

export interface LoggedTurn {
  id: string;
  /** When it began, in milliseconds since 1970. */
  at: number;
  prompt: string;
  changes: Change[];
  /** How many entries of the log stand before it. */
  place: number;
}

export interface LoggedTurns {
  turns: LoggedTurn[];
  /** Entries that tell of turns which the conversation has no more: the place of the first, and the place behind the last. */
  undone: { from: number; to: number }[];
}

export function readTurns(entries: Iterable<ReadEntry>): LoggedTurns {
  const turns: LoggedTurn[] = [];
  const undone: LoggedTurns["undone"] = [];
  let place = 0;
  let isPrompt = false;
  for (const entry of entries) {
    if (entry.kind === "event" && entry.event.type === "turn.started") {
      turns.push({ id: entry.event.turn ?? "", at: entry.event.at ?? 0, prompt: "", changes: [], place });
      isPrompt = true;
    }
    const last = turns.at(-1);
    if (entry.kind === "event" && entry.event.type === "user.message" && isPrompt && last !== undefined) {
      last.prompt = plainText(entry.event.parts);
      isPrompt = false;
    }
    if (entry.kind === "change") last?.changes.push(entry);
    if (entry.kind === "rewind" && entry.conversation !== undefined) {
      const from = turns.findLastIndex(({ id }) => id === entry.turn);
      const gone = from === -1 ? [] : turns.splice(from);
      undone.push(...gone.slice(0, 1).map((first) => ({ from: first.place, to: place })));
      // Files may have stayed as those turns left them: a rewind that goes further back takes them along.
      turns.at(-1)?.changes.push(...gone.flatMap(({ changes }) => changes));
    }
    place++;
  }
  return { turns, undone };
}
