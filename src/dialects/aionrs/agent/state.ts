/** The state of the agent's side. */
import type { McpServer, SessionConfig } from "../../../core/config.js";
import type { Call, Event } from "../../../core/event.js";
import type { OpOf } from "../../../core/op.js";
import type { Out } from "../../dialect.js";
import type { Revision } from "../wire/revision.js";
import type { CommandOf } from "../wire/records.js";

/** A change that the host asked for and has no answer to. */
export type Change = { mode: string } | { config: CommandOf<"set_config">; waits: boolean } | { server: string };

/** The state of the agent's side: the host, the session and its turns. */
export interface AgentState {
  readonly revision: Revision;
  session: string;
  /** `ready` is out: a later failure does not end the process. */
  isReady: boolean;
  /** Events and answers that wait for `ready`. */
  readonly early: Event[];
  readonly earlyLines: Out[];
  /** The last record, with the reason for the exit, is out. */
  left: boolean;
  /** The host's names of open turns, in the order of their prompts; two may be equal. */
  readonly messages: Map<string, string>;
  readonly calls: Map<string, Call>;
  /** Calls that the host has been told. */
  readonly announced: Set<string>;
  /** The agent's last config and capabilities. */
  config: SessionConfig;
  capabilities: Readonly<Record<string, unknown>>;
  /** Capabilities that are switched on. */
  readonly switched: Set<string>;
  /** A message is being streamed. */
  streaming: boolean;
  /** Lines held until the end of the stream. */
  readonly afterStream: Out[];
  /** Changes by the op that carries each. */
  readonly changes: Map<string, Change>;
  /** A message has come: servers cannot be added any more. */
  prompted: boolean;
  /** Servers that the host added, with the outcome that it was told. */
  readonly servers: Record<string, McpServer>;
  readonly serversTold: Map<string, string>;
  /** Names of slash commands; undefined until they are known. */
  commands: ReadonlySet<string> | undefined;
  /** Prompts that may be slash commands, as plain prompts, by op. */
  readonly slashed: Map<string, OpOf<"turn.prompt">>;
}

export function agentState(revision: Revision): AgentState {
  return {
    revision,
    session: "",
    isReady: false,
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
