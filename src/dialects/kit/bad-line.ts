/** Tells a host of lines of its agent that cannot be read. */
import type { Event } from "../../core/event.js";
import { echo } from "./issues.js";

/** A line that is no record. */
export function badLine({ bad, line }: { bad: string; line: string }, session?: string): Event {
  return protocolError(`The agent wrote a bad line (${bad}): ${echo(line)}`, session);
}

/** A record that the wire does not have, or not in this form. */
export function protocolError(message: string, session?: string): Event {
  return { type: "error", ...(session !== undefined && { session }), fault: { code: "protocol", message, retryable: false } };
}
