/** Answers to ops that a driven agent does not hear or cannot be told. */
import type { Fault } from "../../core/errors.js";
import type { Event } from "../../core/event.js";
import type { Op } from "../../core/op.js";

/** Ops that waited for the agent to be ready, which wait no more. */
export function refuseHeld(held: Op[], fault: Fault | undefined, session?: string): Event[] {
  return held.splice(0).map((op) => refused(op.type, session ?? op.session, op.id, fault));
}

export function refused(to: string, session: string | undefined, parent: string | undefined, fault: Fault | undefined): Event {
  const address = { ...(session !== undefined && { session }), ...(parent !== undefined && { parent }) };
  return { type: "reply", to, status: "error", ...address, ...(fault !== undefined && { fault }) };
}
