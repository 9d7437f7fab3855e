/** The differences between the revisions of this protocol, and a protocol that builds on it. The revisions share everything else. */
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
  /** The version of the protocol: told in `ready`, and compared with that of a driven agent. */
  readonly version: string;
  /** The protocol's name, in words for people. */
  readonly name: string;
  readonly wire: { readonly op: GenericSchema; readonly event: GenericSchema };
  readonly coverage: Coverage;
  readonly heartbeat?: { every: number; within: number };
  /** The schemas by type: of commands, and of events of a driven agent. */
  readonly commands: Readonly<Record<string, GenericSchema<Command>>>;
  readonly events: Readonly<Record<string, GenericSchema<LaterEvent>>>;
  /** The field with the words of a message; the other name is read too. */
  readonly text: "input" | "content";
  /** Each mode by its name on this wire. */
  readonly modes: Readonly<Record<"default" | "auto_edit" | "yolo", string>>;
  /** Says what the first document does not know (`config_changed`, slash commands) without being asked for it. */
  readonly isLater: boolean;
  /** Has a flag for the folder to work in; the others work where they are started. */
  readonly hasWorkspaceFlag: boolean;
  /** Leaves when it is told to by a slash command. */
  readonly quits: boolean;
  /** Names of capabilities that are off unless they are switched on. */
  readonly switches: readonly string[];
  readonly says: Says;
  readonly hears: Hears;
}

/** The lines that an agent writes in its own way. */
export interface Says {
  /** The capabilities of this revision beyond those that all later revisions tell. */
  capabilities(state: AgentState): Record<string, unknown>;
  /** The lines before the first word of a call that needed no approval. */
  announcement(call: Call | undefined, msg_id: string): Out[];
  /** Fields of the end of a message. */
  end(event: EventOf<"turn.ended">): Record<string, unknown>;
  progress(event: EventOf<"tool.progress">, msg_id: string, state: AgentState): Out[];
  /** The events of a sub-agent that are written; undefined: only its calls that must be asked for. */
  child(event: Event, state: AgentState): Out[] | undefined;
  /** An error of a turn that goes on; undefined: as any other. */
  passingError(fault: Fault, msg_id: string): Out[] | undefined;
  /** A server that could not be added, or is lost. */
  serverFailed(name: string, reason: string): Out[];
  /** Tells of servers that the host did not add. */
  allServers: boolean;
}

/** The lines that a host reads in its own way. */
export interface Hears {
  /** Events that only this protocol has; undefined: it is none of them. */
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

/** The mode that a name on the wire means, aliases included. */
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
