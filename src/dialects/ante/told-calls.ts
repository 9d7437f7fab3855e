/**
 * The calls of a driven daemon's turn. Their ids are those of its model, and some models give several calls the same one: each has a name
 * of its own here, and one answer for an id says no more than all of them were answered.
 */
import type { Call } from "../../core/event.js";

export interface ToldCall {
  call: Call;
  /** Its id on the wire. */
  wireId: string;
  now: "requested" | "started" | "ended";
}

/** By our names. */
export type ToldCalls = Map<string, ToldCall>;

/** Whom a word about an id means: the first of that id that has not ended. */
export function openCall(wireId: string, calls: ToldCalls): ToldCall | undefined {
  const known = calls.get(wireId);
  return known !== undefined && known.now !== "ended" ? known : openCalls(wireId, calls)[0];
}

/** The call that is told of again before it has begun: an id with other arguments, or at a later time, is another call. */
export function sameCall({ id, name, args }: Call, calls: ToldCalls): ToldCall | undefined {
  const said = JSON.stringify([name, args]);
  return openCalls(id, calls).find(({ now, call }) => now === "requested" && JSON.stringify([call.name, call.args]) === said);
}

export function freeName(wireId: string, calls: ToldCalls): string {
  if (!calls.has(wireId)) return wireId;
  for (let nth = 2; ; nth++) if (!calls.has(`${wireId}#${nth}`)) return `${wireId}#${nth}`;
}

/** The first call of an id has it for its name: without one there are none to look for. */
function openCalls(wireId: string, calls: ToldCalls): ToldCall[] {
  if (!calls.has(wireId)) return [];
  return [...calls.values()].filter((told) => told.wireId === wireId && told.now !== "ended");
}

/** From what says least to what says most. */
const DECISIONS = ["Skip", "Accept", "AcceptForSession"];

/** What goes out for each id. */
export function decided(decisions: ReadonlyMap<string, string | undefined>, calls: ToldCalls): Map<string, string> {
  const responses = new Map<string, string>();
  for (const [name, decision = "Skip"] of decisions) {
    const wireId = calls.get(name)?.wireId ?? name;
    const least = Math.min(DECISIONS.indexOf(decision), DECISIONS.indexOf(responses.get(wireId) ?? "AcceptForSession"));
    responses.set(wireId, DECISIONS[least] ?? "Skip");
  }
  return responses;
}
