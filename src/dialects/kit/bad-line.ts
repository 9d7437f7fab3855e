/** Reports unreadable lines of an agent to its host. */
import type { Event } from "../../core/event.js";
import { echo } from "./issues.js";

/** A line that is not a record. */
export function badLine({ bad, line }: { bad: string; line: string }, session?: string): Event {
  return protocolError(`The agent wrote a bad line (${bad}): ${echo(line)}`, session);
}

/** A record that the wire does not have, or that has another form. */
export function protocolError(message: string, session?: string): Event {
  return { type: "error", ...(session !== undefined && { session }), fault: { code: "protocol", message, retryable: false } };
}
