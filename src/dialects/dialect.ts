/** A dialect: a pure, synchronous codec between a wire's records and our ops and events, for both ends of the wire. */
import type { GenericSchema } from "valibot";
import type { Closed, Event, EventType } from "../core/event.js";
import type { Op, OpOf, OpType } from "../core/op.js";
import type { Frame, Launch } from "../core/wire.js";

/**
 * Output of a side: a record for the wire, or an action on the process behind it. `end` closes the input of the process, whose output is
 * still read. `exit` ends our own process with that code. `reason` and `log` are for people; the wire has no place for them.
 */
export type Out =
  | { rec: unknown }
  | { launch: Launch }
  | { end: true }
  | { kill: true }
  | { exit: number; reason?: string }
  | { log: string };

/** `in` holds ops or events for our side of the connection, `out` the output for the other side. */
export interface Step<In> {
  in: In[];
  out: Out[];
  /** At the end of input, or at the host's word for the end: the side still holds something back, and says `shutdown` itself after it. */
  waits?: true;
}

/**
 * One end of one connection (of one session, where the lifetime is session or turn; it outlives its transports). `read` returns the answers
 * that the wire itself gives; `write` returns in `in` the events that the wire does not say. `end` comes once a transport. Readers repair,
 * writers trust.
 */
export interface Side<In, Written> {
  read(frame: Frame): Step<In>;
  write(written: Written): Step<In>;
  end(closed: Closed): Step<In>;
  /** Called at the interval of the heartbeat, to send a sign of life. */
  beat?(): Step<In>;
  /** Called when the other side has said nothing for `quietSeconds` since its launch. */
  quiet?(): Step<In>;
}

/** The only clock, the only source of ids and the only folder that a side has. */
export interface SideEnv {
  stamp(): { id: string; at: number };
  /** The folder of our own process, for a wire that wants a folder where the host names none. */
  cwd?(): string;
  /** Gets each breach of the grammar in our own words, before the side repairs it. */
  breach?(words: string): void;
}

/** `only` lists the covered keys, kinds, grants or forms; each dialect's coverage.ts says which of them. */
export type Covers = "exact" | "none" | { only: readonly string[] };

/** A wire protocol, both sides: schemas, framing, coverage, and how its programs are started. */
export interface Dialect {
  readonly id: string;
  readonly version: string;
  /** The form of records on a byte stream. */
  readonly framing: "json" | "text";
  /** The schemas of every record, by direction. */
  readonly wire: { readonly op: GenericSchema; readonly event: GenericSchema };
  /** The lifetime of one transport. */
  readonly lifetime: "connection" | "session" | "turn";
  /** The command line opens a session even where a transport may have several. */
  readonly launches?: true;
  /**
   * The arguments of an agent that serves a whole connection: it is started when the first session is opened, in that session's folder.
   * Where a process is a session, the side itself makes the launch.
   */
  readonly start?: readonly string[];
  /** The words by which well-known programs speak this wire, by the program's name: a command that is the name alone gets them. */
  readonly wordsOf?: Readonly<Record<string, readonly string[]>>;
  /** The wire holds one turn at a time: the link queues prompts. */
  readonly oneTurn?: true;
  /**
   * While a turn runs, the link asks every `every` seconds whether the agent is alive, and ends an agent that is silent for `within`
   * seconds.
   */
  readonly heartbeat?: { readonly every: number; readonly within: number };
  /**
   * Ops that agents of this wire answer at once, whatever else they do, and the seconds for it; the link refuses an op that gets no answer
   * in time.
   */
  readonly replies?: { readonly to: readonly (OpType | "turn.prompt continues")[]; readonly within: number };
  /** Seconds from the launch within which an agent says something; then the link calls `quiet`. */
  readonly quietSeconds?: number;
  /** Seconds that an approval or a host request waits, unless the user says otherwise. */
  readonly answerSeconds?: number;
  /** Tools that run unasked, unless the user says otherwise; undefined leaves it to the engine. */
  readonly unasked?: readonly string[];
  /** The tools whose changed arguments agents of this wire use, although `approval.answer` does not cover `args`. */
  readonly heedsArgsOf?: readonly string[];
  /**
   * The beginning of a line with which an agent asks its host and waits: where such a line is too long to read, the link stops the turn.
   */
  readonly question?: RegExp;
  /** A host of this wire takes `ready` as the sign that the tools of MCP servers are there: the first turn waits for them. */
  readonly awaitsServers?: true;
  /** The revision that our own environment tells, for wires whose hosts tell it there. */
  readonly startedIn?: (env: Readonly<Record<string, string | undefined>>) => Dialect;
  /** The revision of a driven agent: the name that the user chose, else this dialect's default. */
  readonly driven?: (revision?: string) => Dialect;
  /** The name of the person who sent a prompt, where the wire tells it. */
  readonly personOf?: (op: OpOf<"turn.prompt">) => string | undefined;
  agentSide(env: SideEnv): Side<Op, Event>;
  hostSide(env: SideEnv): Side<Event, Op>;
  readonly coverage: Coverage;
}

export type Coverage = Readonly<Record<OpType | EventType, Covers>>;
