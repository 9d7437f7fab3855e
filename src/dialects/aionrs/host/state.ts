/** The state of our side when we drive the agent. */
import type { SessionConfig } from "../../../core/config.js";
import type { Fault } from "../../../core/errors.js";
import type { Event, ListedMcpServer } from "../../../core/event.js";
import type { OpOf } from "../../../core/op.js";
import { TurnReader, type KnownCall } from "../../kit/turn-reader.js";
import type { Revision } from "../wire/revision.js";

/** An op that the agent answers by a `config_changed` for each of its parts, or by the fate of the servers that it names. */
interface Pending {
  op: OpOf<"session.configure">;
  left: Set<string>;
}

/** The message that the agent works on. The id of the message is the turn's. */
export interface RunningTurn {
  readonly reader: TurnReader;
  /** Our ids of calls that we denied: the wire has one word for denied and cancelled. */
  readonly denied: Set<string>;
  /** Why the turn will end as failed; the host knows it already. */
  failed: Fault | undefined;
}

export interface HostState {
  readonly revision: Revision;
  session: string;
  /** The op that a `ready`, or an end before it, answers. */
  opener: string | undefined;
  isReady: boolean;
  /** Set when the agent speaks a version, or says a thing, that we do not understand and must. */
  refused: Fault | undefined;
  /** Settings that the command line cannot say: told once the agent is ready. */
  atReady: SessionConfig;
  /** Errors before `ready`: the reason for the end, should it come now; a failed MCP server, should it not. */
  early: Fault[];
  /** The agent's revision does not end a turn after an error. */
  endsAtError: boolean;
  /** The agent tells when its configuration has changed. */
  tellsChanges: boolean;
  readonly pending: Pending[];
  /** Ops that a `pong` answers, oldest first. */
  readonly pings: (string | undefined)[];
  readonly servers: Map<string, ListedMcpServer>;
  prompted: boolean;
  /** Messages on the wire whose turns have not ended, by the turn's id, which is the message's; and the op that each came from. */
  readonly prompts: Map<string, string | undefined>;
  running: RunningTurn | undefined;
  /** The turn on the wire, running or about to, was told to stop. */
  interrupted: boolean;
  /** The calls that were ever asked about, by our ids: the wire has no word for an answer that comes too late or to nothing. */
  readonly asked: Map<string, "open" | "settled">;
  /** The calls whose approval has a name of its own on the wire, by our ids. */
  readonly tokens: Map<string, string>;
  /** Messages whose turns have ended: their later records are left out. */
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
  // The wire says which calls run: `tool_running`.
  const reader = new TurnReader({ session: state.session, turn: msg_id, ...(parent !== undefined && { parent }) }, { saysStarts: true });
  state.running = { reader, denied: new Set(), failed: undefined };
  return reader.start();
}

export function runningCall({ running }: HostState, call_id: string): KnownCall | undefined {
  return running?.reader.callOf(call_id);
}

/** The address of an event: the turn's, where one runs. */
export function here({ session, running }: HostState): { session: string; turn?: string; parent?: string } {
  return running?.reader.address ?? { session };
}
