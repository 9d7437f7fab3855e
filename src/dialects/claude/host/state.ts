/** The state of the host's side that only this wire has. */
import type { Usage } from "../../../core/event.js";
import type { OpOf } from "../../../core/op.js";
import type { SideEnv } from "../../dialect.js";
import { type HostSession, hostSession } from "../../kit/stream-json/host/session.js";
import type { HostTurn } from "../../kit/stream-json/host/turns.js";

/** The running turn. */
export interface RunningTurn extends HostTurn {
  /** Usage of the present model call: `message_start` has the input, `message_delta` the output. */
  usage: Usage | undefined;
}

/** A rewind asks twice: first what would go back, which only a preview tells. `files`: the answer to that. */
export interface Rewinding {
  for: "rewind";
  op: OpOf<"session.rewind">;
  files: readonly string[] | undefined;
}

export interface HostState extends HostSession<RunningTurn, Rewinding> {
  /** The events of hook callbacks that wait for the host. */
  readonly hooks: Map<string, string>;
  /** The last result was an error. */
  isFailed: boolean;
  /** The session's present commands, sub-agents, skills and servers. */
  catalogue: Catalogue;
}

export interface Catalogue {
  commands: { name: string; description?: string; argumentHint?: string }[];
  subagents: { name: string; description?: string }[];
  skills: string[];
  mcpServers: { name: string; status: string }[];
}

export function hostState(env: SideEnv): HostState {
  return {
    ...hostSession(env, (turn) => ({ ...turn, usage: undefined })),
    hooks: new Map(),
    isFailed: false,
    catalogue: { commands: [], subagents: [], skills: [], mcpServers: [] },
  };
}
