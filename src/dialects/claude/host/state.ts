/** The state of our side when we drive Claude Code: one process, one session, the requests of both sides. */
import type { SessionConfig } from "../../../core/config.js";
import type { Fault } from "../../../core/errors.js";
import type { Event, Usage } from "../../../core/event.js";
import type { OpOf } from "../../../core/op.js";
import type { SideEnv } from "../../dialect.js";
import { AgentQuestions } from "../../kit/stream-json/agent-questions.js";
import { MessageReader } from "../../kit/stream-json/read-messages.js";
import { SentRequests } from "../../kit/stream-json/sent-requests.js";
import { TurnReader } from "../../kit/turn-reader.js";

/** A prompt on the wire whose turn has not begun. */
export interface SentPrompt {
  turn: string;
  op: string | undefined;
}

/** The turn that runs. */
export interface RunningTurn {
  told: TurnReader;
  messages: MessageReader;
  /** Calls that we denied. */
  denied: Set<string>;
  isInterrupted: boolean;
  /** Usage of the model call that is being told: `message_start` has the input, `message_delta` the output. */
  usage: Usage | undefined;
  /** An API failure, told as an answer: held back, because the result tells it again. */
  complaint: string;
}

/** The purpose of a request of ours. */
export type Purpose = { for: "initialize" } | { for: "interrupt"; op: string | undefined } | { for: "change"; change: Change };

/** One `session.configure`, which may be several requests: it is answered when the last of them is. */
export interface Change {
  op: OpOf<"session.configure">;
  left: number;
  fault: Fault | undefined;
}

export interface HostState {
  session: string;
  /** Unknown until the first turn where Claude Code chooses it. */
  sessionId: string | undefined;
  opener: string | undefined;
  isReady: boolean;
  /** Why the session cannot begin. */
  refused: Fault | undefined;
  config: SessionConfig;
  /** Warnings about settings that the wire cannot say, told once the session is ready. */
  lost: Event[];
  readonly requests: SentRequests<Purpose>;
  readonly questions: AgentQuestions;
  /** Hook callbacks that wait for the host: the event of each. */
  readonly hooks: Map<string, string>;
  prompts: SentPrompt[];
  running: RunningTurn | undefined;
  /** The last result told an error. */
  isFailed: boolean;
  /** Commands, sub-agents, skills and servers of the session, as the agent told them last. */
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
