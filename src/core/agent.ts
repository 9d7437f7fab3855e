/** The one port: an Agent takes ops and emits events. Our engine is one, and so is a remote agent behind any dialect. */
import type { Event } from "./event.js";
import type { Op } from "./op.js";

/**
 * Anything that takes ops and tells events: our engine, or a driven agent behind any dialect. `events` has one reader; an event that
 * nobody reads holds the agent back.
 */
export interface Agent {
  /** Resolves when the op is accepted, not when it is finished; a `reply` reports an error. */
  send(op: Op): Promise<void>;
  /** A bounded queue with one reader: unread events make the producer wait. Ends after `closed`. */
  readonly events: AsyncIterable<Event>;
  /** Interrupts all work, ends every process, and resolves after `closed`. Safe to call twice. */
  close(): Promise<void>;
}
