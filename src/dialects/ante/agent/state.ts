/** The state of the agent's side. */
import type { SessionConfig } from "../../../core/config.js";
import type { Call, Event, Usage } from "../../../core/event.js";
import type { OpName, ops } from "../wire/records.js";
import type { InferOutput } from "valibot";

/** An operation that was read: its name, its fields and its id. */
export type Operation = { [N in OpName]: { name: N; fields: InferOutput<(typeof ops)[N]>; id: string } }[OpName];

/** A session as the client sees it. */
export interface ClientSession {
  handle: string;
  /** The session's id on the wire. */
  id: string;
  /** The session can be resumed once it is closed. */
  isKept: boolean;
  /** The operation that opened it, and the time of its answer. */
  opener: string | undefined;
  begunAt: number | undefined;
  /** The turn whose start was written and whose end was not. */
  turn: string | undefined;
  /** The config that the client asked for, until the agent reports its own. */
  config: SessionConfig;
  /** The policy `Deny`: calls that need an approval are denied. */
  denies: boolean;
  /** The client wants deltas; a driven agent may send them in any case. */
  streams: boolean;
  /** SessionStart and the first ExtensionRefreshed are written. Earlier events wait. */
  isTold: boolean;
  waiting: Event[];
  /** The number of replayed events still to come, and the newest records made of them. */
  replayLeft: number;
  replayed: unknown[];
  usage: Usage | undefined;
  /** Whether the usage of the running turn has been told. */
  isCounted: boolean;
  /** Calls of the running turn, and those of sub-agents that the client was asked about. */
  readonly calls: Map<string, Call>;
  readonly shown: Set<string>;
  /** The next number of each call's updates. */
  readonly updates: Map<string, number>;
  /** Blocks of information that have begun. */
  readonly blocks: Set<string>;
}

/** A session whose opening is not answered. */
export interface Opening {
  handle: string;
  op: string;
  resumes: boolean;
  /** The request whether the live session can be resumed at all. */
  asks?: string;
  /** The op that ends the live session before it is resumed. */
  closes?: string;
  config: SessionConfig;
  /** Events of the session before it was ready. */
  early: Event[];
}

/** The state of the agent's side: the client, the live session, and held operations. */
export interface AgentState {
  /** The folder of sessions that name none. */
  cwd: string | undefined;
  /** The configuration of the command line; an operation's own fields override it. */
  defaults: SessionConfig;
  live: ClientSession | undefined;
  opening: Opening | undefined;
  /** The next session, which is ready and waits for the end of the live one. */
  next: ClientSession | undefined;
  /** Operations that wait for the outcome of an opening, and their size. */
  held: Operation[];
  heldBytes: number;
  /** The operation that ends the connection. */
  leaver: string | undefined;
  /** Goodbye is written, and no record follows. */
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
