/**
 * What we call the calls of a driven agent. Their ids are those of its model, and some models give each call the same one: a question
 * about a call that has ended is about another call, and its agent waits for an answer.
 */
import type { Out } from "../dialect.js";
import { stringField } from "../kit/issues.js";
import type { HostState } from "./state.js";
import { isOfPastTurn } from "./unheard.js";

/** What the agent says, with our name of the call. */
export function withOurName(rec: unknown, state: HostState): unknown {
  const id = stringField(rec, "call_id");
  if (id === undefined) return rec;
  const name = state.names.get(id) ?? id;
  if (stringField(rec, "type") === "tool_request" && state.calls.get(name) === "ended" && !isOfPastTurn(rec, state))
    state.names.set(id, freeName(id, state));
  return renamed(rec, state.names.get(id));
}

/** What we say, with the agent's. */
export function withItsNames(outs: readonly Out[], { names }: HostState): Out[] {
  const ids = new Map([...names].map(([id, name]) => [name, id]));
  return outs.map((out) => ("rec" in out ? { rec: renamed(out.rec, ids.get(stringField(out.rec, "call_id") ?? "")) } : out));
}

function freeName(id: string, { calls }: HostState): string {
  for (let nth = 2; ; nth++) if (!calls.has(`${id}#${nth}`)) return `${id}#${nth}`;
}

function renamed(rec: unknown, call_id: string | undefined): unknown {
  return call_id === undefined || typeof rec !== "object" ? rec : { ...rec, call_id };
}
