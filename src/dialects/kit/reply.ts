/** Replies and warnings of our side to its own host, for wires without them. */
import type { Fault } from "../../core/errors.js";
import type { Event, EventOf } from "../../core/event.js";
import type { Op } from "../../core/op.js";
import type { Step } from "../dialect.js";

export function reply(op: Op, status: EventOf<"reply">["status"]): EventOf<"reply"> {
  const session = op.session === undefined ? {} : { session: op.session };
  return { type: "reply", to: op.type, status, ...session, ...(op.id !== undefined && { parent: op.id }) };
}

/** The op changes nothing, or is done at once. */
export function replied(op: Op, status: "ok" | "noop"): Step<Event> {
  return { in: [reply(op, status)], out: [] };
}

/** Refuses an op that the agent cannot or must not get. */
export function refused(op: Op, message: string, code = "unsupported"): Step<Event> {
  return { in: [refusal(op, { code, message, retryable: false })], out: [] };
}

export function refusal(op: Op, fault: Fault): Event {
  return { ...reply(op, "error"), fault };
}

/** `source` is the dialect that lacks the word. */
export function warning(text: string, session: string, source: string): Event {
  return { type: "notice", session, level: "warning", text, source };
}
