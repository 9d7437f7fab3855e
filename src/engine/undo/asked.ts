/** Parses the turn to undo and the extent of the undo. */
import { ParleyError } from "../../core/errors.js";
import type { OpOf } from "../../core/op.js";
import type { LoggedTurn } from "../store/logged-turns.js";

export interface Asked {
  turn: string;
  files: boolean;
  conversation: boolean;
  force: boolean;
  /** Nothing is undone: only told what would be. */
  preview?: boolean;
}

/** Both files and conversation, unless one of them is named. */
export function askedBy({ turn, files, conversation, force, preview }: Omit<OpOf<"session.rewind">, "type">): Asked {
  const extent = { files: files ?? conversation !== true, conversation: conversation ?? files !== true };
  return { turn, ...extent, force: force === true, preview: preview === true };
}

/** The id of a turn: given by its id, or counted from the last one, which is 1 or -1. */
export function chosenTurn(turns: readonly LoggedTurn[], wanted: string): string {
  if (turns.some(({ id }) => id === wanted)) return wanted;
  const count = /^-?[1-9]\d*$/.test(wanted) ? Math.abs(Number(wanted)) : undefined;
  const turn = count === undefined ? undefined : turns.at(-count);
  if (turn !== undefined) return turn.id;
  const there = turns.length === 0 ? "there is none that could be taken back" : `there are ${turns.length} that can be taken back`;
  throw new ParleyError({ code: "usage", message: `There is no turn '${wanted}'; ${there}`, retryable: false, param: "turn" });
}
