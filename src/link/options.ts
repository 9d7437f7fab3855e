/** Options of a connection to an agent: how it is reached, and how long it may keep us waiting. */
import type { Launch, Transport } from "../core/wire.js";
import type { Rhythm } from "./heartbeat.js";

export type Dial = (launch: Launch) => Promise<Transport> | Transport;

export interface ConnectOptions {
  /** Seconds until an approval that nobody answers is denied. */
  answerSeconds?: number;
  /** Seconds until an agent that is started for a session must be ready; then it is ended. */
  readySeconds?: number;
  /** Seconds until the turn of an agent that was told to stop must have ended, where its process is a session; then it is ended. */
  stopSeconds?: number;
  /** Seconds until an agent whose process is a turn must have left, once its output has ended; then it is ended. */
  exitSeconds?: number;
  /** In place of the dialect's own: seconds within which an agent is expected to say something. */
  quietSeconds?: number;
  /** In place of the dialect's own: how often an agent at work is asked whether it is there, and how long it may say nothing, in seconds. */
  heartbeat?: Rhythm;
  /** In place of the dialect's own: seconds until what the agent must answer at once, and does not, is refused. */
  replySeconds?: number;
  /** An agent that served the whole connection and is gone is started again by the next `session.open`, instead of ending it all. */
  redials?: boolean;
  /** Appends every message of the wire, and the ops and events that it means, to this file, redacted. */
  tape?: string;
  /** Hears each breach of the grammar by an agent of the native wire. Its events come in order all the same. */
  onBreach?(words: string): void;
}
