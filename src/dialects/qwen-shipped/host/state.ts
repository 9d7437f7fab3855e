/** The state of the host's side: one process, one session, the open requests of both sides. */
import type { SessionConfig } from "../../../core/config.js";
import type { Fault } from "../../../core/errors.js";
import type { Event, Usage } from "../../../core/event.js";
import type { OpOf } from "../../../core/op.js";
import type { SideEnv } from "../../dialect.js";
import { AgentQuestions } from "../../kit/stream-json/host/agent-questions.js";
import { MessageReader } from "../../kit/stream-json/host/read-messages.js";
import { SentRequests } from "../../kit/stream-json/host/sent-requests.js";
import { TurnReader } from "../../kit/turn-reader.js";

/** A prompt on the wire whose turn has not begun. */
export interface SentPrompt {
  turn: string;
  op: string | undefined;
}

/** The running turn. */
export interface RunningTurn {
  told: TurnReader;
  messages: MessageReader;
  /** Calls that our side denied. */
  denied: Set<string>;
  isInterrupted: boolean;
  /** Model calls of the session's own agent, counted by messages and by their starts. */
  modelCalls: { counted: number; begun: number };
  /** The turn reached its limit of model calls, and was interrupted. */
  isLimited: boolean;
  /** No message of the agent has come. */
  isSilent: boolean;
  /** The text of a provider's failure, held because the result repeats it. */
  complaint: string;
}

/** The purpose of a request of ours. */
export type Purpose =
  | { for: "initialize" | "commands" }
  | { for: "interrupt"; op: string | undefined }
  | { for: "continue"; prompt: SentPrompt }
  | { for: "change"; change: Change };

/** One `session.configure`. It may take several requests and is answered after the last of them. */
export interface Change {
  op: OpOf<"session.configure">;
  left: number;
  fault: Fault | undefined;
}

export interface HostState {
  session: string;
  sessionId: string | undefined;
  opener: string | undefined;
  isReady: boolean;
  /** The reason for which the session cannot begin. */
  refused: Fault | undefined;
  config: SessionConfig;
  /** Warnings about settings that the wire cannot say, emitted after `session.ready`. */
  lost: Event[];
  readonly requests: SentRequests<Purpose>;
  readonly questions: AgentQuestions;
  prompts: SentPrompt[];
  running: RunningTurn | undefined;
  /** Usage of the whole process, as last reported. Undefined at the start of a stored session, whose earlier turns count by an unknown number. */
  spent: Usage | undefined;
  /** The text of the last result. */
  lastResult: string;
  /** The session's present commands, sub-agents and servers. */
  catalogue: { commands: string[]; subagents: string[]; mcpServers: string[] };
}

export function hostState(env: SideEnv): HostState {
  return {
    session: "",
    sessionId: undefined,
    opener: undefined,
    isReady: false,
    refused: undefined,
    config: {},
    lost: [],
    requests: new SentRequests(env),
    questions: new AgentQuestions(),
    prompts: [],
    running: undefined,
    spent: { input: 0, output: 0 },
    lastResult: "",
    catalogue: { commands: [], subagents: [], mcpServers: [] },
  };
}

export function startTurn({ turn, op }: SentPrompt, state: HostState): Event[] {
  const told = new TurnReader({ session: state.session, turn, ...(op !== undefined && { parent: op }) });
  state.running = {
    told,
    messages: new MessageReader(told),
    denied: new Set(),
    isInterrupted: false,
    modelCalls: { counted: 0, begun: 0 },
    isLimited: false,
    isSilent: true,
    complaint: "",
  };
  return told.start();
}
