/** Options of a connection to an agent: its environment and its time limits. */
import type { Launch, Transport } from "../core/wire.js";
import type { Rhythm } from "./heartbeat.js";

/**
 * Makes the transport to an agent: once a connection, a session or a turn, as the dialect wants it. `launch` is what the dialect adds to
 * the agent's command line.
 */
export type Dial = (launch: Launch) => Promise<Transport> | Transport;

/** Limits and listeners of a connection to a driven agent. */
export interface ConnectOptions {
  /** Seconds until an approval without an answer is denied. */
  answerSeconds?: number;
  /** Seconds until an agent that is started for a session must be ready; then it is ended. */
  readySeconds?: number;
  /** Seconds until the interrupted turn of an agent with a process for each session must have ended; then the agent is ended. */
  stopSeconds?: number;
  /** Seconds until an agent with a process for each turn must have exited after its output ended; then it is ended. */
  exitSeconds?: number;
  /** Replaces the dialect's own value: seconds within which an agent says something after its launch. */
  quietSeconds?: number;
  /** Replaces the dialect's own value: the interval of heartbeats and the longest silence of an agent at work, in seconds. */
  heartbeat?: Rhythm;
  /** Replaces the dialect's own value: seconds until an op that the agent must answer at once is refused. */
  replySeconds?: number;
  /** Starts an agent for the whole connection again at the next `session.open` after its exit, instead of ending the connection. */
  redials?: boolean;
  /** Appends every message of the wire, and its ops and events, to this file, redacted. */
  tape?: string;
  /** Called with each breach of the grammar by the agent, where its wire says events as they are. The emitted events are repaired. */
  onBreach?(words: string): void;
}
