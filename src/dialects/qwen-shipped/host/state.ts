/** The state of the host's side that only this wire has. */
import type { Usage } from "../../../core/event.js";
import type { SideEnv } from "../../dialect.js";
import { type HostSession, hostSession } from "../../kit/stream-json/host/session.js";
import type { HostTurn, SentPrompt } from "../../kit/stream-json/host/turns.js";

/** The running turn. */
export interface RunningTurn extends HostTurn {
  /** Model calls of the session's own agent, counted by messages and by their starts. */
  modelCalls: { counted: number; begun: number };
  /** The turn reached its limit of model calls, and was interrupted. */
  isLimited: boolean;
  /** No message of the agent has come. */
  isSilent: boolean;
}

/** The purposes of requests that only this wire has. */
export type OwnPurpose = { for: "commands" } | { for: "continue"; prompt: SentPrompt };

export interface HostState extends HostSession<RunningTurn, OwnPurpose> {
  /** Usage of the whole process, as last reported. Undefined at the start of a stored session, whose earlier turns count by an unknown number. */
  spent: Usage | undefined;
  /** The text of the last result. */
  lastResult: string;
  /** The session's present commands, sub-agents and servers. */
  catalogue: { commands: string[]; subagents: string[]; mcpServers: string[] };
}

export function hostState(env: SideEnv): HostState {
  return {
    ...hostSession<RunningTurn, OwnPurpose>(env, (turn) => ({
      ...turn,
      modelCalls: { counted: 0, begun: 0 },
      isLimited: false,
      isSilent: true,
    })),
    spent: { input: 0, output: 0 },
    lastResult: "",
    catalogue: { commands: [], subagents: [], mcpServers: [] },
  };
}
