/** Tells a host of a line of its agent that is no record. */
import type { Event } from "../../core/event.js";
import { echo } from "./issues.js";

export function badLine({ bad, line }: { bad: string; line: string }, session?: string): Event {
  const message = `The agent wrote a bad line (${bad}): ${echo(line)}`;
  return { type: "error", ...(session !== undefined && { session }), fault: { code: "protocol", message, retryable: false } };
}
