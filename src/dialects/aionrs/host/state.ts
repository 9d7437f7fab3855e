/** The state of the host's side. */
import type { SessionConfig } from "../../../core/config.js";
import type { Fault } from "../../../core/errors.js";
import type { Event, ListedMcpServer } from "../../../core/event.js";
import type { OpOf } from "../../../core/op.js";
import { TurnReader, type KnownCall } from "../../kit/turn-reader.js";
import type { Revision } from "../wire/revision.js";

/** An op that the agent answers with a `config_changed` for each of its parts, or with the outcomes of its servers. */
interface Pending {
  op: OpOf<"session.configure">;
  left: Set<string>;
}

/** The message that the agent works on. Its id is the turn's id. */
export interface RunningTurn {
  readonly reader: TurnReader;
  /** Our ids of denied calls: the wire has one word for denied and cancelled. */
  readonly denied: Set<string>;
  /** The fault that will end the turn; the host has it already. */
  failed: Fault | undefined;
}

export interface HostState {
  readonly revision: Revision;
  session: string;
  /** The op that `ready`, or an exit before it, answers. */
  opener: string | undefined;
  isReady: boolean;
  /** Set if the agent speaks an unknown version or sends a critical unknown record. */
  refused: Fault | undefined;
  /** Settings that the command line lacks; sent after `ready`. */
  atReady: SessionConfig;
  /** Errors before `ready`: the reason if the agent exits now, else failed MCP servers. */
  early: Fault[];
  /** The agent's revision does not end a turn after an error. */
  endsAtError: boolean;
  /** The agent reports changes of its configuration. */
  tellsChanges: boolean;
  readonly pending: Pending[];
  /** Open pings, oldest first. */
  readonly pings: (string | undefined)[];
  readonly servers: Map<string, ListedMcpServer>;
  prompted: boolean;
  /** Messages on the wire whose turns have not ended, by turn id (which is the message's), with the op of each. */
  readonly prompts: Map<string, string | undefined>;
  running: RunningTurn | undefined;
  /** The turn on the wire, running or waiting, was interrupted. */
  interrupted: boolean;
  /** All calls that were ever asked about, by our ids: the wire does not report a late or useless answer. */
  readonly asked: Map<string, "open" | "settled">;
  /** The calls whose approval has a name of its own on the wire, by our ids. */
  readonly tokens: Map<string, string>;
  /** Messages whose turns have ended: their later records are dropped. */
  readonly past: Set<string>;
}

export function hostState(revision: Revision): HostState {
  return {
    revision,
    session: "",
    opener: undefined,
    isReady: false,
    refused: undefined,
    atReady: {},
    early: [],
    endsAtError: false,
    tellsChanges: false,
    pending: [],
    pings: [],
    servers: new Map(),
    prompted: false,
    prompts: new Map(),
    running: undefined,
    interrupted: false,
    asked: new Map(),
    tokens: new Map(),
    past: new Set(),
  };
}

export function startTurn(msg_id: string, state: HostState): Event[] {
  const parent = state.prompts.get(msg_id);
  // The wire tells the start of calls: `tool_running`.
  const reader = new TurnReader({ session: state.session, turn: msg_id, ...(parent !== undefined && { parent }) }, { saysStarts: true });
  state.running = { reader, denied: new Set(), failed: undefined };
  return reader.start();
}

export function runningCall({ running }: HostState, call_id: string): KnownCall | undefined {
  return running?.reader.callOf(call_id);
}

/** The address of an event: that of the running turn, or of the session. */
export function here({ session, running }: HostState): { session: string; turn?: string; parent?: string } {
  return running?.reader.address ?? { session };
}
