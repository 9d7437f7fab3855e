/** Describes the exit of a driven agent. */
import type { Closed } from "../../core/event.js";

/** Whether the agent exited by itself and without an error. */
export function isClean({ code, signal, reason }: Closed): boolean {
  return !code && !signal && reason === undefined;
}

export function exitMessage(closed: Closed): string {
  if (closed.reason !== undefined) return closed.reason;
  if (closed.signal) return `The agent was ended by ${closed.signal}`;
  return `The agent is gone (exit code ${closed.code ?? "unknown"})`;
}
