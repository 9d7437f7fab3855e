/** A dialect is a pure, synchronous codec between a wire's records and our ops and events, for both ends of the wire. */
import type { GenericSchema } from "valibot";
import type { Closed, Event, EventType } from "../core/event.js";
import type { Op, OpOf, OpType } from "../core/op.js";
import type { Frame, Launch } from "../core/wire.js";

/**
 * The output of a side: a record for the wire, or an act on the process behind it. `end` closes the input of the process, which is read on.
 * `exit` leaves with that code. `reason` and `log` are words for people: the wire has no place for them.
 */
export type Out =
  | { rec: unknown }
  | { launch: Launch }
  | { end: true }
  | { kill: true }
  | { exit: number; reason?: string }
  | { log: string };

/** The result of one call of a side. `in`: ops or events for our side of the connection. `out`: records and acts for the other side. */
export interface Step<In> {
  in: In[];
  out: Out[];
  /** Set by an end of input, or by the host's word for the end, while something is held back: the side itself says `shutdown` behind it. */
  waits?: true;
}

/**
 * A side is one end of one connection (of one session, where the lifetime is session or turn; the side outlives its transports). `read`
 * answers by itself what the wire answers by itself; `write` tells through `in` what the wire does not say. `end` comes once a transport.
 * Readers repair, writers trust.
 */
export interface Side<In, Written> {
  read(frame: Frame): Step<In>;
  write(written: Written): Step<In>;
  end(closed: Closed): Step<In>;
  /** Called at the interval that was asked for: a sign of life. */
  beat?(): Step<In>;
  /** Called when the other side has said nothing since its launch, for as long as the dialect says. */
  quiet?(): Step<In>;
}

/** The only clock and the only source of ids that a side has. */
export interface SideEnv {
  stamp(): { id: string; at: number };
  /** Hears each breach of the grammar that the other side commits in our own words, before it is put in order. */
  breach?(words: string): void;
}

/** `only`: these keys, kinds, grants or forms of it; each dialect's coverage.ts says which. */
export type Covers = "exact" | "none" | { only: readonly string[] };

export interface Dialect {
  readonly id: string;
  readonly version: string;
  /** How records lie on a byte stream. */
  readonly framing: "json" | "text";
  /** The schemas of every record, by direction. */
  readonly wire: { readonly op: GenericSchema; readonly event: GenericSchema };
  /** The lifetime of one transport. */
  readonly lifetime: "connection" | "session" | "turn";
  /** The command line opens a session even where a transport may have several. */
  readonly launches?: true;
  /**
   * The arguments with which an agent of this wire is started, where one serves a whole connection: then it is started when the first
   * session is opened, in that session's folder. Where a process is a session, its side says how it is launched.
   */
  readonly start?: readonly string[];
  /** The wire holds one turn at a time: the link queues prompts. */
  readonly oneTurn?: true;
  /** While a turn runs the link asks so often, in seconds, whether the agent is still there, and ends one that says nothing for so long. */
  readonly heartbeat?: { readonly every: number; readonly within: number };
  /**
   * The ops that agents of this wire answer at once, whatever else they do, and the seconds within which they do; the link refuses ops that
   * stay unanswered.
   */
  readonly replies?: { readonly to: readonly (OpType | "turn.prompt continues")[]; readonly within: number };
  /** Seconds from its launch within which an agent is expected to say something; then its side hears that it did not. */
  readonly quietSeconds?: number;
  /** Seconds that an approval or a host request waits where the user says nothing. */
  readonly answerSeconds?: number;
  /** Tools that run unasked where the user says nothing; undefined is the engine's own choice. */
  readonly unasked?: readonly string[];
  /** The tools whose changed arguments agents of this wire heed, although `approval.answer` does not cover `args`. */
  readonly heedsArgsOf?: readonly string[];
  /** How a line begins with which an agent asks its host, and waits: told of one that was too long to be read, the link stops the turn. */
  readonly question?: RegExp;
  /** A ready agent's MCP servers are connected: the first turn waits for them. */
  readonly awaitsServers?: true;
  /** The revision that our own environment tells, where the host of this wire tells it there. */
  readonly startedIn?: (env: Readonly<Record<string, string | undefined>>) => Dialect;
  /** The revision that a driven agent speaks: the name that the user chose, else the default of this one. */
  readonly driven?: (revision?: string) => Dialect;
  /** The name of the person who sent a prompt, where the wire tells it. */
  readonly personOf?: (op: OpOf<"turn.prompt">) => string | undefined;
  agentSide(env: SideEnv): Side<Op, Event>;
  hostSide(env: SideEnv): Side<Event, Op>;
  readonly coverage: Coverage;
}

export type Coverage = Readonly<Record<OpType | EventType, Covers>>;
