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
  /** Usage of the present model call: `message_start` has the input, `message_delta` the output. */
  usage: Usage | undefined;
  /** The text of an API failure, held because the result repeats it. */
  complaint: string;
}

/** The purpose of a request of ours. */
export type Purpose = { for: "initialize" } | { for: "interrupt"; op: string | undefined } | { for: "change"; change: Change };

/** One `session.configure`. It may take several requests and is answered after the last of them. */
export interface Change {
  op: OpOf<"session.configure">;
  left: number;
  fault: Fault | undefined;
}

export interface HostState {
  session: string;
  /** Undefined until the first turn if Claude Code chooses the id. */
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
  /** The events of hook callbacks that wait for the host. */
  readonly hooks: Map<string, string>;
  prompts: SentPrompt[];
  running: RunningTurn | undefined;
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
    session: "",
    sessionId: undefined,
    opener: undefined,
    isReady: false,
    refused: undefined,
    config: {},
    lost: [],
    requests: new SentRequests(env),
    questions: new AgentQuestions(),
    hooks: new Map(),
    prompts: [],
    running: undefined,
    isFailed: false,
    catalogue: { commands: [], subagents: [], skills: [], mcpServers: [] },
  };
}

export function startTurn({ turn, op }: SentPrompt, state: HostState): Event[] {
  const told = new TurnReader({ session: state.session, turn, ...(op !== undefined && { parent: op }) });
  state.running = {
    told,
    messages: new MessageReader(told),
    denied: new Set(),
    isInterrupted: false,
    usage: undefined,
    complaint: "",
  };
  return told.start();
}
