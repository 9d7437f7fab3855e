/** The one port: anything you can send ops to and read events from, our engine or a remote agent behind any dialect. */
import type { Event } from "./event.js";
import type { Op } from "./op.js";

/**
 * Anything that takes ops and tells events: our engine, or a driven agent behind any dialect. `events` has one reader; an event that
 * nobody reads holds the agent back.
 */
export interface Agent {
  /** Resolves when the op is accepted, never when it is finished; what is wrong with it comes back as a `reply`. */
  send(op: Op): Promise<void>;
  /** A bounded queue with one reader: an unread event holds the producer back. Ends after `closed`. */
  readonly events: AsyncIterable<Event>;
  /** Interrupts what runs, ends every process, and resolves when `closed` is out. Safe to call twice. */
  close(): Promise<void>;
}
