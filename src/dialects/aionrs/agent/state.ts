/** The state of our side when we are the agent. */
import type { McpServer, SessionConfig } from "../../../core/config.js";
import type { Call, Event } from "../../../core/event.js";
import type { OpOf } from "../../../core/op.js";
import type { Out } from "../../dialect.js";
import type { Revision } from "../wire/revision.js";
import type { CommandOf } from "../wire/records.js";

/** A change that the host asked for and has not heard of. */
export type Change = { mode: string } | { config: CommandOf<"set_config">; waits: boolean } | { server: string };

/** The agent's side: our events go out, the host's commands come in. */
export interface AgentState {
  readonly revision: Revision;
  session: string;
  /** `ready` is out: a later failure is no reason to leave. */
  isReady: boolean;
  /** Events and answers that wait for `ready`. */
  readonly early: Event[];
  readonly earlyLines: Out[];
  /** We leave, and have said why: that was the last word. */
  left: boolean;
  /** The host's name of each turn that has not ended, in the order of asking; two may carry the same name. */
  readonly messages: Map<string, string>;
  readonly calls: Map<string, Call>;
  /** Calls that the host has heard of. */
  readonly announced: Set<string>;
  /** The agent's latest word about itself. */
  config: SessionConfig;
  capabilities: Readonly<Record<string, unknown>>;
  /** Capabilities that are switched on. */
  readonly switched: Set<string>;
  /** A message streams. */
  streaming: boolean;
  /** Lines that come behind its end. */
  readonly afterStream: Out[];
  /** The changes by the op that carries each. */
  readonly changes: Map<string, Change>;
  /** There was a message: servers cannot be added any more. */
  prompted: boolean;
  /** Servers that the host added, and what it heard of each. */
  readonly servers: Record<string, McpServer>;
  readonly serversTold: Map<string, string>;
  /** Names of slash commands, once they are known. */
  commands: ReadonlySet<string> | undefined;
  /** Prompts that may be slash commands, by op, as they are without. */
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
