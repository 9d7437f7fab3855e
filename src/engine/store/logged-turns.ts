/** The turns in a session's log: those in the conversation, with the files changed in and after each, and the undone ones. */
import { plainText } from "../../core/content.js";
import type { Entry, ReadEntry } from "./entry.js";

export type Change = Extract<Entry, { kind: "change" }>;

export interface LoggedTurn {
  id: string;
  /** The start in milliseconds since 1970. */
  at: number;
  prompt: string;
  changes: Change[];
  /** The number of log entries before it. */
  place: number;
}

export interface LoggedTurns {
  turns: LoggedTurn[];
  /** The ranges of entries that belong to undone turns. */
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
      // Files that undone turns changed may still be changed: a later rewind includes them.
      turns.at(-1)?.changes.push(...gone.flatMap(({ changes }) => changes));
    }
    place++;
  }
  return { turns, undone };
}
