/** How a driven agent ended, in words. */
import type { Closed } from "../../core/event.js";

/** The agent left of its own accord, without an error. */
export function isClean({ code, signal, reason }: Closed): boolean {
  return !code && !signal && reason === undefined;
}

export function exitMessage(closed: Closed): string {
  if (closed.reason !== undefined) return closed.reason;
  if (closed.signal) return `The agent was ended by ${closed.signal}`;
  return `The agent is gone (exit code ${closed.code ?? "unknown"})`;
}
