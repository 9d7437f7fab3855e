/** The state of our side when we are the daemon. */
import type { SessionConfig } from "../../../core/config.js";
import type { Call, Event, Usage } from "../../../core/event.js";
import type { OpName, ops } from "../wire/records.js";
import type { InferOutput } from "valibot";

/** An operation that was read: its name, what is in it, and its id. */
export type Operation = { [N in OpName]: { name: N; fields: InferOutput<(typeof ops)[N]>; id: string } }[OpName];

/** A session as the client sees it. */
export interface ClientSession {
  handle: string;
  /** The session's name on the wire. */
  id: string;
  /** The session can be resumed once it is closed. */
  isKept: boolean;
  /** The operation that asked for it, and when that was answered. */
  opener: string | undefined;
  begunAt: number | undefined;
  /** The turn whose start was written and whose end was not. */
  turn: string | undefined;
  /** The configuration as the client asked for it, until the agent tells its own. */
  config: SessionConfig;
  /** The policy `Deny`: calls that would be asked about are denied. */
  denies: boolean;
  /** Pieces are told; a driven agent may write them unasked. */
  streams: boolean;
  /** SessionStart and the first ExtensionRefreshed are written. Earlier events wait. */
  isTold: boolean;
  waiting: Event[];
  /** Replayed events that are still to come, and the records that they made, the newest ones. */
  replayLeft: number;
  replayed: unknown[];
  usage: Usage | undefined;
  /** Whether the turn that runs has told what it used. */
  isCounted: boolean;
  /** Calls of the turn that runs, and those of sub-agents that the client was asked about. */
  readonly calls: Map<string, Call>;
  readonly shown: Set<string>;
  /** The next number of each call's updates. */
  readonly updates: Map<string, number>;
  /** Blocks of information that were begun. */
  readonly blocks: Set<string>;
}

/** A session that is asked for and has not answered. */
export interface Opening {
  handle: string;
  op: string;
  resumes: boolean;
  /** The question whether the live session, which is to begin again, can be resumed at all. */
  asks?: string;
  /** The word that ends the live session, which is to begin again behind its end. */
  closes?: string;
  config: SessionConfig;
  /** Events of the session that came before it was ready. */
  early: Event[];
}

/** The agent's side: our events go out, the client's operations come in. */
export interface AgentState {
  /** The folder of sessions that name none. */
  cwd: string | undefined;
  /** The configuration of the command line; an operation's own fields override it. */
  defaults: SessionConfig;
  live: ClientSession | undefined;
  opening: Opening | undefined;
  /** The next session is ready and waits for the end of the live one. */
  next: ClientSession | undefined;
  /** Operations that wait for the outcome of an opening, and how much they are. */
  held: Operation[];
  heldBytes: number;
  /** The operation that ends all of it. */
  leaver: string | undefined;
  /** Goodbye is out: nothing follows. */
  isOver: boolean;
  local: { baseUrl: string; model: string | undefined; config: SessionConfig } | undefined;
}

export function agentState(): AgentState {
  return {
    cwd: undefined,
    defaults: {},
    live: undefined,
    opening: undefined,
    next: undefined,
    held: [],
    heldBytes: 0,
    leaver: undefined,
    isOver: false,
    local: undefined,
  };
}
