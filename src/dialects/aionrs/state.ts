/** What each side of a connection remembers. */
import type { McpServer, SessionConfig } from "../../core/config.js";
import type { Fault } from "../../core/errors.js";
import type { Call, Event, ListedMcpServer } from "../../core/event.js";
import type { Op, OpOf } from "../../core/op.js";
import type { Out } from "../dialect.js";
import type { OpenWork } from "../kit/open-work.js";
import type { Revision } from "./revision.js";
import type { CommandOf } from "./wire.js";

/** A change that the host asked for and has not heard of. */
export type Change = { mode: string } | { config: CommandOf<"set_config">; waits: boolean } | { server: string };

/** The agent's side: our events go out, the host's commands come in. */
export interface AgentState {
  readonly revision: Revision;
  session: string;
  /** `ready` is out: what fails from then on is no reason to leave. */
  ready: boolean;
  /** What was to be told before that, and what was answered. */
  readonly early: Event[];
  readonly earlyLines: Out[];
  /** We leave, and have said why: that was the last word. */
  left: boolean;
  /** The host's name of each turn that has not ended, in the order of asking; two may carry the same name. */
  readonly messages: Map<string, string>;
  readonly calls: Map<string, Call>;
  /** Calls that the host has heard of. */
  readonly announced: Set<string>;
  /** What the agent said of itself last. */
  config: SessionConfig;
  capabilities: Readonly<Record<string, unknown>>;
  /** Capabilities that are switched on. */
  readonly switched: Set<string>;
  /** A message streams. */
  streaming: boolean;
  /** Lines that come behind its end. */
  readonly afterStream: Out[];
  /** By the op that carries it. */
  readonly changes: Map<string, Change>;
  /** There was a message: no server can be added any more. */
  prompted: boolean;
  /** Servers that the host added, and what it heard of each. */
  readonly servers: Record<string, McpServer>;
  readonly serversTold: Map<string, string>;
  /** Names of slash commands, once they are known. */
  commands: ReadonlySet<string> | undefined;
  /** Prompts that may be slash commands, by op, as they are without. */
  readonly slashed: Map<string, OpOf<"turn.prompt">>;
}

/** An op that the agent answers by a `config_changed` for each of its parts, or by the fate of the servers that it names. */
interface Pending {
  op: OpOf<"session.configure">;
  left: Set<string>;
}

/** The host's side: a driven agent's lines come in, our ops go out. */
export interface HostState {
  readonly revision: Revision;
  session: string;
  /** The op that a `ready`, or an end before it, answers. */
  opener: string | undefined;
  ready: boolean;
  /** Set when it speaks a version, or says a thing, that we do not understand and must: whatever it says then is not heard. */
  refused: Fault | undefined;
  /** What the wire cannot be told at the start is told once it is ready. */
  atReady: SessionConfig;
  /** Nothing may be written before `ready`. */
  held: Op[];
  /** Errors before `ready`: the reason for the end, should it come now; a failed MCP server, should it not. */
  early: Fault[];
  /** Its revision does not end a turn after an error. */
  endsAtError: boolean;
  /** It tells when its configuration has changed. */
  tellsChanges: boolean;
  readonly pending: Pending[];
  /** Ops that a `pong` answers, oldest first. */
  readonly pings: (string | undefined)[];
  readonly servers: Map<string, ListedMcpServer>;
  /** Calls whose approval has a name of its own on the wire. */
  readonly tokens: Map<string, string>;
  prompted: boolean;
  /** Messages on the wire whose turns have not ended, by the turn's id, which is the message's; and the op that each came from. */
  readonly prompts: Map<string, string | undefined>;
  turn: string | undefined;
  readonly calls: Map<string, "requested" | "running" | "ended">;
  /** Our names of its calls, by its ids, where they differ. */
  readonly names: Map<string, string>;
  /** Calls that we denied: the wire has one word for denied and cancelled. */
  readonly denied: Set<string>;
  /** Calls that were ever asked about: the wire has no word for an answer that comes too late or to nothing. */
  readonly asked: Map<string, "open" | "settled">;
  /** Turns that have ended: what is still said of them is heard by nobody. */
  readonly past: Set<string>;
  block: { type: "text" | "thinking"; text: string } | undefined;
  interrupted: boolean;
  failed: Fault | undefined;
  readonly work: OpenWork;
}

export function agentState(revision: Revision): AgentState {
  return {
    revision,
    session: "",
    ready: false,
    early: [],
    earlyLines: [],
    left: false,
    messages: new Map(),
    calls: new Map(),
    announced: new Set(),
    config: {},
    capabilities: {},
    switched: new Set(),
    streaming: false,
    afterStream: [],
    changes: new Map(),
    prompted: false,
    servers: {},
    serversTold: new Map(),
    commands: undefined,
    slashed: new Map(),
  };
}

export function hostState(revision: Revision, work: OpenWork): HostState {
  return {
    revision,
    session: "",
    opener: undefined,
    ready: false,
    refused: undefined,
    atReady: {},
    held: [],
    early: [],
    endsAtError: false,
    tellsChanges: false,
    pending: [],
    pings: [],
    servers: new Map(),
    tokens: new Map(),
    prompted: false,
    prompts: new Map(),
    turn: undefined,
    calls: new Map(),
    names: new Map(),
    denied: new Set(),
    asked: new Map(),
    past: new Set(),
    block: undefined,
    interrupted: false,
    failed: undefined,
    work,
  };
}
