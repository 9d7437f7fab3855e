/** The differences between the revisions of this protocol, and of a protocol built on it. Everything else is shared. */
import type { GenericSchema } from "valibot";
import type { Mode } from "../../../core/config.js";
import type { Fault } from "../../../core/errors.js";
import type { Call, Event, EventOf, Usage } from "../../../core/event.js";
import type { Coverage, Out } from "../../dialect.js";
import { coverage, laterCoverage } from "../coverage.js";
import type { AgentState } from "../agent/state.js";
import type { HostState } from "../host/state.js";
import {
  Command,
  commands,
  events,
  LaterCommand,
  laterCommands,
  LaterEvent,
  laterEvents,
  WireEvent,
  type LaterEventOf,
} from "./records.js";

export interface Revision {
  readonly id: string;
  /** The version of the protocol: sent in `ready`, and compared with a driven agent's. */
  readonly version: string;
  /** The protocol's name, in words for people. */
  readonly name: string;
  readonly wire: { readonly op: GenericSchema; readonly event: GenericSchema };
  readonly coverage: Coverage;
  readonly heartbeat?: { every: number; within: number };
  /** The schemas of commands, and of a driven agent's events, by type. */
  readonly commands: Readonly<Record<string, GenericSchema<Command>>>;
  readonly events: Readonly<Record<string, GenericSchema<LaterEvent>>>;
  /** The field with the text of a message; the other name is accepted, too. */
  readonly text: "input" | "content";
  /** Each mode by its name on this wire. */
  readonly modes: Readonly<Record<"default" | "auto_edit" | "yolo", string>>;
  /** Later revisions have records that the first document lacks (`config_changed`, slash commands), without asking for them. */
  readonly isLater: boolean;
  /** Has a flag for the working folder; otherwise the agent works where it is started. */
  readonly hasWorkspaceFlag: boolean;
  /** Exits by a slash command. */
  readonly quits: boolean;
  /** Names of capabilities that are off by default. */
  readonly switches: readonly string[];
  readonly says: Says;
  readonly hears: Hears;
}

/** The lines that an agent of this revision writes differently. */
export interface Says {
  /** Capabilities beyond those that all later revisions have. */
  capabilities(state: AgentState): Record<string, unknown>;
  /** The lines before the first record of a call that needed no approval. */
  announcement(call: Call | undefined, msg_id: string): Out[];
  /** Further fields of the end of a message. */
  end(event: EventOf<"turn.ended">): Record<string, unknown>;
  progress(event: EventOf<"tool.progress">, msg_id: string, state: AgentState): Out[];
  /** Writes events of a sub-agent; undefined: only its calls that need an approval are written. */
  child(event: Event, state: AgentState): Out[] | undefined;
  /** Writes an error after which the turn goes on; undefined: like any other error. */
  passingError(fault: Fault, msg_id: string): Out[] | undefined;
  /** Writes a server that could not be added, or was lost. */
  serverFailed(name: string, reason: string): Out[];
  /** Reports servers that the host did not add. */
  allServers: boolean;
}

/** The lines that a host of this revision reads differently. */
export interface Hears {
  /** Reads events that only this protocol has; undefined for others. */
  own(rec: unknown, state: HostState): Event[] | undefined;
  end(event: LaterEventOf<"stream_end">): { finish?: string; failed?: boolean; usage?: Usage };
}

const NOTHING_MORE: Says = {
  capabilities: () => ({}),
  announcement: () => [],
  end: () => ({}),
  progress: () => [],
  child: () => undefined,
  passingError: () => undefined,
  serverFailed: (name, reason) => [serverError(`MCP server '${name}' failed: ${reason}`)],
  allServers: false,
};
const AS_WRITTEN: Hears = { own: () => undefined, end: () => ({}) };
const MODES = { default: "default", auto_edit: "auto_edit", yolo: "yolo" };

export const FIRST: Revision = {
  id: "aionrs",
  version: "0.1.0",
  name: "aionrs",
  wire: { op: Command, event: WireEvent },
  coverage,
  commands,
  events,
  text: "input",
  modes: MODES,
  isLater: false,
  hasWorkspaceFlag: true,
  quits: false,
  switches: [],
  says: NOTHING_MORE,
  hears: AS_WRITTEN,
};

export const SECOND: Revision = {
  ...FIRST,
  id: "aionrs@0.2",
  version: "0.2.0",
  wire: { op: LaterCommand, event: LaterEvent },
  coverage: laterCoverage,
  commands: laterCommands,
  events: laterEvents,
  text: "content",
  isLater: true,
  hasWorkspaceFlag: false,
  says: {
    ...NOTHING_MORE,
    capabilities: ({ capabilities: { images } }) => ({
      image_input: images === undefined ? "unknown" : images === true ? "supported" : "unsupported",
    }),
  },
};

/** The mode for a name on the wire, aliases included. */
export function modeNamed({ modes }: Revision, name: string): Mode | undefined {
  return MODE_NAMES.find((mode) => modes[mode] === name) ?? MODE_NAMES.find((mode) => mode === name);
}

export function modeName({ modes }: Revision, mode: Mode | undefined): string | undefined {
  const known = MODE_NAMES.find((name) => name === mode);
  return known === undefined ? undefined : modes[known];
}

const MODE_NAMES = ["default", "auto_edit", "yolo"] as const;

function serverError(message: string): Out {
  return { rec: { type: "error", msg_id: null, error: { code: "config_error", message, retryable: false } } };
}
