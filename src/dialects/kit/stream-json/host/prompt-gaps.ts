/** Warnings about parts of a prompt that these wires cannot carry. */
import type { Event } from "../../../../core/event.js";
import type { OpOf } from "../../../../core/op.js";
import { warning } from "../../reply.js";

/** `agent` is the program's name for people, and `source` its dialect. */
export function promptWarnings(
  { overrides, calls }: OpOf<"turn.prompt">,
  { agent, source, session }: { agent: string; source: string; session: string },
): Event[] {
  const lost = [...(overrides === undefined ? [] : ["overrides"]), ...(calls === undefined ? [] : ["calls in the model's place"])];
  return lost.length === 0 ? [] : [warning(`${agent} cannot be told ${lost.join(", ")} with a prompt`, session, source)];
}
